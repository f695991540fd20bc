// When a question of each thread ended last, or that of a prompt changed: a text that comes right after it may have been written for it.

export interface LastEnds {
  note(where: string): void;
  /**
   * Until `shown` resolves, people see it as it was: for ever if it rejects, unless the same message (`of`) is shown later. From then on, the
   * person who changed it (`by`) knows what is asked now.
   */
  until<T>(
    where: string,
    shown: Promise<T>,
    about?: { readonly by?: string | undefined; readonly of?: string },
  ): Promise<T>;
  /** Whether one ended after this time (`performance.now`), or in the three seconds before it. `by` wrote the text. */
  isJustBefore(where: string, at: number, by?: string): boolean;
}

interface End {
  at: number;
  isRefused?: boolean;
  readonly by: string | undefined;
  readonly of: string;
}

const JUST_ENDED_MS = 3_000;
const MOST_KEPT = 10_000;
const MOST_OF_ONE = 100;

export function createLastEnds(): LastEnds {
  const ends = new Map<string, readonly End[]>();

  /** The newest one of a person is enough, and all that are not shown yet. */
  function add(where: string, end: End): void {
    const others = ends.get(where)?.filter(({ at, by }) => at === Number.POSITIVE_INFINITY || by !== end.by) ?? [];
    ends.delete(where);
    ends.set(where, [...others.slice(1 - MOST_OF_ONE), end]);
    const [oldest = ''] = ends.keys();
    if (ends.size > MOST_KEPT) ends.delete(oldest);
  }

  return {
    note: (where) => add(where, { at: performance.now(), by: undefined, of: where }),
    async until(where, shown, { by, of = where } = {}) {
      const end: End = { at: Number.POSITIVE_INFINITY, by, of };
      add(where, end);
      try {
        const result = await shown;
        end.at = performance.now();
        ends.set(where, ends.get(where)?.filter((one) => !one.isRefused || one.of !== of) ?? []);
        return result;
      } catch (error) {
        end.isRefused = true;
        throw error;
      }
    },
    isJustBefore: (where, at, by) =>
      (ends.get(where) ?? []).some((end) => at - end.at < (end.by === undefined || end.by !== by ? JUST_ENDED_MS : 0)),
  };
}

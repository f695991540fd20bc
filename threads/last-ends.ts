// When a question of each thread ended last, or that of a prompt changed: a text that comes right after it may have been written for it.

export interface LastEnds {
  note(where: string): void;
  /** Until `shown` is settled, people see it as it was. From then on, the person who changed it (`by`) knows what is asked now. */
  until<T>(where: string, shown: Promise<T>, by?: string): Promise<T>;
  /** Whether one ended after this time (`performance.now`), or in the three seconds before it. `by` wrote the text. */
  isJustBefore(where: string, at: number, by?: string): boolean;
}

interface End {
  at: number;
  readonly by: string | undefined;
}

const JUST_ENDED_MS = 3_000;
const MOST_KEPT = 10_000;

export function createLastEnds(): LastEnds {
  const ends = new Map<string, readonly End[]>();

  /** The newest one of a person is enough, and all that are not shown yet. */
  function add(where: string, end: End): void {
    const others = ends.get(where)?.filter(({ at, by }) => at === Number.POSITIVE_INFINITY || by !== end.by) ?? [];
    ends.delete(where);
    ends.set(where, [...others, end]);
    const [oldest = ''] = ends.keys();
    if (ends.size > MOST_KEPT) ends.delete(oldest);
  }

  return {
    note: (where) => add(where, { at: performance.now(), by: undefined }),
    async until(where, shown, by) {
      const end: End = { at: Number.POSITIVE_INFINITY, by };
      add(where, end);
      try {
        return await shown;
      } finally {
        end.at = performance.now();
      }
    },
    isJustBefore: (where, at, by) =>
      (ends.get(where) ?? []).some((end) => at - end.at < (end.by === undefined || end.by !== by ? JUST_ENDED_MS : 0)),
  };
}

// The screen that each thread showed last, and the last keys in its pane. A key in an agent's session is only for that screen, and only
// once: see decide-keys.ts.

export interface ThreadScreen {
  readonly print: string;
  /** The message that shows it. */
  readonly message: string;
  readonly how: HowShown;
  /** The person who asked to see it, and who expects it. Undefined after a key that may open another dialog. */
  readonly askedBy: string | undefined;
  /** Since when (`performance.now`). */
  readonly at: number;
}

/**
 * `posted`: the message began with it. `edited`: a button has put it into an older message. `replied`: it has replaced “thinking …” under a
 * slash command, which is older than the screen.
 */
export type HowShown = 'posted' | 'edited' | 'replied';

/** Keys that the program may still have to take. */
export interface PressedKeys {
  /** The screen that they were for; undefined if they cannot answer or open a dialog. */
  readonly print: string | undefined;
  /** The message under which they were tapped. */
  readonly message: string | undefined;
  /** By `performance.now()`. */
  readonly at: number;
}

export interface ShownScreens {
  shown(thread: string): ThreadScreen | undefined;
  lastKeys(thread: string): PressedKeys | undefined;
  /** The message in the thread shows this screen now. */
  show(thread: string, screen: Omit<ThreadScreen, 'at'>): void;
  pressed(thread: string, keys: Omit<PressedKeys, 'at'>): void;
  /**
   * The program still shows the screen of the last keys, and may have to take them yet: the next one would reach what it shows then.
   * `pressedAt`: the mark in the pane, for keys of an earlier process. It is not known which screen they were for.
   */
  isPending(thread: string, print: string, pressedAt: number | undefined): boolean;
}

/** After this time, the keys had no effect. */
const TAKEN_WITHIN_MS = 15_000;

export function createShownScreens(): ShownScreens {
  const startedAt = Date.now();
  const screens = new Map<string, ThreadScreen>();
  const keys = new Map<string, PressedKeys>();

  /** A screen other than that of the last keys: the program has taken them. */
  function see(thread: string, print: string): PressedKeys | undefined {
    const last = keys.get(thread);
    if (last?.print === undefined || last.print === print) return last;
    const taken = { ...last, print: undefined };
    keys.set(thread, taken);
    return taken;
  }

  return {
    shown: (thread) => screens.get(thread),
    lastKeys: (thread) => keys.get(thread),
    show(thread, screen) {
      see(thread, screen.print);
      const before = screens.get(thread);
      screens.set(thread, { ...screen, at: before?.print === screen.print ? before.at : performance.now() });
    },
    pressed(thread, { print, message }) {
      screens.delete(thread);
      keys.set(thread, { print, message, at: performance.now() });
    },
    isPending(thread, print, pressedAt = 0) {
      const last = see(thread, print);
      if (last === undefined) return pressedAt < startedAt && Date.now() - pressedAt < TAKEN_WITHIN_MS;
      return last.print === print && performance.now() - last.at < TAKEN_WITHIN_MS;
    },
  };
}

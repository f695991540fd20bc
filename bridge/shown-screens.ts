// The screen that each thread showed last, and the last keys in its pane. A key in an agent's session is only for that screen, and only
// once: see decide-keys.ts.

export interface ThreadScreen {
  readonly print: string;
  /** The message that shows it. */
  readonly message: string;
  /** Whether the message was posted with it. An edited message says nothing about when it was shown. */
  readonly isPosted: boolean;
}

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
  show(thread: string, screen: ThreadScreen): void;
  pressed(thread: string, keys: Omit<PressedKeys, 'at'>): void;
  /** The program still shows the screen of the last keys, and may have to take them yet: the next one would reach what it shows then. */
  isPending(thread: string, print: string): boolean;
}

/** After this time, the keys had no effect. */
const TAKEN_WITHIN_MS = 15_000;

export function createShownScreens(): ShownScreens {
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
      screens.set(thread, screen);
    },
    pressed(thread, { print, message }) {
      screens.delete(thread);
      keys.set(thread, { print, message, at: performance.now() });
    },
    isPending(thread, print) {
      const last = see(thread, print);
      return last?.print === print && performance.now() - last.at < TAKEN_WITHIN_MS;
    },
  };
}

// Keys that a program may still have to take: it shows the screen that they were pressed for, and the next key would reach what it shows
// then, which nobody has seen.

export interface PendingKeys {
  /** Keys that may change the screen were pressed for the one with this fingerprint. */
  pressed(thread: string, print: string): void;
  /** The pane shows this screen now. If it is another one, the program has taken the keys. */
  saw(thread: string, print: string): void;
  /** Whether the last keys were pressed for the screen that the pane shows now. */
  isPending(thread: string, print: string): boolean;
}

/** After this time, the keys had no effect. */
const TAKEN_WITHIN_MS = 15_000;

export function createPendingKeys(): PendingKeys {
  const last = new Map<string, { readonly print: string; readonly at: number }>();
  const saw = (thread: string, print: string) => {
    const keys = last.get(thread);
    if (keys?.print !== print || performance.now() - keys.at >= TAKEN_WITHIN_MS) last.delete(thread);
  };
  return {
    pressed: (thread, print) => void last.set(thread, { print, at: performance.now() }),
    saw,
    isPending(thread, print) {
      saw(thread, print);
      return last.has(thread);
    },
  };
}

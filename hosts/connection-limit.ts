// Limits the calls to one host: the first call opens the connection while the others wait; afterwards at most `atOnce` calls
// run at the same time.

interface ConnectionLimit {
  /** The call must run `connected` as soon as the host has answered. 'late': the call could not start within `withinMs`. */
  pass<T>(call: (connected: () => void) => Promise<T>, withinMs?: number): Promise<T | 'late'>;
}

export function openConnectionLimit(atOnce: number, stillUp: () => boolean): ConnectionLimit {
  const waiting: (() => void)[] = [];
  let inside = 0;
  let up = false;
  let opening: Promise<void> | undefined;

  const enter = async () => {
    if (inside < atOnce) inside++;
    else await new Promise<void>((next) => waiting.push(next));
  };
  const leave = () => {
    const next = waiting.shift();
    if (next === undefined) inside--;
    else next();
  };

  return {
    async pass(call, withinMs = Number.POSITIVE_INFINITY) {
      await enter();
      let connected = false;
      let opened = () => {};
      const deadline = Date.now() + withinMs;
      try {
        while (opening !== undefined) {
          await within(opening, deadline - Date.now());
          if (Date.now() >= deadline) {
            connected = up;
            return 'late';
          }
        }
        if (!up || !stillUp()) {
          const mine = new Promise<void>((resolve) => {
            opened = resolve;
          }).then(() => {
            if (opening === mine) opening = undefined;
          });
          opening = mine;
        }
        return await call(() => {
          connected = true;
          up = true;
          opened();
        });
      } finally {
        if (!connected) up = false;
        opened();
        leave();
      }
    },
  };
}

/** Resolves with the promise, or after `ms`. */
async function within(promise: Promise<void>, ms: number): Promise<void> {
  if (ms === Number.POSITIVE_INFINITY) return promise;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, Math.max(0, ms));
  });
  await Promise.race([promise, late]);
  clearTimeout(timer);
}

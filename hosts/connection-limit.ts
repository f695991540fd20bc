// Lets calls to one host through: the first opens the connection while the others wait for it,
// then at most so many at once as one connection carries.

export interface Turnstile {
  /** The call says `connected` as soon as the host has answered it. */
  pass<T>(call: (connected: () => void) => Promise<T>): Promise<T>;
}

export function openTurnstile(atOnce: number, stillUp: () => boolean): Turnstile {
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
    async pass(call) {
      await enter();
      let connected = false;
      let opened = () => {};
      try {
        while (opening !== undefined) await opening;
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

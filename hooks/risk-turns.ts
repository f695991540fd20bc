// Decides which letters are processed at the same time. A letter whose processing may have killed an earlier process is a
// suspect. The rule: a suspect is processed only while no other letter is, so that it is to blame if the process dies again.
// All couriers of a process share the turns: the letters of every host die with it.

export type RiskTurns = ReturnType<typeof createRiskTurns>;

interface Turn {
  readonly isSuspect: boolean;
}

export function mayTakeTurn(one: Turn, taken: readonly Turn[]): boolean {
  return taken.length === 0 || !(one.isSuspect || taken.some(({ isSuspect }) => isSuspect));
}

/** In the order of the calls: so a suspect waits only for those before it, and those behind it only for its turn. */
export function createRiskTurns() {
  const taken = new Set<Turn>();
  const waiting: { readonly one: Turn; readonly go: () => void }[] = [];

  function admit(): void {
    for (let first = waiting[0]; first !== undefined && mayTakeTurn(first.one, [...taken]); first = waiting[0]) {
      waiting.shift();
      taken.add(first.one);
      first.go();
    }
  }

  return {
    /** At once if it has the turn already. */
    async take(one: Turn): Promise<void> {
      if (taken.has(one)) return;
      await new Promise<void>((go) => {
        waiting.push({ one, go });
        admit();
      });
    },
    giveBack(one: Turn): void {
      if (taken.delete(one)) admit();
    },
  };
}

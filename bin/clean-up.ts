// What has to be cleared away whatever happens, the newest first: Ctrl-C must leave everything as it was.

export interface CleanUp {
  later(act: () => Promise<unknown>): void;
  /** Does it all, each once; what fails keeps none of the others from being done. */
  now(): Promise<void>;
}

export function openCleanUp(): CleanUp {
  const acts: (() => Promise<unknown>)[] = [];
  return {
    later: (act) => void acts.push(act),
    async now() {
      for (let act = acts.pop(); act !== undefined; act = acts.pop()) await act().catch(() => {});
    },
  };
}

// Listens to several signals at once. What AbortSignal.any makes stays in memory as long as the signals do; plain listeners do not.

/** Calls `act` once when one of them is aborted, with its reason. Returns the function that stops listening. */
export function onAbort(signals: readonly AbortSignal[], act: (reason: unknown) => void): () => void {
  const stop = () => {
    for (const signal of signals) signal.removeEventListener('abort', tell);
  };
  const tell = () => {
    stop();
    act(signals.find(({ aborted }) => aborted)?.reason);
  };
  for (const signal of signals) signal.addEventListener('abort', tell);
  if (signals.some(({ aborted }) => aborted)) tell();
  return stop;
}

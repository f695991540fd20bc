// How much of a processor this process used meanwhile. On a busy machine a clock would also count the time of others.

/** Resolves with milliseconds of CPU time. */
export async function cpuMs(act: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await act();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

// Who archived a thread. Discord does not say it: it archives idle threads by itself, after the time that the thread is set
// to. When in doubt, nobody did. Pure.

interface ArchivedThread {
  readonly archivedAt: number;
  /** Undefined if it is not known. */
  readonly afterMinutes: number | undefined;
  /** When the last message was written there; undefined if it is not known. */
  readonly activeAt: number | undefined;
}

/** Discord's clock and ours, and its timer, may differ by this. */
const SLACK_MS = 5 * 60_000;

export function isArchivedByPerson({ archivedAt, afterMinutes, activeAt }: ArchivedThread): boolean {
  if (afterMinutes === undefined || activeAt === undefined) return false;
  const idleMs = archivedAt - activeAt;
  return idleMs > -SLACK_MS && idleMs < afterMinutes * 60_000 - SLACK_MS;
}

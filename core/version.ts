// The version that we report to other programs; a test keeps it equal to the one in package.json.

export const VERSION = '0.1.0';

// Decides whether other programs are new enough, from the versions that they print.

export const NODE_NEEDED: readonly number[] = [20, 19];
export const TMUX_NEEDED: readonly number[] = [3, 2];

/** Reads "v20.19.1", "tmux 3.3a" and "tmux next-3.6"; undefined without a number, as in "tmux master". */
function readVersion(text: string): readonly number[] | undefined {
  return text
    .match(/\d+(?:\.\d+)*/)?.[0]
    .split('.')
    .map(Number);
}

/** A version without a number is a build of the newest source. */
export function isAtLeast(text: string, wanted: readonly number[]): boolean {
  const version = readVersion(text);
  if (version === undefined) return true;
  for (const [at, least] of wanted.entries()) {
    const part = version[at] ?? 0;
    if (part !== least) return part > least;
  }
  return true;
}

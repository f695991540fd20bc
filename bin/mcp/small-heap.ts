// Keeps the memory of the server small: every session of an agent has one, and it is idle most of the time. V8 would let the garbage of
// hundreds of calls grow first, and load its optimising compiler for code that runs seldom.

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Before the server is loaded. */
export function useSmallHeap(): void {
  for (const flag of ['--semi-space-growth-factor=1', '--no-opt', '--expose-gc']) setFlagsFromString(flag);
}

const GROWN_BYTES = 3_000_000;
let collect: (() => void) | undefined;
let usedAfter = 0;

/** When a tool is done. */
export function collectGarbage(): void {
  if (process.memoryUsage().heapUsed < usedAfter + GROWN_BYTES) return;
  collect ??= runInNewContext('gc') as () => void;
  collect();
  usedAfter = process.memoryUsage().heapUsed;
}

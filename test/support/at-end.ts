// What a test started ends with the test; what the tests of a file share ends after the last of them.

import { afterAll, beforeAll, onTestFinished } from 'vitest';

type Clean = () => unknown;

let shared: Clean[] | undefined;

/** Runs when the test ends or, inside `shareAmongTests`, after the last test of the suite. The last one runs first. */
export function atEnd(clean: Clean): void {
  if (shared === undefined) onTestFinished(async () => void (await clean()));
  else shared.push(clean);
}

/** Starts something once for all tests of a file or of a `describe`. */
export function shareAmongTests<T>(start: () => T | Promise<T>): () => T {
  const cleans: Clean[] = [];
  let started: { readonly value: T } | undefined;
  beforeAll(async () => {
    shared = cleans;
    try {
      started = { value: await start() };
    } finally {
      shared = undefined;
    }
  });
  afterAll(async () => {
    for (const clean of cleans.toReversed()) await clean();
  });
  return () => {
    if (started === undefined) throw new Error('it starts before the first test');
    return started.value;
  };
}

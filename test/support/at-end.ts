// What a test started ends with the test; what the tests of a file share ends after the last of them.

import { afterAll, beforeAll, beforeEach, onTestFinished } from 'vitest';

type Clean = () => unknown;

let shared: Clean[] | undefined;

/** Runs when the test ends or, inside `shareAmongTests`, after the last test of the suite. The last one runs first. */
export function atEnd(clean: Clean): void {
  if (shared === undefined) onTestFinished(async () => void (await clean()));
  else shared.push(clean);
}

/** Starts something once for all tests of a file or of a `describe`. A test that is tried again gets a new one: what the failed attempt left could fail it again. */
export function shareAmongTests<T>(start: () => T | Promise<T>): () => T {
  const cleans: Clean[] = [];
  let started: { readonly value: T } | undefined;
  const begin = async () => {
    shared = cleans;
    try {
      started = { value: await start() };
    } finally {
      shared = undefined;
    }
  };
  const end = async () => {
    for (const clean of cleans.splice(0).toReversed()) await clean();
  };
  beforeAll(begin);
  beforeEach(async ({ task }) => {
    if ((task.result?.retryCount ?? 0) === 0) return;
    await end();
    await begin();
  });
  afterAll(end);
  return () => {
    if (started === undefined) throw new Error('it starts before the first test');
    return started.value;
  };
}

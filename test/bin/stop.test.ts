// The end of `threadmux up` on a signal.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { ended, startUp } from '../support/start-up.ts';
import { startCli } from './cli.ts';

const ONLY_TIMERS = fileURLToPath(new URL('../support/only-timers.mjs', import.meta.url));

it.each(['SIGINT', 'SIGTERM'] as const)('on %s, threadmux up ends without waiting for a timer', async (signal) => {
  const cli = startCli();
  writeFileSync(join(cli.root, 'config.json'), '{}', { mode: 0o600 });
  const env = { ...cli.env, THREADMUX_HOME: cli.root, NODE_OPTIONS: `--import ${ONLY_TIMERS}` };
  const { process: up } = await startUp(env);
  let said = '';
  up.stderr?.on('data', (data: Buffer) => {
    said += data;
  });
  await ended(up, signal);
  expect([said, up.exitCode]).toEqual(['', 0]);
});

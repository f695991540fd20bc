// The end of `threadmux up` on a signal.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, vi } from 'vitest';
import { openHome } from '../../home/home.ts';
import { loadThreadRecords } from '../../threads/registry.ts';
import { ended, startUp } from '../support/start-up.ts';
import { enter } from '../support/workspace.ts';
import { startCli, WAIT } from './cli.ts';

const ONLY_TIMERS = fileURLToPath(new URL('../support/only-timers.mjs', import.meta.url));

/** Its agent never reports. */
async function startHere() {
  const cli = startCli();
  const agent = join(cli.dir, 'agent');
  writeFileSync(agent, '#!/bin/sh\nexec sleep 60\n', { mode: 0o755 });
  writeFileSync(join(cli.root, 'config.json'), JSON.stringify({ agents: { claude: { command: [agent] } } }), {
    mode: 0o600,
  });
  const env = { ...cli.env, THREADMUX_HOME: cli.root, NODE_OPTIONS: `--import ${ONLY_TIMERS}` };
  const { process: up, link } = await startUp(env);
  let said = '';
  up.stderr?.on('data', (data: Buffer) => {
    said += data;
  });
  return { cli, up, link, said: () => said };
}

it.each(['SIGINT', 'SIGTERM'] as const)('on %s, threadmux up ends without waiting for a timer', async (signal) => {
  const { up, said } = await startHere();
  await ended(up, signal);
  expect([said(), up.exitCode]).toEqual(['', 0]);
});

it('does not wait for an agent that is being started and does not report', async () => {
  const { cli, up, link, said } = await startHere();
  const { channel } = JSON.parse(readFileSync(join(cli.root, 'state', 'workspace.json'), 'utf8'));
  await (await enter(link)).say(channel, '!new shop');
  const hasThread = () => loadThreadRecords(openHome(cli.root)).some(({ sessionName }) => sessionName === 'shop');
  await vi.waitFor(() => expect(hasThread()).toBe(true), WAIT);
  await ended(up);
  expect([said(), up.exitCode]).toEqual(['', 0]);
});

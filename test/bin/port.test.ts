// The port of the local workspace in config.json.

import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { ended, startUp } from '../support/start-up.ts';
import { startCli } from './cli.ts';

it('is used at each start, and 0 is another one', async () => {
  const cli = startCli();
  const portOf = async (port: number) => {
    writeFileSync(join(cli.root, 'config.json'), JSON.stringify({ port }), { mode: 0o600 });
    const { process: up, link } = await startUp({ ...cli.env, THREADMUX_HOME: cli.root }, undefined, 'configured');
    await ended(up);
    return Number(new URL(link).port);
  };
  const port = await freePort();
  expect([await portOf(port), await portOf(port)]).toEqual([port, port]);
  const other = createServer().listen(port, '127.0.0.1');
  onTestFinished(() => void other.close());
  expect([port, 7420]).not.toContain(await portOf(0));
});

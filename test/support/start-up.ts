// The whole program as a process of its own: `threadmux up`.

import { type ChildProcess, spawn } from 'node:child_process';
import { vi } from 'vitest';
import { PROGRAM } from '../bin/cli.ts';

/** Resolves with the link that it prints. */
export async function startUp(
  env: Readonly<Record<string, string>>,
  program = PROGRAM,
  port: string | 'configured' = '0',
) {
  const asked = port === 'configured' ? [] : ['--port', port];
  const up = spawn(process.execPath, [program, 'up', ...asked], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let printed = '';
  for (const stream of [up.stdout, up.stderr])
    stream.on('data', (data: Buffer) => {
      printed += data;
    });
  const find = () => {
    const link = printed.match(/http:\/\/\S+\/enter\/\S+/)?.[0];
    if (link === undefined) throw new Error(`threadmux up: ${printed}`);
    return link;
  };
  return { process: up, link: await vi.waitFor(find, { timeout: 30_000, interval: 40 }) };
}

export async function ended(child: ChildProcess, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = new Promise((resolve) => child.once('exit', resolve));
  child.kill(signal);
  const late = setTimeout(() => child.kill('SIGKILL'), 5_000);
  await exit;
  clearTimeout(late);
}

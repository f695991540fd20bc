import { spawn } from 'node:child_process';
import { expect, it, onTestFinished } from 'vitest';
import { localHost } from '../../hosts/host.ts';
import { readPaced } from '../../hosts/process.ts';

function flood() {
  const child = spawn('yes', { stdio: ['ignore', 'pipe', 'ignore'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

it('stops reading a flood until the period is over', async () => {
  const { stdout } = flood();
  let bytes = 0;
  const take = (chunk: Buffer) => {
    bytes += chunk.length;
  };
  readPaced(stdout, take, { most: 1_000_000, periodMs: 3_600_000 });
  await expect.poll(() => stdout.isPaused(), { timeout: 100_000 }).toBe(true);
  expect(bytes).toBeLessThan(1_100_000);
});

it('goes on afterwards', async () => {
  let bytes = 0;
  const take = (chunk: Buffer) => {
    bytes += chunk.length;
  };
  readPaced(flood().stdout, take, { most: 100_000, periodMs: 10 });
  await expect.poll(() => bytes, { timeout: 100_000 }).toBeGreaterThan(500_000);
});

it('lets a script that stays be read while its error output is a flood', async () => {
  const script = localHost({ name: 'here', env: process.env }).start(
    'yes >&2 & echo one; read word; echo two; kill $!',
    [],
  );
  onTestFinished(() => script.stop());
  let printed = '';
  script.stdout.on('data', (chunk: Buffer) => {
    printed += chunk;
    if (printed === 'one\n') script.stdin.write('go\n');
  });
  await expect.poll(() => printed, { timeout: 100_000 }).toBe('one\ntwo\n');
});

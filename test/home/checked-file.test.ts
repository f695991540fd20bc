// An agent can put anything at a path that we read: a named pipe that nobody writes to, a device that never ends. Neither may stop
// the process. In these tests somebody opens the pipe after a while, so that a wrong reader fails and does not hang.

import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { writeWhole } from '../../home/atomic-write.ts';
import { readBeginning } from '../../home/checked-file.ts';
import { loadConfig } from '../../home/config-file.ts';
import { localFileSource } from '../../home/file-source.ts';
import { tempFolder, tempHome } from '../support/temp-home.ts';

const OPENED_AFTER_S = 4;

function namedPipe(path: string): string {
  execFileSync('mkfifo', [path]);
  const writer = spawn('sh', ['-c', `sleep ${OPENED_AFTER_S}; exec 3<> "$0"`, path]);
  onTestFinished(() => void writer.kill());
  return path;
}

async function atOnce<T>(act: () => T | Promise<T>): Promise<T> {
  const began = performance.now();
  const result = await act();
  expect(performance.now() - began).toBeLessThan((OPENED_AFTER_S * 1_000) / 2);
  return result;
}

describe('a named pipe', () => {
  it('is not read as the beginning of a file', async () => {
    const pipe = namedPipe(join(tempFolder(), 'pipe'));
    expect(await atOnce(() => readBeginning(pipe, 100))).toBeUndefined();
  });

  it('is not opened as a transcript', async () => {
    const pipe = namedPipe(join(tempFolder(), 'transcript.jsonl'));
    expect(await atOnce(() => localFileSource.open(pipe))).toBeUndefined();
  });

  it.each(['config.json', 'token'])('in the place of %s is refused, and nobody waits for it', async (name) => {
    const home = tempHome();
    const id = '123456789012345678';
    const servers = [{ channel: id, allow: [id], tokenFile: 'token' }];
    if (name !== 'config.json') writeWhole(home.path('config.json'), JSON.stringify({ servers }));
    const pipe = namedPipe(home.path(name));
    chmodSync(pipe, 0o600);
    await atOnce(() => expect(() => loadConfig(home, {})).toThrow(`reading ${pipe}: it is not a regular file`));
  });
});

describe('the beginning of a file', () => {
  it('is all that is read of a large one, also through a link', () => {
    const folder = tempFolder();
    writeFileSync(join(folder, 'large'), 'x'.repeat(1_000_000));
    symlinkSync('large', join(folder, 'link'));
    expect(readBeginning(join(folder, 'link'), 10)).toBe('x'.repeat(10));
  });

  it('of a device, a folder or nothing is undefined', async () => {
    const folder = tempFolder();
    symlinkSync('/dev/zero', join(folder, 'zero'));
    for (const name of ['zero', '.', 'missing'])
      expect(await atOnce(() => readBeginning(join(folder, name), 100))).toBeUndefined();
  });
});

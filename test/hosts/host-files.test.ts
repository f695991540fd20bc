import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readTurn, toolAnswered } from '../../agents/claude/transcript/transcript.ts';
import { linesBackwards, waitUntilSettled } from '../../agents/claude/transcript/transcript-file.ts';
import { type HostFiles, hostFiles, localFiles } from '../../hosts/host-files.ts';
import { smallDisk } from '../support/disk.ts';
import { transcriptFixture } from '../support/hook-process.ts';
import { type SshServer, startSshServer } from '../support/ssh-server.ts';
import { tempFolder } from '../support/temp-home.ts';

const EVERY_BYTE = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
const places: readonly [string, () => Promise<{ files: HostFiles; dir: string; server?: SshServer }>][] = [
  ['here', async () => ({ files: localFiles(), dir: tempFolder() })],
  ['over ssh', overSsh],
];

async function overSsh() {
  const server = await startSshServer({ banner: 'hello\n' });
  return { files: hostFiles(server.host()), dir: server.home, server };
}

describe.each(places)('files %s', (_, start) => {
  it('are read and written byte for byte, whole and private', async () => {
    const { files, dir } = await start();
    const path = join(dir, "it's ü $(x) -n");
    for (const data of [Buffer.alloc(0), EVERY_BYTE, Buffer.from('no end'), Buffer.alloc(9_000_000, EVERY_BYTE)]) {
      await files.write(path, data);
      expect((await files.read(path, 10_000_000))?.equals(data)).toBe(true);
    }
    expect(statSync(path).mode & 0o777).toBe(0o600);
    await files.write(path, 'ünï', 0o700);
    expect([readFileSync(path, 'utf8'), statSync(path).mode & 0o777]).toEqual(['ünï', 0o700]);
    expect(readdirSync(dir)).toEqual(["it's ü $(x) -n"]);
    await expect(files.read(path, 4)).rejects.toThrow('larger than 4 bytes');
  });

  it('are missing where there is no regular file', async () => {
    const { files, dir } = await start();
    mkdirSync(join(dir, 'folder'));
    symlinkSync('nowhere', join(dir, 'link'));
    for (const name of ['folder', 'link', 'none', 'none/below'])
      expect([await files.open(join(dir, name)), await files.read(join(dir, name), 9)]).toEqual([undefined, undefined]);
  });

  it('are read in any range, and report that they were truncated or replaced', async () => {
    const { files, dir } = await start();
    const path = join(dir, 'file');
    const data = Buffer.alloc(3_000_001, 'aß€🧵');
    writeFileSync(path, data);
    const file = await files.open(path);
    expect(file?.size).toBe(data.length);
    for (const [from, length] of [
      [2_999_990, 11],
      [0, 3],
      [1_234_567, 100_000],
      [32_767, 2],
      [0, 3_000_001],
      [5, 0],
    ] as const)
      expect((await file?.read(from, length))?.equals(data.subarray(from, from + length))).toBe(true);
    appendFileSync(path, 'more');
    expect(await file?.sizeNow()).toBe(data.length + 4);
    await file?.close();
    const again = await files.open(path);
    truncateSync(path, 100);
    expect([await again?.sizeNow(), await again?.read(0, 50)]).toEqual([100, undefined]);
    await again?.close();
    const third = await files.open(path);
    writeFileSync(`${path}.new`, data);
    renameSync(`${path}.new`, path);
    expect(await third?.sizeNow()).toBe(0);
    await third?.close();
  });

  it('keep their old content when the disk is full', async () => {
    const { files } = await start();
    const disk = smallDisk();
    const path = join(disk.dir, 'file');
    await files.write(path, 'old');
    disk.fill();
    await expect(files.write(path, Buffer.alloc(5_000_000))).rejects.toThrow();
    expect([readFileSync(path, 'utf8'), readdirSync(disk.dir).sort()]).toEqual(['old', ['ballast', 'file']]);
  });

  it('return the lines of a transcript from its end, with whole characters', async () => {
    const { files, dir } = await start();
    const path = join(dir, 'lines');
    const lines = Array.from({ length: 3_000 }, (_, n) => `${n} ${'ä€🧵'.repeat(n % 90)}`);
    writeFileSync(path, `${lines.join('\n')}\nhalf`);
    const read: string[] = [];
    for await (const line of linesBackwards(path, { files, chunkBytes: 1_001 }))
      if (line.kind === 'line') read.push(line.text);
    expect(read.toReversed()).toEqual(lines);
    expect(await waitUntilSettled(path, { files, quietMs: 20, pollMs: 5, deadlineMs: 200 })).toBe(false);
    appendFileSync(path, '\n');
    expect(await waitUntilSettled(path, { files, quietMs: 20, pollMs: 5 })).toBe(true);
  });
});

describe('a transcript over ssh', () => {
  it('is read like a local one, with one exec', async () => {
    const { files, dir, server } = await overSsh();
    const path = join(dir, 'session.jsonl');
    writeFileSync(path, readFileSync(transcriptFixture()));
    const here = await readTurn(path);
    expect(here?.messages.length).toBeGreaterThan(0);
    expect(await readTurn(path, { files })).toEqual(here);
    expect(server.counts.execs).toBe(1);
    const [tool] = here?.tools ?? [];
    expect(await toolAnswered(path, tool?.id ?? '', { files })).toBe(await toolAnswered(path, tool?.id ?? ''));
  });

  it('costs the same number of execs for a 1 GB file', async () => {
    const { files, dir, server } = await overSsh();
    const path = join(dir, 'session.jsonl');
    writeFileSync(path, '');
    truncateSync(path, 1024 ** 3); // a sparse file
    const end = Buffer.concat([Buffer.from('\n'), readFileSync(transcriptFixture())]);
    writeSync(openSync(path, 'r+'), end, 0, end.length, 1024 ** 3);
    expect(await readTurn(path, { files })).toEqual(await readTurn(transcriptFixture()));
    expect(server.counts.execs).toBe(1);
  });

  it('costs nothing where its end is cached, and one exec before it or the next time', async () => {
    const { files, dir, server } = await overSsh();
    const path = join(dir, 'session.jsonl');
    const data = readFileSync(transcriptFixture());
    writeFileSync(path, data);
    const { ino, size } = statSync(path);
    const end = (from: number) => ({ id: String(ino), size, from, bytes: data.subarray(from) });
    const known = files.knowing(path, end(0));
    appendFileSync(path, '{"later": true}\n');
    expect(await readTurn(path, { files: known })).toEqual(await readTurn(transcriptFixture()));
    expect(server.counts.execs).toBe(0);
    expect((await known.open(path))?.size).toBe(size + 16);
    expect(server.counts.execs).toBe(1);
    const half = files.knowing(path, end(size - 100));
    expect((await (await half.open(path))?.read(5, size - 5))?.equals(data.subarray(5))).toBe(true);
    expect(server.counts.execs).toBe(2);
    writeFileSync(`${path}.new`, data);
    renameSync(`${path}.new`, path);
    const other = await files.knowing(path, end(size - 100)).open(path);
    expect(await other?.read(0, size)).toBeUndefined();
  });

  it('is missing when it cannot be read', async () => {
    const { files, dir } = await overSsh();
    writeFileSync(join(dir, 'x'), 'x');
    chmodSync(join(dir, 'x'), 0o600);
    expect(await readTurn(join(dir, 'none'), { files })).toBeUndefined();
    await expect(files.open('relative')).rejects.toThrow('absolute');
  });
});

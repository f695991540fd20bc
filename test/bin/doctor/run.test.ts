import { spawn } from 'node:child_process';
import { chmodSync, chownSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { patient, type TestPatient } from './patient.ts';

const PROGRAM = fileURLToPath(new URL('../../../dist/bin/threadmux.js', import.meta.url));
const NOBODY = 65_534;

/** As a process of its own; `before` is what the shell does first. */
function run(
  { env }: TestPatient,
  flags: readonly string[],
  more: { before?: string; uid?: number } = {},
): Promise<{ status: number | null; said: string }> {
  const script = `${more.before ?? ':'}; exec "$@"`;
  const words = ['-c', script, 'sh', process.execPath, PROGRAM, 'doctor', ...flags];
  const child = spawn('sh', words, { env, ...(more.uid ? { uid: more.uid, gid: more.uid } : {}) });
  const said: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => said.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => said.push(chunk));
  return new Promise((resolve) => {
    child.on('close', (status) => resolve({ status, said: Buffer.concat(said).toString() }));
  });
}

describe('threadmux doctor', () => {
  it('ends with 0 where nothing is broken, and says what could be better', async () => {
    const well = await patient();
    const { status, said } = await run(well, []);
    expect({ status, said }).toMatchObject({ status: 0 });
    expect(said).toMatch(/^✓ Node\.js v\d+/);
    expect(said).toMatch(/^! threadmux is not running: messages wait\.\n {4}Start it with/m);
    expect(said).toMatch(/Found \d warnings?\.\n$/);
  });

  it('ends with 1 where something is broken, with the fault and the remedy', async () => {
    const ill = await patient();
    chmodSync(ill.config, 0o644);
    const { status, said } = await run(ill, []);
    expect({ status, said }).toMatchObject({ status: 1 });
    expect(said).toMatch(/^✗ .*can be read by others.*\n {4}Run: chmod 600 /m);
  });

  it('tells programs the same as JSON', async () => {
    const ill = await patient();
    ill.configure(({ servers }) => Object.assign(servers[0] ?? {}, { allow: [] }));
    const { status, said } = await run(ill, ['--json']);
    expect(status).toBe(1);
    expect(JSON.parse(said)).toMatchObject({
      ok: false,
      findings: expect.arrayContaining([
        expect.objectContaining({ part: 'config', level: 'fail', remedy: expect.any(String) }),
      ]),
    });
    expect(said).not.toContain(ill.workspace.token);
  });

  it('finds a full disk', async () => {
    const ill = await patient();
    // No file may grow, as on a disk without room.
    const { status, said } = await run(ill, [], { before: 'trap "" XFSZ; ulimit -f 0' });
    expect(status).toBe(1);
    expect(said).toMatch(/^✗ Cannot write to .*: .*the shell limits the size of files.*\n {4}Raise the limit/m);
  });

  it('finds a home that cannot be written', async () => {
    const ill = await patient();
    rmSync(ill.config);
    chmodSync(ill.root, 0o500);
    const isRoot = process.getuid?.() === 0;
    if (isRoot) {
      chownSync(ill.root, NOBODY, NOBODY);
      chmodSync(dirname(ill.env.HOME ?? ''), 0o755);
    }
    const { status, said } = await run(ill, [], isRoot ? { uid: NOBODY } : {});
    chmodSync(ill.root, 0o700);
    expect(status).toBe(1);
    expect(said).toMatch(/^✗ Cannot write to .*: permission denied\.\n {4}Check the owner/m);
  });

  it('finds a home that belongs to somebody else', async () => {
    const ill = await patient();
    if (process.getuid?.() === 0) chownSync(ill.root, NOBODY, NOBODY);
    else ill.env.THREADMUX_HOME = '/';
    const { status, said } = await run(ill, []);
    expect(status).toBe(1);
    expect(said).toMatch(/^✗ .* is not a folder, .*\n {4}Move it away/m);
  });
});

import { spawn } from 'node:child_process';
import { chmodSync, chownSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { correctSetup, type DoctorSetup } from './doctor-setup.ts';

const PROGRAM = fileURLToPath(new URL('../../../dist/bin/threadmux.js', import.meta.url));
const NOBODY = 65_534;

/** Runs doctor in its own process; `before` is what the shell does first. */
function run(
  { env }: DoctorSetup,
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
  it('exits with 0 where nothing is broken, and suggests improvements', async () => {
    const well = await correctSetup();
    const { status, said } = await run(well, []);
    expect({ status, said }).toMatchObject({ status: 0 });
    expect(said).toMatch(/^✓ Node\.js v\d+/);
    expect(said).toMatch(/^! threadmux is not running: messages wait\.\n {4}Start it with/m);
    expect(said).toMatch(/Found \d warnings?\.\n$/);
  });

  it('exits with 1 where something is broken, with the problem and the fix', async () => {
    const ill = await correctSetup();
    chmodSync(ill.config, 0o644);
    const { status, said } = await run(ill, []);
    expect({ status, said }).toMatchObject({ status: 1 });
    expect(said).toMatch(/^✗ .*can be read by others.*\n {4}Run: chmod 600 /m);
  });

  it('prints the same as JSON', async () => {
    const ill = await correctSetup();
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
    const ill = await correctSetup();
    // No file may grow, like on a full disk.
    const { status, said } = await run(ill, [], { before: 'trap "" XFSZ; ulimit -f 0' });
    expect(status).toBe(1);
    expect(said).toMatch(/^✗ Cannot write to .*: .*the shell limits the size of files.*\n {4}Raise the limit/m);
  });

  it('finds a home that is not writable', async () => {
    const ill = await correctSetup();
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

  it('finds a home that belongs to another user', async () => {
    const ill = await correctSetup();
    if (process.getuid?.() === 0) chownSync(ill.root, NOBODY, NOBODY);
    else ill.env.THREADMUX_HOME = '/';
    const { status, said } = await run(ill, []);
    expect(status).toBe(1);
    expect(said).toMatch(/^✗ .* is not a folder, .*\n {4}Move it away/m);
  });
});

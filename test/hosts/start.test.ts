import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { localHost, type StartedScript } from '../../hosts/host.ts';
import { loginShells, startSshServer } from '../support/ssh-server.ts';

const ECHO = 'printf "[%s]" "$@"; while read -r line; do echo "got $line"; done; echo bye';

/** All output so far, growing. */
function printed(started: StartedScript): { text: string } {
  const all = { text: '' };
  started.stdout.on('data', (chunk: Buffer) => {
    all.text += chunk.toString('latin1');
  });
  return all;
}

async function talk(started: StartedScript): Promise<void> {
  const said = printed(started);
  started.stdin.write('one\n');
  await vi.waitFor(() => expect(said.text).toBe("[it's][]got one\n"), { timeout: 10_000 });
  started.stdin.end('two\n');
  await started.ended;
  expect(said.text).toBe("[it's][]got one\ngot two\nbye\n");
}

/** The processes whose command line contains this word. */
function running(word: string): number {
  const all = execFileSync('ps', ['-A', '-o', 'args='], { encoding: 'utf8' }).split('\n');
  return all.filter((line) => line.includes(word) && !line.startsWith('ps ')).length;
}

describe('a long-running script', () => {
  it('runs on this machine', async () => {
    await talk(localHost({ name: 'here', env: process.env }).start(ECHO, ["it's", '']));
  });

  it.each([...loginShells(), '/bin/busybox sh'])(
    'runs over ssh under %s, after any greeting and with all of its input',
    async (shell) => {
      const server = await startSshServer({ shell, banner: 'Authorised use only\n' });
      const noise = 'head -c 300000 /dev/zero | tr "\\0" x; echo; read -r -t 1 x; echo hello >&2\n';
      mkdirSync(join(server.home, '.config/fish'), { recursive: true });
      for (const file of ['.bashrc', '.zshenv']) writeFileSync(join(server.home, file), noise);
      writeFileSync(join(server.home, '.config/fish/config.fish'), 'echo welcome\n');
      await talk(server.host().start(ECHO, ["it's", '']));
    },
  );

  it('passes every byte', async () => {
    const server = await startSshServer();
    const started = server.host().start('cat', []);
    const said = printed(started);
    const bytes = Buffer.from(Array.from({ length: 300_000 }, (_, at) => (at * 7) % 256));
    started.stdin.end(bytes);
    await started.ended;
    expect(Buffer.from(said.text, 'latin1').equals(bytes)).toBe(true);
  });

  it('ends on the host too when it is stopped', async () => {
    const server = await startSshServer();
    const host = server.host();
    const started = host.start('echo up; while read -r line; do :; done', ['stopword-1']);
    const said = printed(started);
    await vi.waitFor(() => expect(said.text).toBe('up\n'), { timeout: 10_000 });
    expect(running('stopword-1')).toBeGreaterThan(1);
    started.stop();
    expect(await started.ended).toContain('it was cancelled');
    await vi.waitFor(() => expect(running('stopword-1')).toBe(0), { timeout: 5_000 });
    expect(await host.sh('echo still', [])).toBe('still\n');
  });

  it('shares the connection, and leaves room for others', async () => {
    const server = await startSshServer();
    const host = server.host();
    const started = [1, 2].map(() => host.start('echo up; cat', []));
    const said = started.map(printed);
    await vi.waitFor(() => expect(said.map(({ text }) => text)).toEqual(['up\n', 'up\n']), { timeout: 10_000 });
    await Promise.all(Array.from({ length: 20 }, () => host.sh('sleep 0.05', [])));
    expect(server.counts).toMatchObject({ connections: 1 });
    expect(server.counts.sessionsAtOnce).toBeLessThanOrEqual(10);
    for (const each of started) each.stop();
  });

  it('says why it did not start, and starts when the host is back', async () => {
    const server = await startSshServer();
    const host = server.host({ timeoutMs: 3_000 });
    await server.stop();
    expect(await host.start('cat', []).ended).toMatch(/^threadmux could not keep a script running on far: .*refused/);
    await server.start();
    await talk(host.start(ECHO, ["it's", '']));
    server.faults.silent = true;
    server.drop();
    const waiting = server.host({ timeoutMs: 800 }).start('cat', []);
    expect(await waiting.ended).toContain('no answer in time');
  });

  it('says that the connection was lost', async () => {
    const server = await startSshServer();
    const started = server.host().start('echo up; cat', []);
    const said = printed(started);
    await vi.waitFor(() => expect(said.text).toBe('up\n'), { timeout: 10_000 });
    server.drop();
    expect(await started.ended).toContain('the connection was lost');
    started.stdin.write('too late');
  });
});

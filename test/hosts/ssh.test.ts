import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { loginShells, startSshServer } from '../support/ssh-server.ts';

describe.each(loginShells())('a host whose login shell is %s', (shell) => {
  it('runs a script with any arguments and any input', async () => {
    const server = await startSshServer({ shell });
    const args = [
      '',
      ' ',
      "'",
      '\\',
      "\\'",
      '$(touch x)',
      '`id`',
      '!!',
      '-n',
      '*',
      '~',
      'ü👍',
      'a\nb',
      '=ls',
      ';',
      '%self',
      '(echo x)',
      '\\\\',
      "'\\''",
      '{a,b}',
      '#c',
      '&',
    ];
    const said = await server.host().sh('printf "<%s>" "$@"; cat', args, { input: "in\0put ' $x" });
    expect(said).toBe(`${args.map((arg) => `<${arg}>`).join('')}in\0put ' $x`);
  });

  it('is not confused by the output of its start-up files', async () => {
    const server = await startSshServer({ shell });
    const noise = 'echo "welcome back"; echo "Permission denied (publickey)." >&2\n';
    for (const file of ['.bashrc', '.zshenv', '.config/fish/config.fish']) {
      spawnSync('mkdir', ['-p', join(server.home, '.config/fish')]);
      writeFileSync(join(server.home, file), noise);
    }
    expect(await server.host().sh('echo ours', [])).toBe('ours\n');
    await expect(server.host().sh('echo bad >&2; exit 3', [], { doing: 'try' })).rejects.toMatchObject({
      code: 'tmux_failed',
      message: 'threadmux could not try on far: `bad`',
    });
  });
});

describe('a host that answers too late', () => {
  it('does not answer the next call with it', async () => {
    const server = await startSshServer();
    const host = server.host();
    expect(await host.sh('echo before', [])).toBe('before\n');
    await expect(host.sh('sleep 2; echo late', [], { timeoutMs: 500 })).rejects.toMatchObject({
      code: 'host_unreachable',
    });
    expect(await host.sh('sleep 2; echo next', [])).toBe('next\n'); // the late one comes meanwhile
  });

  it('because nothing reached it for a while, does not either', async () => {
    const server = await startSshServer();
    const host = server.host();
    expect(await host.sh('echo before', [])).toBe('before\n');
    server.faults.frozen = true;
    const lost = [1, 2, 3].map((n) => host.sh('echo "$1"', [`lost ${n}`], { timeoutMs: 700 }));
    for (const one of await Promise.allSettled(lost)) expect(one.status).toBe('rejected');
    server.faults.frozen = false; // what was held back arrives now
    const calls = Array.from({ length: 12 }, (_, n) => host.sh('echo "$1"', [`next ${n}`]));
    expect(await Promise.all(calls)).toEqual(calls.map((_, n) => `next ${n}\n`));
  });

  it('refuses a further call in its time, and the connection of the others stays', async () => {
    const server = await startSshServer();
    const host = server.host();
    const go = join(server.home, 'go');
    const calls = Array.from({ length: 8 }, () => host.sh('until [ -e "$1" ]; do sleep 0.1; done; echo done', [go]));
    await vi.waitFor(() => expect(server.counts.sessionsAtOnce).toBe(8), { timeout: 10_000 });
    await expect(host.sh('echo late', [], { timeoutMs: 300 })).rejects.toMatchObject({ code: 'host_unreachable' });
    writeFileSync(go, '');
    expect(await Promise.all(calls)).toEqual(calls.map(() => 'done\n'));
    expect(await host.sh('echo next', [])).toBe('next\n');
    expect(server.counts.connections).toBe(1);
  });
});

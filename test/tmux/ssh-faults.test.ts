import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { sshHost } from '../../hosts/ssh.ts';
import { listSessions } from '../../tmux/sessions.ts';
import { tmuxOn } from '../../tmux/tmux.ts';
import { startSshServer } from '../support/ssh-server.ts';
import { tempFolder } from '../support/temp-home.ts';
import { startTmux } from '../support/tmux-server.ts';

describe('a host over ssh', () => {
  it('carries ten sessions at once over one connection', async () => {
    const server = await startSshServer();
    const host = server.host();
    const go = join(tempFolder(), 'go');
    const script = 'until [ -e "$1" ]; do sleep 0.05; done; echo "$2"';
    const calls = Array.from({ length: 10 }, (_, i) => host.sh(script, [go, `${i}`]));
    await vi.waitFor(() => expect(server.counts.sessionsAtOnce).toBe(8));
    writeFileSync(go, '');
    expect((await Promise.all(calls)).join('')).toBe('0\n1\n2\n3\n4\n5\n6\n7\n8\n9\n');
    expect(server.counts).toMatchObject({ connections: 1, execs: 10, sessionsAtOnce: 8 });
  });

  it('still answers everything when the server allows fewer sessions than usual', async () => {
    const server = await startSshServer({ maxSessions: 2 });
    const host = server.host();
    const calls = Array.from({ length: 6 }, (_, i) => host.sh('sleep 0.1; echo "$1"', [`${i}`]));
    expect((await Promise.all(calls)).join('')).toBe('0\n1\n2\n3\n4\n5\n');
  });

  it('ends its connection when it is closed', async () => {
    const server = await startSshServer();
    const host = server.host();
    await host.sh('true', []);
    expect(masters(server.controlDir)).toHaveLength(1);
    await host.close();
    await vi.waitFor(() => expect(masters(server.controlDir)).toEqual([]));
    expect(await host.sh('echo again', [])).toBe('again\n');
  });

  it('connects again when its connection was killed', async () => {
    const server = await startSshServer();
    const host = server.host();
    await host.sh('true', []);
    for (const pid of masters(server.controlDir)) process.kill(pid, 'SIGKILL');
    expect(await host.sh('echo again', [])).toBe('again\n');
    expect(server.counts.connections).toBe(2);
  });

  it('is reported as down, and works when it is up', async () => {
    const server = await startSshServer();
    await server.stop();
    const host = server.host();
    await expect(host.sh('true', [], { doing: 'look' })).rejects.toMatchObject({
      code: 'host_unreachable',
      message: expect.stringMatching(/could not look on far: .*Connection refused/),
      hint: expect.stringContaining('ssh far true'),
    });
    await server.start();
    expect(await host.sh('echo up', [])).toBe('up\n');
  });

  it('is reported as disconnected when the connection is lost in between, not as a success', async () => {
    const server = await startSshServer();
    const host = server.host();
    await host.sh('true', []);
    const call = host.sh('echo first; touch begun; while [ -e begun ]; do sleep 0.2; done', [], { timeoutMs: 60_000 });
    const failed = expect(call).rejects.toMatchObject({
      code: 'host_unreachable',
      message: expect.stringContaining('the connection was lost'),
    });
    await vi.waitFor(() => expect(existsSync(join(server.home, 'begun'))).toBe(true));
    await host.sh('true', []); // over the same connection: what came before has arrived
    server.drop();
    await failed;
    expect(await host.sh('echo again', [])).toBe('again\n');
  });

  it('is given up if it accepts connections and never answers', async () => {
    const server = await startSshServer();
    server.faults.silent = true;
    const host = server.host({ connectTimeoutSeconds: 1 });
    await expect(host.sh('true', [])).rejects.toMatchObject({ code: 'host_unreachable' });
  });

  it('is given up when its connection has frozen, and is back with the network', async () => {
    const server = await startSshServer();
    const host = server.host({ timeoutMs: 1_500, connectTimeoutSeconds: 1 });
    await host.sh('true', []);
    server.faults.frozen = true;
    await expect(host.sh('true', [])).rejects.toMatchObject({
      code: 'host_unreachable',
      message: expect.stringContaining('no answer in time'),
    });
    server.faults.frozen = false;
    server.drop();
    expect(await host.sh('echo back', [])).toBe('back\n');
  });

  it('is refused if its key has changed, with the next step', async () => {
    const server = await startSshServer();
    const host = server.host();
    await host.sh('true', []);
    await host.close();
    server.changeHostKey();
    await expect(host.sh('true', [])).rejects.toMatchObject({
      code: 'host_refused',
      message: expect.stringContaining('HAS CHANGED'),
      hint: expect.stringContaining('ssh-keygen -R'),
    });
  });

  it('is refused if its key is unknown and the user wants to be asked', async () => {
    const server = await startSshServer();
    spawnSync('sed', ['-i.bak', 's/accept-new/ask/', server.configFile]);
    await expect(server.host().sh('true', [])).rejects.toMatchObject({
      code: 'host_refused',
      hint: expect.stringContaining('once by hand'),
    });
  });

  it('fails where a password would be asked for, and does not ask', async () => {
    const server = await startSshServer();
    server.faults.passwordOnly = true;
    await expect(server.host().sh('true', [])).rejects.toMatchObject({
      code: 'host_refused',
      hint: expect.stringContaining('ssh-copy-id far'),
    });
  });

  it('is reported if its name cannot be resolved', async () => {
    const server = await startSshServer();
    const host = server.host({ ssh: 'no-such-host.invalid' });
    await expect(host.sh('true', [])).rejects.toMatchObject({
      code: 'host_unreachable',
      message: expect.stringContaining('Could not resolve'),
    });
  });

  it('is not confused by a banner or by a slow link', async () => {
    const server = await startSshServer({ banner: 'Permission denied (publickey). Go away!\n' });
    server.faults.latencyMs = 60;
    const host = server.host();
    expect(await host.sh('echo fine', [])).toBe('fine\n');
    await server.stop();
    await expect(host.sh('true', [])).rejects.toMatchObject({ code: 'host_unreachable' });
  });

  it('tells an exit status of 255 from a lost connection', async () => {
    const server = await startSshServer();
    await expect(server.host().sh('exit 255', [])).rejects.toMatchObject({ code: 'tmux_failed' });
  });

  it('is reported if it has no shell to run a command', async () => {
    const server = await startSshServer({ shell: '/bin/false' });
    await expect(server.host().sh('true', [])).rejects.toMatchObject({ code: 'host_refused' });
  });

  it('finds tmux outside the PATH of a command over ssh', async () => {
    const local = startTmux();
    local.call('new-session', '-d', '-s', 'web', 'cat');
    const bin = join(local.dir, 'bin'); // enough to find `sh`, and nothing else
    mkdirSync(bin);
    symlinkSync('/bin/sh', join(bin, 'sh'));
    const bare = await startSshServer({ path: bin });
    expect(await listSessions(tmuxOn(bare.host(), local.socket))).toMatchObject([{ name: 'web' }]);
  });

  it('is reported if tmux is not installed, and accepts a path to it', async () => {
    const server = await startSshServer();
    const missing = server.host({ tmux: '/opt/none/tmux' });
    await expect(listSessions(tmuxOn(missing, '/none'))).rejects.toMatchObject({
      code: 'tmux_not_installed',
      message: expect.stringContaining('on far'),
      hint: expect.stringContaining('config.json'),
    });
    const fake = join(server.home, 'my tmux');
    writeFileSync(fake, '#!/bin/sh\necho "$@"\n');
    chmodSync(fake, 0o755);
    const given = tmuxOn(server.host({ tmux: fake }), '/a b');
    expect(await given.run(['x', 'y;'])).toBe('-u -S /a b x y\\;\n');
  });

  it.each(['-oProxyCommand=touch x', 'a b', 'a;b', '$(x)', '', '-', 'a\nb'])(
    'is refused by its name %j',
    async (ssh) => {
      expect(() => sshHost({ name: 'x', ssh, controlDir: '/tmp', env: {} })).toThrow(/not a valid host/);
    },
  );

  it('is refused if the home has too long a path for a control socket', () => {
    const controlDir = `/tmp/${'long/'.repeat(20)}`;
    expect(() => sshHost({ name: 'x', ssh: 'far', controlDir, env: {} })).toThrow(/path that ssh cannot use/);
  });
});

function masters(controlDir: string): number[] {
  const listing = execFileSync('ps', ['-eo', 'pid=,args='], { encoding: 'utf8' });
  return listing
    .split('\n')
    .filter((line) => line.includes(controlDir) && line.includes('[mux]'))
    .map((line) => Number.parseInt(line, 10));
}

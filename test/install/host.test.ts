// install --host: a machine with nothing but tmux and Node.js, reached by the real ssh client.

import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { writeWhole } from '../../home/files.ts';
import { startSshServer } from '../support/ssh-server.ts';
import { tempHome } from '../support/temp-home.ts';

const PROGRAM = fileURLToPath(new URL('../../dist/bin/threadmux.js', import.meta.url));
const ID = '123456789012345678';

async function machine(servers: readonly object[]) {
  const remote = await startSshServer({ shell: 'bash', path: process.env.PATH ?? '' });
  const home = tempHome();
  writeWhole(
    home.path('config.json'),
    JSON.stringify({ host: 'laptop', hosts: { mini: { ssh: 'far' } }, servers }),
  );
  const run = async (...args: readonly string[]) => {
    const env = {
      PATH: process.env.PATH,
      HOME: home.root,
      THREADMUX_HOME: home.root,
      THREADMUX_SSH_CONFIG: remote.configFile,
    };
    const child = spawn(process.execPath, [PROGRAM, ...args], {
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const [stdout, stderr, code] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      new Promise<number | null>((resolve) => child.on('close', resolve)),
    ]);
    return { code, said: `${stdout}${stderr}` };
  };
  return { remote, home, run };
}

const server = {
  name: 'work',
  api: 'http://127.0.0.1:9/api/v10',
  token: 'very-secret-token',
  channel: ID,
  allow: [ID],
};

describe('install --host', () => {
  it('brings program, configuration and hooks there, and takes everything away again', {
    timeout: 90_000,
  }, async () => {
    const { remote, run } = await machine([server]);
    const before = readdirSync(remote.home);
    const installed = await run('install', '--host', 'mini');
    expect(installed, installed.said).toMatchObject({ code: 0 });
    expect(installed.said).not.toContain('very-secret-token');
    const there = join(remote.home, '.threadmux');
    expect(existsSync(join(there, 'app/dist/hooks/drop'))).toBe(true);
    const config = join(there, 'config.json');
    expect(JSON.parse(readFileSync(config, 'utf8'))).toMatchObject({
      host: 'mini',
      defaultHost: 'laptop',
      servers: [{ token: 'very-secret-token' }],
    });
    expect(statSync(config).mode & 0o777).toBe(0o600);
    const settings = readFileSync(join(remote.home, '.claude/settings.json'), 'utf8');
    expect(settings).toContain(`${there}/app/dist/hooks/drop`);

    const gone = await run('uninstall', '--host', 'mini', '--purge');
    expect(gone, gone.said).toMatchObject({ code: 0 });
    expect(readdirSync(remote.home).sort()).toEqual(before.sort());
  });

  it('refuses the local workspace, which no other machine can reach', async () => {
    const { run } = await machine([]);
    expect(await run('install', '--host', 'mini')).toMatchObject({
      code: 78,
      said: expect.stringContaining('from this machine only'),
    });
  });

  it('says that a host is not configured, or is this machine', async () => {
    const { run } = await machine([server]);
    expect((await run('install', '--host', 'mars')).said).toContain('there is no host "mars"');
    expect((await run('install', '--host', 'laptop')).said).toContain('laptop is this machine');
  });
});

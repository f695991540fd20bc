import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { basename, dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { systemdUnit } from '../../../bin/commands/service.ts';
import { servicePath } from '../../../bin/commands/service-environment.ts';
import type { Finding } from '../../../bin/doctor/finding.ts';
import { holderOf } from '../../../home/lock.ts';
import { binWith } from '../cli.ts';
import { correctSetup, fault, troubles } from './doctor-setup.ts';

/** threadmux does not run in these homes, and doctor says so. */
function others(findings: readonly Finding[]): readonly Finding[] {
  return troubles(findings).filter(({ part }) => part !== 'bridge');
}

/** A process that holds a lock, like a bridge or a courier, and does nothing else. */
async function holding(lock: string): Promise<ChildProcess> {
  mkdirSync(dirname(lock), { recursive: true, mode: 0o700 });
  const module = join(import.meta.dirname, '../../../dist', 'home', 'lock.js');
  const code = `import(${JSON.stringify(module)}).then(({ tryLock }) => { tryLock(${JSON.stringify(lock)}); setInterval(() => {}, 1000); })`;
  const child = spawn(process.execPath, ['-e', code], { stdio: 'ignore' });
  onTestFinished(() => void child.kill('SIGKILL'));
  await vi.waitFor(() => {
    expect(holderOf(lock)).toBe(child.pid);
    // Taking it removes its temporary file last.
    expect(readdirSync(dirname(lock)).filter((name) => name.startsWith(`${basename(lock)}.`))).toEqual([]);
  });
  return child;
}

/** An address without a listener. */
async function deadServer(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return `http://127.0.0.1:${port}/api/v10`;
}

describe('doctor with a correct set-up', () => {
  it('reports nothing, and changes nothing', async () => {
    const well = await correctSetup();
    await well.install();
    await holding(join(well.root, 'state', 'bridge.lock'));
    const list = () => readdirSync(well.env.HOME ?? '', { recursive: true }).sort();
    const before = list();
    const findings = await well.examine();
    expect(list()).toEqual(before);
    expect(troubles(findings)).toEqual([]);
    expect(findings.map(({ part }) => part)).toEqual(
      expect.arrayContaining(['node', 'tmux', 'home', 'config', 'bridge', 'hooks', 'token', 'clock']),
    );
  });

  it('reports that nothing is set up on a new machine, and creates no folder', async () => {
    const fresh = await correctSetup();
    rmSync(fresh.root, { recursive: true });
    const findings = await fresh.examine();
    expect(findings).toContainEqual(fault('home', 'not set up yet', 'threadmux init', 'warn'));
    expect(findings.filter(({ level }) => level === 'fail')).toEqual([]);
    expect(() => readFileSync(fresh.root)).toThrow(/ENOENT/);
  });
});

describe('doctor, checking the machine,', () => {
  it('finds a Node.js that is too old', async () => {
    const ill = await correctSetup();
    expect(await ill.examine({ nodeVersion: 'v18.20.4' })).toContainEqual(
      fault('node', 'v18.20.4 .* too old', 'Install Node.js 20.19 or newer'),
    );
  });

  it('finds a tmux that is too old', async () => {
    const ill = await correctSetup();
    const tmux = join(ill.env.PATH?.split(':')[0] ?? '', 'tmux');
    writeFileSync(tmux, '#!/bin/sh\necho tmux 2.9a\n', { mode: 0o755 });
    expect(await ill.examine()).toContainEqual(fault('tmux', 'tmux 2.9a .* too old', 'Install tmux 3.2 or newer'));
  });

  it('finds a tmux server that does not answer', async () => {
    const ill = await correctSetup();
    const tmux = join(ill.env.PATH?.split(':')[0] ?? '', 'tmux');
    writeFileSync(tmux, '#!/bin/sh\n[ "$1" = -V ] && echo tmux 3.4 || sleep 60\n', { mode: 0o755 });
    expect(await ill.examine()).toContainEqual(
      fault('tmux', 'could not look around .* no answer in time', 'tmux list-sessions'),
    );
  });

  it('finds that the agent is not installed', async () => {
    const ill = await correctSetup();
    ill.configure((config) => Object.assign(config, { agents: { claude: { command: ['no-such-agent'] } } }));
    expect(await ill.examine()).toContainEqual(
      fault('agent', '`no-such-agent` is not installed', 'Install it', 'warn'),
    );
  });

  it('finds each agent that a project or a session names and that is not installed', async () => {
    const ill = await correctSetup();
    const bin = binWith(ill.env.HOME ?? '', 'my-opencode', 'exit 0');
    ill.configure((config) => {
      const agents = { opencode: { command: [join(bin, 'my-opencode')] }, gemini: { command: ['no-gemini'] } };
      const projects = [
        { path: '/srv/a', channel: '1000000000000000001', agent: 'opencode', defaults: { agent: 'gemini' } },
        {
          path: '/srv/b',
          channel: '1000000000000000001',
          host: 'alias',
          sessions: [{ name: 'b', start: 'manual', agent: 'pi' }],
        },
        { path: '/srv/c', channel: '1000000000000000001', host: 'far', agent: 'codex' },
      ];
      Object.assign(config, { agents, host: 'laptop', hosts: { far: { ssh: 'far' }, alias: 'local' } });
      Object.assign(config.servers[0] ?? {}, { projects });
    });
    ill.env.PATH = `${ill.env.PATH?.split(':')[0]}:/usr/bin:/bin`;
    const found = await ill.examine({ host: 'laptop' });
    const missing = (agent: string) => fault('agent', `\`${agent}\` is not installed`, 'Install it', 'warn');
    expect(found.filter(({ part }) => part === 'agent')).toEqual([missing('no-gemini'), missing('pi')]);
  });

  it('finds that the service does not find the agent, although this terminal does', async () => {
    const ill = await correctSetup();
    const { HOME = '', PATH = '' } = ill.env;
    const bin = binWith(HOME, 'my-claude', 'exit 0');
    Object.assign(ill.env, { PATH: `${bin}:${PATH}`, XDG_CONFIG_HOME: join(HOME, 'xdg') });
    ill.configure((config) => Object.assign(config, { agents: { claude: { command: ['my-claude'] } } }));
    const unit = servicePath(ill.env);
    mkdirSync(dirname(unit), { recursive: true });
    const install = (path: string) =>
      writeFileSync(unit, systemdUnit({ node: 'node', program: 'threadmux.js', env: { PATH: path } }));
    install('/usr/bin:/bin');
    expect(await ill.examine()).toContainEqual(
      fault('service', 'does not find the agent `my-claude`', 'service install', 'warn'),
    );
    install(`${bin}:/usr/bin:/bin`);
    expect((await ill.examine()).filter(({ part }) => part === 'service')).toEqual([]);
  });

  it('finds the token in the environment of every pane, and does not print it', async () => {
    const ill = await correctSetup();
    Object.assign(ill.env, { DISCORD_BOT_TOKEN: 'very-secret-indeed' });
    ill.tmux('-f', '/dev/null', 'new-session', '-d', '-s', 'x');
    const findings = await ill.examine();
    expect(findings).toContainEqual(
      fault('tmux-environment', 'passes DISCORD_BOT_TOKEN', 'set-environment -g -u DISCORD_BOT_TOKEN'),
    );
    expect(JSON.stringify(findings)).not.toContain('very-secret-indeed');
  });
});

describe('doctor, checking the threadmux home,', () => {
  it('finds a home that others can open, and does not change it', async () => {
    const ill = await correctSetup();
    chmodSync(ill.root, 0o755);
    expect(await ill.examine()).toContainEqual(fault('home', 'Other users can access .*\\(mode 755\\)', 'chmod 700'));
    expect(await ill.examine()).toContainEqual(fault('home', 'Other users can access', 'chmod 700'));
  });

  it('finds a folder above the home that others can change', async () => {
    const ill = await correctSetup();
    chmodSync(dirname(ill.root), 0o775);
    expect(await ill.examine()).toContainEqual(
      fault('home', `other users can change ${dirname(ill.root)}, `, `chmod g-w ${dirname(ill.root)}`),
    );
  });

  it('finds a home that is a symbolic link', async () => {
    const ill = await correctSetup();
    renameSync(ill.root, `${ill.root}-elsewhere`);
    symlinkSync(`${ill.root}-elsewhere`, ill.root);
    expect(await ill.examine()).toContainEqual(fault('home', 'is not a folder', 'THREADMUX_HOME'));
  });

  it('finds a configuration that is not JSON', async () => {
    const ill = await correctSetup();
    writeFileSync(ill.config, '{"servers": [');
    expect(await ill.examine()).toContainEqual(fault('config', 'is not JSON', 'Correct it'));
  });

  it('finds a configuration that others can read', async () => {
    const ill = await correctSetup();
    chmodSync(ill.config, 0o644);
    expect(await ill.examine()).toContainEqual(fault('config', 'can be read by others', 'chmod 600 .*config.json'));
  });

  it('finds a misspelt key', async () => {
    const ill = await correctSetup();
    ill.configure((config) => Object.assign(config, { hots: {} }));
    expect(await ill.examine()).toContainEqual(
      fault('config', 'hots is not a key that threadmux knows', 'correct its spelling'),
    );
  });

  it('finds a root that does not exist, and accepts one that does', async () => {
    const ill = await correctSetup();
    ill.configure((config) => Object.assign(config, { roots: ['/', '~/no-such-folder'] }));
    const found = (await ill.examine()).filter(({ says }) => says.includes('"roots"'));
    expect(found).toEqual([fault('config', '~/no-such-folder, which does not exist', 'Create the folder', 'warn')]);
  });

  it('finds that nobody is allowed to write', async () => {
    const ill = await correctSetup();
    ill.configure(({ servers }) => Object.assign(servers[0] ?? {}, { allow: [] }));
    expect(await ill.examine()).toContainEqual(fault('config', 'allow names nobody', 'your own user id'));
  });

  it('finds that nothing runs, and that it was killed the last time', async () => {
    const ill = await correctSetup();
    expect(await ill.examine()).toContainEqual(fault('bridge', 'is not running', 'threadmux up', 'warn'));
    const lock = join(ill.root, 'state', 'bridge.lock');
    const bridge = await holding(lock);
    expect(others(await ill.examine()).filter(({ part }) => part === 'bridge')).toEqual([]);
    bridge.kill('SIGKILL');
    await vi.waitFor(() => expect(holderOf(lock)).toBeUndefined());
    expect(await ill.examine()).toContainEqual(fault('bridge', 'it was killed', 'threadmux up', 'warn'));
  });

  it('finds a second threadmux with another home', async () => {
    const ill = await correctSetup();
    const bridge = await holding(join(ill.root, 'state', 'bridge.lock'));
    const env = { ...ill.env, THREADMUX_HOME: `${ill.root}-other` };
    expect(await ill.examine({ env })).toContainEqual(
      fault(
        'bridge',
        `Another threadmux is running .*process ${bridge.pid}`,
        'set THREADMUX_HOME to the same folder',
        'warn',
      ),
    );
  });

  it('finds a courier that hangs', async () => {
    const ill = await correctSetup();
    const courier = await holding(join(ill.root, 'state', 'courier.lock'));
    const beat = join(ill.root, 'state', 'courier.pid');
    writeFileSync(beat, `${courier.pid}\n`);
    expect(others(await ill.examine()).map(({ part }) => part)).not.toContain('courier');
    const long = new Date(Date.now() - 90_000);
    utimesSync(beat, long, long);
    expect(await ill.examine()).toContainEqual(
      fault('courier', `process ${courier.pid}\\) hangs`, `kill -9 ${courier.pid}`),
    );
  });

  it('finds messages that wait too long, and those that were set aside', async () => {
    const ill = await correctSetup();
    const box = join(ill.root, 'outbox', '77.1');
    mkdirSync(box, { recursive: true, mode: 0o700 });
    const letter = join(box, '100000001.42');
    writeFileSync(letter, 'threadmux 2\n');
    expect(others(await ill.examine()).map(({ part }) => part)).not.toContain('outbox');
    const long = new Date(Date.now() - 3_600_000);
    utimesSync(letter, long, long);
    mkdirSync(join(ill.root, 'outbox', 'aside'));
    renameSync(letter, `${letter}0`);
    writeFileSync(join(ill.root, 'outbox', 'aside', '1-77.1-100000000.1'), '');
    const findings = await ill.examine();
    expect(findings).toContainEqual(
      fault('outbox', "1 of the agents' messages are not delivered, the oldest for 1 h", 'threadmux logs'),
    );
    expect(findings).toContainEqual(fault('outbox', 'They are in', 'threadmux logs', 'warn'));
  });
});

describe('doctor, checking the server,', () => {
  it('finds a token that is refused', async () => {
    const ill = await correctSetup();
    ill.configure(({ servers }) => Object.assign(servers[0] ?? {}, { token: 'wrong-token' }));
    const findings = await ill.examine();
    expect(findings).toContainEqual(fault('token', 'rejects the bot token', 'Reset Token'));
    expect(JSON.stringify(findings)).not.toContain('wrong-token');
  });

  it('finds that the message content intent is off', async () => {
    const ill = await correctSetup({ messageContentIntent: false });
    expect(await ill.examine()).toContainEqual(fault('intent', 'Message Content Intent is off', 'developer portal'));
  });

  it('finds which permissions the channel removes', async () => {
    const ill = await correctSetup({
      faults: {
        onRequest: ({ path }) =>
          path.endsWith('/roles')
            ? { kind: 'answer', status: 200, body: [{ id: path.split('/')[2], permissions: '3072' }] }
            : undefined,
      },
    });
    expect(await ill.examine()).toContainEqual(
      fault(
        'permissions',
        'needs more permissions in #.*: Create Public Threads, .*Read Message History',
        'permissions=326417615936',
      ),
    );
  });

  it('finds that the channel does not exist', async () => {
    const ill = await correctSetup();
    ill.configure(({ servers }) => Object.assign(servers[0] ?? {}, { channel: '1234567890123456789' }));
    expect(await ill.examine()).toContainEqual(
      fault('channel', 'the channel 1234567890123456789 no longer exists', 'threadmux init'),
    );
  });

  it('finds that the bot cannot see the channel', async () => {
    const ill = await correctSetup({
      faults: {
        onRequest: ({ path }) =>
          path.startsWith('/channels/')
            ? { kind: 'answer', status: 403, body: { code: 50001, message: 'Missing Access' } }
            : undefined,
      },
    });
    expect(await ill.examine()).toContainEqual(fault('channel', 'cannot see the channel', 'oauth2/authorize'));
  });

  it('finds a server that is unreachable', async () => {
    const ill = await correctSetup();
    const api = await deadServer();
    ill.configure(({ servers }) => Object.assign(servers[0] ?? {}, { api }));
    expect(await ill.examine()).toContainEqual(fault('server', 'Cannot reach .*ECONNREFUSED', 'Check the network'));
  });

  it('finds that our clock is wrong', async () => {
    const ill = await correctSetup();
    const server = createHttpServer((_, response) => {
      response.setHeader('date', new Date(Date.now() + 10_800_000).toUTCString());
      response.statusCode = 404;
      response.end('{}');
    }).listen(0, '127.0.0.1');
    onTestFinished(() => void server.close());
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const api = `http://127.0.0.1:${port}/api/v10`;
    ill.configure(({ servers }) => Object.assign(servers[0] ?? {}, { api }));
    expect(await ill.examine()).toContainEqual(
      fault('clock', 'is (2 h 59 min|3 h) ahead of the clock of this machine', 'timedatectl set-ntp'),
    );
  });

  it('finds that the local workspace is not running', async () => {
    const ill = await correctSetup();
    const { api, token, channelId: channel, userId: user } = ill.workspace;
    ill.configure((config) => Object.assign(config, { servers: [] }));
    expect(await ill.examine()).toContainEqual(fault('workspace', 'has not been started yet', 'threadmux up', 'warn'));
    const remember = (at: string) => {
      mkdirSync(join(ill.root, 'state'), { recursive: true, mode: 0o700 });
      const local = JSON.stringify({ api: at, token, channel, user });
      writeFileSync(join(ill.root, 'state', 'workspace.json'), local);
    };
    remember(api);
    expect(others(await ill.examine()).map(({ part }) => part)).not.toContain('workspace');
    remember(await deadServer());
    expect(await ill.examine()).toContainEqual(fault('workspace', 'does not respond', 'threadmux up'));
  });

  it('finds an unknown user and the bot itself in the list of allowed users', async () => {
    const ill = await correctSetup();
    const { botId, userId } = ill.workspace;
    ill.configure(({ servers }) => Object.assign(servers[0] ?? {}, { allow: [userId, botId, '1234567890123456789'] }));
    const findings = await ill.examine();
    expect(findings).toContainEqual(fault('allow', `the bot itself, ${botId}`, 'Copy User ID'));
    expect(findings).toContainEqual(fault('allow', '1234567890123456789, which is not a user', 'Copy User ID', 'warn'));
  });
});

describe('doctor, checking Claude Code,', () => {
  it('finds that the hooks are not installed', async () => {
    const ill = await correctSetup();
    expect(await ill.examine()).toContainEqual(
      fault('hooks', 'hooks are not installed', '`threadmux install`', 'warn'),
    );
  });

  it('accepts our plugin instead of the hooks, and finds that both are there', async () => {
    const ill = await correctSetup();
    const hooks = async () => (await ill.examine()).filter(({ part }) => part === 'hooks');
    mkdirSync(dirname(ill.settings), { recursive: true });
    const enabled = { enabledPlugins: { 'threadmux@threadmux': true } };
    writeFileSync(ill.settings, JSON.stringify(enabled));
    const isFine = expect.objectContaining({ level: 'ok', says: expect.stringContaining('threadmux plugin') });
    expect(await hooks()).toEqual([isFine]);
    await ill.install();
    expect(JSON.parse(readFileSync(ill.settings, 'utf8'))).toMatchObject(enabled);
    const both = fault('hooks', 'both the threadmux plugin and the hooks', 'claude plugin uninstall');
    expect(await hooks()).toContainEqual(both);
    writeFileSync(ill.settings, readFileSync(ill.settings, 'utf8').replace(/true/, 'false'));
    expect(await hooks()).not.toContainEqual(both);
  });

  it('finds the plugin in a project beside the hooks, and beside the hooks of the same project', async () => {
    const ill = await correctSetup();
    const hooks = async () => (await ill.examine()).filter(({ part }) => part === 'hooks');
    const shop = join(dirname(ill.root), 'shop');
    const write = (path: string, value: object) => {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, JSON.stringify(value));
    };
    const turned = (on: boolean) => ({ enabledPlugins: { 'threadmux@threadmux': on } });
    // As Claude Code 2.1.325 writes it.
    const plugins = { 'threadmux@threadmux': [{ scope: 'project', projectPath: shop, version: '0.1.0' }] };
    write(join(dirname(ill.settings), 'plugins/installed_plugins.json'), { version: 2, plugins });
    write(join(shop, '.claude/settings.json'), turned(true));
    expect(await hooks()).toEqual([
      expect.objectContaining({ level: 'ok', says: expect.stringContaining(`only in these projects: ${shop}`) }),
    ]);
    const both = fault('hooks', `both the threadmux plugin for ${shop} and the hooks`, 'claude plugin uninstall');
    await ill.install();
    expect(await hooks()).toContainEqual(both);
    write(join(shop, '.claude/settings.local.json'), turned(false));
    expect(await hooks()).not.toContainEqual(both);
    write(ill.settings, {});
    write(join(shop, '.claude/settings.local.json'), turned(true));
    await ill.install(undefined, shop);
    expect(await hooks()).toContainEqual(both);
  });

  it('does not wait for what a project has in the place of its settings', async () => {
    const ill = await correctSetup();
    const shop = join(dirname(ill.root), 'shop');
    const plugins = { 'threadmux@threadmux': [{ scope: 'project', projectPath: shop, version: '0.1.0' }] };
    const list = join(dirname(ill.settings), 'plugins/installed_plugins.json');
    mkdirSync(dirname(list), { recursive: true });
    writeFileSync(list, JSON.stringify({ version: 2, plugins }));
    mkdirSync(join(shop, '.claude'), { recursive: true });
    symlinkSync('/dev/zero', join(shop, '.claude/settings.json'));
    execFileSync('mkfifo', [join(shop, '.claude/settings.local.json')]);
    const says = (await ill.examine()).map((one) => one.says).join('\n');
    expect(says).not.toContain('only in these projects');
  });

  it('accepts hooks in single projects', async () => {
    const well = await correctSetup();
    const project = join(dirname(well.root), 'shop');
    mkdirSync(project);
    await well.install(undefined, project);
    expect(await well.examine()).toContainEqual(
      expect.objectContaining({
        part: 'hooks',
        level: 'ok',
        says: expect.stringContaining(join(project, '.claude', 'settings.local.json')),
      }),
    );
  });

  it('finds hooks of a package that was moved or removed', async () => {
    const ill = await correctSetup();
    await ill.install();
    const dist = join(dirname(ill.env.HOME ?? ''), 'package', 'dist');
    rmSync(dist, { recursive: true });
    expect(await ill.examine()).toContainEqual(
      fault('hooks-path', `call ${dist}/hooks/drop, which no longer exists`, 'threadmux install'),
    );
  });

  it('finds that a hook was removed', async () => {
    const ill = await correctSetup();
    await ill.install();
    const settings = JSON.parse(readFileSync(ill.settings, 'utf8'));
    delete settings.hooks.Stop;
    writeFileSync(ill.settings, JSON.stringify(settings));
    expect(await ill.examine()).toContainEqual(
      fault('hooks', 'Some hooks are missing .*: Stop\\.', 'threadmux install'),
    );
  });

  it('finds that all hooks are disabled', async () => {
    const ill = await correctSetup();
    await ill.install();
    const settings = JSON.parse(readFileSync(ill.settings, 'utf8'));
    writeFileSync(ill.settings, JSON.stringify({ ...settings, disableAllHooks: true }));
    expect(await ill.examine()).toContainEqual(fault('hooks', 'disableAllHooks', 'set it to false'));
  });

  it('finds settings that Claude Code cannot read', async () => {
    const ill = await correctSetup();
    await ill.install();
    writeFileSync(ill.settings, `${readFileSync(ill.settings, 'utf8')},`);
    expect(await ill.examine()).toContainEqual(fault('settings', 'cannot read .*settings.json', 'Correct the file'));
  });

  it('finds a status line that is not ours', async () => {
    const ill = await correctSetup();
    await ill.install();
    const settings = JSON.parse(readFileSync(ill.settings, 'utf8'));
    settings.statusLine = { type: 'command', command: 'date' };
    writeFileSync(ill.settings, JSON.stringify(settings));
    expect(await ill.examine()).toContainEqual(
      fault('statusline', 'has another status line', 'threadmux install', 'warn'),
    );
  });

  it('finds that the Node.js of the hooks is missing', async () => {
    const ill = await correctSetup();
    await ill.install();
    writeFileSync(join(ill.root, 'state', 'node'), '/opt/gone/bin/node\n');
    expect(await ill.examine()).toContainEqual(
      fault('hooks-node', 'start /opt/gone/bin/node, which no longer works', 'threadmux install'),
    );
  });

  it('finds that hooks and bridge use different homes', async () => {
    const ill = await correctSetup();
    await ill.install();
    const env = { ...ill.env, THREADMUX_HOME: `${ill.root}-other` };
    expect(await ill.examine({ env })).toContainEqual(
      fault('hooks-home', `write to ${ill.root}, but threadmux reads ${ill.root}-other`, 'THREADMUX_HOME'),
    );
  });

  it('finds a tmux server that was started before the hooks were installed', async () => {
    const ill = await correctSetup();
    await ill.install();
    ill.tmux('-f', '/dev/null', 'new-session', '-d', '-s', 'x');
    expect(await ill.examine()).toContainEqual(
      fault('tmux-hooks', 'does not report new and closed sessions', 'threadmux install', 'warn'),
    );
  });
});

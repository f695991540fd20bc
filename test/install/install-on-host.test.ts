// install --host: a machine with only sh and tmux, reached by the real ssh client.

import { execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { addThreadmux } from '../../agents/claude/settings.ts';
import { driverOf } from '../../agents/list.ts';
import { writeWhole } from '../../home/atomic-write.ts';
import { loadConfig } from '../../home/config-file.ts';
import { loadAutoThreads } from '../../home/installed.ts';
import { holderOf, tryLock } from '../../home/lock.ts';
import { findHostPaths } from '../../hosts/host-home.ts';
import { readHostFiles, removeHostFile, writeHostFile } from '../../hosts/host-user-files.ts';
import { type HostInstallOptions, installOn, uninstallOn } from '../../install/install-on-host.ts';
import { filesForHosts } from '../../install/program-files.ts';
import { openHostList } from '../../tmux/host-list.ts';
import { addSourceLine } from '../../tmux/tmux-hooks.ts';
import { startBareHost } from '../support/bare-host.ts';
import { loginShells, startSshServer } from '../support/ssh-server.ts';
import { tempHome } from '../support/temp-home.ts';
import { folderListing } from './folder-listing.ts';

const PROGRAM = fileURLToPath(new URL('../../dist/bin/threadmux.js', import.meta.url));
const ID = '123456789012345678';
const TOKEN = `secret-of-${process.pid}-and-nobody-else`;
const SERVER = {
  name: 'work',
  api: 'http://127.0.0.1:9/api/v10',
  token: TOKEN,
  channel: ID,
  allow: [ID],
};

type There = Awaited<ReturnType<typeof startBareHost>>;

/** A machine with one other host, named mini. `run` and `must` start the program, `install` and `uninstall` do not. */
function machine(there: There, name = 'laptop', servers: readonly object[] = [SERVER]) {
  const home = tempHome();
  const config = { host: name, hosts: { mini: { ssh: 'far', socket: there.socket } }, servers };
  writeWhole(home.path('config.json'), JSON.stringify(config));
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: home.root,
    THREADMUX_HOME: home.root,
    THREADMUX_SSH_CONFIG: there.configFile,
  };
  const run = async (...args: readonly string[]) => {
    const child = spawn(process.execPath, [PROGRAM, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
    const [stdout, stderr, code] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      new Promise<number | null>((resolve) => child.on('close', resolve)),
    ]);
    return { code, said: `${stdout}${stderr}` };
  };
  const must = async (...args: readonly string[]) => {
    const ran = await run(...args);
    expect(ran, ran.said).toMatchObject({ code: 0 });
    expect(ran.said).not.toContain(TOKEN);
    return ran.said;
  };
  const hosts = openHostList({ config: loadConfig(home, env), home, env });
  onTestFinished(() => hosts.close());
  const options = () => ({ root: home.root, name, host: hosts.get('mini'), tmux: hosts.tmux('mini') });
  return {
    home,
    run,
    must,
    ours: join(there.home, '.threadmux', 'for', name),
    install: async (more: Partial<HostInstallOptions> = {}) =>
      (await installOn({ ...options(), files: filesForHosts(name, true), ...more })).join('\n'),
    uninstall: async (more: Partial<Parameters<typeof uninstallOn>[0]> = {}) =>
      (await uninstallOn({ ...options(), ...more })).join('\n'),
  };
}

function put(there: There, name: string, content: string, mode = 0o644): string {
  const path = join(there.home, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
  chmodSync(path, mode);
  return path;
}

const SETTINGS = '.claude/settings.json';
const ODD = '{\n\t"model" : "opus",   "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say"}]}]}}';

describe('install --host', () => {
  it('shows no escape sequence from a file on the host', async () => {
    const there = await startBareHost();
    put(there, '.tmux.conf', '# \u001b]0;title\u0007\n');
    const said = await machine(there).must('install', '--host', 'mini', '--dry-run');
    expect(said).toContain('⟨U+001B⟩]0;title');
    expect(said).not.toContain('\u001b');
  });

  it('edits settings and tmux on the host, changes nothing the second time, and restores both', async () => {
    const there = await startBareHost();
    there.tmux('new-session', '-d', '-s', 'shop');
    put(there, SETTINGS, ODD, 0o600);
    const before = folderListing(there.home);
    const { must, ours, install, uninstall } = machine(there);

    expect(await must('install', '--host', 'mini', '--dry-run')).toContain(`+`);
    expect(folderListing(there.home)).toEqual(before);

    const said = await must('install', '--host', 'mini');
    expect(said).toContain(`mini: ${there.home}/${SETTINGS}: added the hooks and the status line.`);
    expect(said).toContain('mini: tmux: loaded the hooks into the running server.');
    const settings = readFileSync(join(there.home, SETTINGS), 'utf8');
    expect(settings).toContain(`THREADMUX_HOME='${ours}' ${ours}/bin/drop # threadmux`);
    expect(existsSync(join(ours, 'bin', 'drop'))).toBe(true);
    expect(statSync(join(there.home, SETTINGS)).mode & 0o777).toBe(0o600);
    expect(there.tmux('show-hooks', '-g')).toContain('@threadmux-event-');

    const installed = folderListing(there.home);
    expect(await install()).toContain('already up to date');
    expect(folderListing(there.home)).toEqual(installed);

    expect(await must('uninstall', '--host', 'mini', '--dry-run')).toContain(`-`);
    expect(folderListing(there.home)).toEqual(installed);
    const gone = await must('uninstall', '--host', 'mini', '--purge');
    expect(gone).toContain('removed the hooks from the running server');
    expect(there.tmux('show-hooks', '-g')).not.toContain('threadmux');
    expect(folderListing(there.home)).toEqual(before);
    expect(await uninstall()).toContain('nothing to remove');
  });

  it('adds the extensions of all agents on the host, in folders of this machine, and leaves nothing behind', async () => {
    const there = await startBareHost();
    const before = folderListing(there.home);
    const { must, ours, run, uninstall } = machine(there);
    const said = await must('install', '--host', 'mini', '--agent', 'all');
    const file = `${there.home}/.gemini/extensions/threadmux-laptop/hooks/hooks.json`;
    const others = ['.config/opencode/plugins/threadmux-laptop.js', '.pi/agent/extensions/threadmux-laptop/index.js'];
    for (const path of [file, ...others.map((name) => `${there.home}/${name}`)]) {
      expect(said).toContain(`mini: ${path}: added the extension of threadmux.`);
      expect(existsSync(path), path).toBe(true);
    }
    expect(said).toContain('Codex: nothing to add');
    expect(readFileSync(file, 'utf8')).toContain(`THREADMUX_HOME='${ours}' '${ours}/bin/drop' gemini`);
    expect((await run('install', '--host', 'mini', '--agent', 'gemni')).said).toContain('"gemni" is not an agent');
    const installed = folderListing(there.home);
    expect(await must('install', '--host', 'mini', '--agent', 'all')).not.toContain(': added');
    expect(folderListing(there.home)).toEqual(installed);
    await uninstall();
    expect(folderListing(there.home).filter((line) => !line.startsWith('.threadmux'))).toEqual(before);
    await uninstall({ purge: true });
    expect(folderListing(there.home)).toEqual(before);
  });

  it('puts what OpenCode and pi load on the host, beside what is there, and removes exactly that', async () => {
    const there = await startBareHost();
    const loaded = [
      ['opencode', '.config/opencode/plugins', 'threadmux-laptop.js', 'opencode/plugin.js'],
      ['pi', '.pi/agent/extensions', 'threadmux-laptop/index.js', 'pi/extension.js'],
    ] as const;
    for (const [, folder] of loaded) put(there, join(folder, 'theirs.js'), '// of the user\n');
    const before = folderListing(there.home);
    const { must, uninstall, ours } = machine(there);
    await must('install', '--host', 'mini', '--agent', 'opencode,pi');
    for (const [agent, folder, file, program] of loaded) {
      const [, path = ''] = /from "([^"]+)"/.exec(readFileSync(join(there.home, folder, file), 'utf8')) ?? [];
      expect(path).toBe(`${ours}/bin/${program}`);
      for (const name of driverOf(agent).files ?? []) expect(existsSync(join(ours, 'bin', name)), name).toBe(true);
      rmSync(path);
    }
    await must('install', '--host', 'mini');
    // Kept up to date without being named.
    for (const [, , , program] of loaded) expect(existsSync(`${ours}/bin/${program}`), program).toBe(true);
    await uninstall({ purge: true });
    expect(folderListing(there.home)).toEqual(before);
  });

  it('gives threads to sessions that are created on the host, until uninstall', async () => {
    const there = await startBareHost();
    const { home, install, uninstall } = machine(there);
    const isAuto = () => loadAutoThreads(home, 'mini');
    expect(isAuto()).toBe(false);
    await install({ tmux: undefined });
    expect(isAuto()).toBe(false); // tmux does not report them
    await install();
    expect(isAuto()).toBe(true);
    await uninstall();
    expect([isAuto(), existsSync(home.path('state', 'hosts', 'mini'))]).toEqual([false, false]);
    await install();
    for (const name of ['.tmux.conf', '.config/tmux/tmux.conf', SETTINGS])
      rmSync(join(there.home, name), { force: true });
    await uninstall();
    expect([isAuto(), existsSync(home.path('state', 'hosts', 'mini'))]).toEqual([false, false]);
  });

  it('leaves no token on the host', async () => {
    const there = await startBareHost();
    there.tmux('new-session', '-d', '-s', 'shop');
    const { must } = machine(there);
    await must('install', '--host', 'mini');
    expect(holdsToken(there.home)).toEqual([]);
    expect(there.tmux('show-environment', '-g')).not.toContain(TOKEN);
    expect(execFileSync('ps', ['-A', '-ww', 'e', '-o', 'args='], { encoding: 'utf8' })).not.toContain(TOKEN);
  });

  it('works for the local workspace, and notices sessions that are created on the host', async () => {
    const there = await startBareHost();
    there.tmux('new-session', '-d', '-s', 'shop');
    const { install, ours } = machine(there, 'laptop', []);
    await install();
    there.tmux('new-session', '-d', '-s', 'made-by-hand');
    await vi.waitFor(() => expect(lettersIn(ours)).toMatch(/^event created$/m), 20_000);
  });

  it('does not remove our folder on the host while threadmux runs here', async () => {
    const there = await startBareHost();
    const { home, install, uninstall, ours } = machine(there);
    await install();
    const release = tryLock(join(home.folder('state'), 'bridge.lock'));
    await expect(uninstall({ purge: true })).rejects.toMatchObject({ hint: 'Stop it first, then run this again.' });
    expect(existsSync(ours)).toBe(true);
    release?.();
  });

  it('lets a host that does not go on hold up no other host, and not this machine', async () => {
    const slow = await startBareHost();
    const waits = join(slow.home, 'waits');
    const go = join(slow.home, 'go');
    put(slow, '.profile', `: > ${waits}; while [ ! -e ${go} ]; do sleep 0.1; done\n`);
    const { home, install, run, must } = machine(slow);
    const onSlow = install();
    await vi.waitFor(() => expect(existsSync(waits)).toBe(true), 20_000);

    const other = (await startBareHost()).host({ name: 'other' });
    expect(await install({ host: other, tmux: undefined })).toContain('other: ');
    expect(await must('install', '--no-tmux')).toContain('added the hooks');
    expect(holderOf(home.path('state', 'install@mini.lock'))).toBe(process.pid);
    expect((await run('uninstall', '--purge')).said).toContain(`another install is running (process ${process.pid})`);
    expect(existsSync(home.path('config.json'))).toBe(true);

    writeFileSync(go, '');
    expect(await onSlow).toContain(`mini: ${slow.home}/${SETTINGS}: added the hooks`);
  });

  it('says that a host is not configured, or is this machine', async () => {
    const { run } = machine(await startBareHost());
    expect((await run('install', '--host', 'mars')).said).toContain('there is no host `mars`');
    expect((await run('install', '--host', 'laptop')).said).toContain('laptop is this machine');
  });

  it('follows CLAUDE_CONFIG_DIR and XDG_CONFIG_HOME of the login shell', async () => {
    const there = await startBareHost();
    const profile = join(there.home, '.profile');
    const more = 'export CLAUDE_CONFIG_DIR="$HOME/a b" XDG_CONFIG_HOME="$HOME/xdg"\n';
    writeFileSync(profile, readFileSync(profile, 'utf8') + more);
    put(there, 'xdg/tmux/tmux.conf', '# mine');
    const before = folderListing(there.home);
    const { install, uninstall } = machine(there);
    await install();
    expect(existsSync(join(there.home, 'a b', 'settings.json'))).toBe(true);
    expect(readFileSync(join(there.home, 'xdg/tmux/tmux.conf'), 'utf8')).toMatch(
      /^# mine\nsource-file .* # threadmux\n$/,
    );
    expect(existsSync(join(there.home, '.tmux.conf'))).toBe(false);
    await uninstall({ purge: true });
    expect(folderListing(there.home)).toEqual(before);
  });

  it('removes only our parts if the file was changed since', async () => {
    const there = await startBareHost();
    const path = put(there, SETTINGS, ODD);
    const { install, uninstall } = machine(there);
    await install();
    writeFileSync(path, readFileSync(path, 'utf8').replace('opus', 'sonnet'));
    await uninstall();
    const rest = readFileSync(path, 'utf8');
    expect(JSON.parse(rest)).toEqual(JSON.parse(ODD.replace('opus', 'sonnet')));
  });

  it('refuses a file that it could not restore, and changes nothing', async () => {
    const there = await startBareHost();
    const path = put(there, SETTINGS, '{ "hooks": [] }');
    const { run, install } = machine(there);
    const ran = await run('install', '--host', 'mini');
    expect(ran.said).toContain('"hooks" is not an object');
    expect(ran.code).not.toBe(0);
    expect(existsSync(join(there.home, '.tmux.conf'))).toBe(false);
    writeFileSync(path, Buffer.from([0x7b, 0xff, 0x7d]));
    await expect(install()).rejects.toThrow('is not UTF-8 text');
    expect(readFileSync(path)).toEqual(Buffer.from([0x7b, 0xff, 0x7d]));
  });
});

describe('the paths on a host', () => {
  it.each(loginShells())('are those of the login shell %s, whatever it prints', async (shell) => {
    const server = await startSshServer({ shell });
    const put = (name: string, text: string) => {
      mkdirSync(dirname(join(server.home, name)), { recursive: true });
      writeFileSync(join(server.home, name), `echo CLAUDE_CONFIG_DIR; ${text}\n`);
    };
    for (const name of ['.profile', '.bash_profile', '.zprofile']) put(name, 'export CLAUDE_CONFIG_DIR="$HOME/cfg/"');
    put('.config/fish/config.fish', 'set -gx CLAUDE_CONFIG_DIR "$HOME/cfg/"');
    const { home } = server;
    expect(await findHostPaths(server.host(), 'laptop')).toEqual({
      home: `${home}/.threadmux/for/laptop`,
      settings: `${home}/cfg/settings.json`,
      confs: [`${home}/.tmux.conf`, `${home}/.config/tmux/tmux.conf`],
    });
  });
});

describe('two users of one host', () => {
  it('have their own hooks, and each removes only its own, in any order', async () => {
    const there = await startBareHost();
    there.tmux('new-session', '-d', '-s', 'shop');
    const own = join(there.home, 'threadmux', 'dist');
    // The user there has their own installation, and a status line.
    const theirs = addThreadmux('{"statusLine":{"type":"command","command":"my-line \'x\'"}}', {
      dist: own,
    });
    put(there, SETTINGS, theirs);
    const line = addSourceLine('', join(there.home, '.threadmux', 'tmux.conf'));
    put(there, '.tmux.conf', line);
    const before = folderListing(there.home);
    const laptop = machine(there, 'laptop');
    const desk = machine(there, 'desk');
    await laptop.install();
    await desk.install();
    expect(await laptop.install()).toContain('already up to date');
    const both = JSON.parse(readFileSync(join(there.home, SETTINGS), 'utf8'));
    expect(both.hooks.Stop).toHaveLength(3);
    expect(there.tmux('show-hooks', '-g').match(/session-created\[/g)).toHaveLength(2);

    await laptop.uninstall({ purge: true });
    const one = readFileSync(join(there.home, SETTINGS), 'utf8');
    expect(JSON.parse(one).hooks.Stop).toHaveLength(2);
    expect(one).not.toContain('for/laptop');
    expect(one).toContain('my-line');
    expect(there.tmux('show-hooks', '-g').match(/session-created\[/g)).toHaveLength(1);
    await desk.uninstall({ purge: true });
    expect(readFileSync(join(there.home, SETTINGS), 'utf8')).toBe(theirs);
    expect(folderListing(there.home)).toEqual(before);
  });
});

describe('a host with an installation of its own', () => {
  it('keeps it', async () => {
    const there = await startBareHost();
    put(there, '.threadmux/config.json', '{}', 0o600);
    put(there, '.threadmux/state/node', '/usr/bin/node\n');
    const before = folderListing(there.home);
    const { install, uninstall } = machine(there);
    await install();
    await uninstall({ purge: true });
    expect(folderListing(there.home)).toEqual(before);
  });
});

describe('a file on a host', () => {
  async function fileOn(content: string, mode = 0o644) {
    const server = await startSshServer();
    const host = server.host();
    const path = join(server.home, 'file');
    const start = (text: string) => {
      writeFileSync(path, text);
      chmodSync(path, mode);
    };
    start(content);
    const read = async (at = path) => {
      const [file] = await readHostFiles(host, [at]);
      if (file === undefined) throw new Error('nothing was read');
      return file;
    };
    return { home: server.home, host, path, read, start };
  }

  it('is read and written byte for byte, with its mode, whatever it contains', async () => {
    const { host, path, read, start } = await fileOn('', 0o640);
    for (const content of [
      '// why\n{ "a": 1, /* b */ }\n',
      '{\r\n  "a": 1\r\n}\r\n',
      '{}',
      '',
      '\ufeff{"a":"\0ü😀"}\n\n\n',
    ]) {
      start(content);
      const file = await read();
      expect(file.text).toBe(content);
      await writeHostFile(host, file, `${content}more`);
      expect(readFileSync(path, 'utf8')).toBe(`${content}more`);
      expect(statSync(path).mode & 0o777).toBe(0o640);
      await writeHostFile(host, await read(), content);
      expect(readFileSync(path, 'utf8')).toBe(content);
    }
  });

  it('is written where its links lead', async () => {
    const { home, host, path, read } = await fileOn('old', 0o600);
    mkdirSync(join(home, 'dotfiles'));
    symlinkSync('../file', join(home, 'dotfiles', 'middle'));
    symlinkSync('dotfiles/middle', join(home, 'link'));
    await writeHostFile(host, await read(join(home, 'link')), 'new');
    expect(readFileSync(path, 'utf8')).toBe('new');
    expect(readdirSync(home).sort()).toEqual(['dotfiles', 'file', 'link']);
  });

  it('that was changed, created or removed in between is left as it is', async () => {
    const { home, host, path, read } = await fileOn('old');
    const file = await read();
    const missing = await read(join(home, 'new', 'file'));
    writeFileSync(path, 'others');
    mkdirSync(join(home, 'new'));
    writeFileSync(join(home, 'new', 'file'), 'others');
    const again = { code: 'busy', hint: 'Run this again.' };
    await expect(writeHostFile(host, file, 'ours')).rejects.toMatchObject(again);
    await expect(removeHostFile(host, file, undefined)).rejects.toMatchObject(again);
    await expect(writeHostFile(host, missing, 'ours')).rejects.toMatchObject(again);
    expect(readFileSync(path, 'utf8')).toBe('others');
    expect(readFileSync(join(home, 'new', 'file'), 'utf8')).toBe('others');
    expect(readdirSync(home).sort()).toEqual(['file', 'new']);
  });

  it('that did not exist is removed with the folders that were created for it', async () => {
    const { home, host, read } = await fileOn('');
    const path = join(home, 'a b', "c'd", 'file');
    const made = await writeHostFile(host, await read(path), 'ours');
    expect(made).toBe(join(home, 'a b'));
    await removeHostFile(host, await read(path), made);
    expect(readdirSync(home)).toEqual(['file']);
  });

  it('that is a link to nothing, or a folder, is refused', async () => {
    const { home, read } = await fileOn('');
    symlinkSync('/gone', join(home, 'link'));
    mkdirSync(join(home, 'folder'));
    await expect(read(join(home, 'link'))).rejects.toThrow('is a link to a file that does not exist');
    await expect(read(join(home, 'folder'))).rejects.toThrow('is not a file');
  });
});

function holdsToken(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => {
    const path = join(folder, name);
    return statSync(path).isFile() && readFileSync(path, 'utf8').includes(TOKEN);
  });
}

function lettersIn(home: string): string {
  const outbox = join(home, 'outbox');
  return readdirSync(outbox, { recursive: true, encoding: 'utf8' })
    .map((name) => join(outbox, name))
    .filter((path) => statSync(path).isFile())
    .map((path) => readFileSync(path, 'utf8'))
    .join('\n');
}

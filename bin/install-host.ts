// threadmux install --host NAME: puts the program, its configuration and its hooks onto another
// machine, over ssh, from this one. Nothing but Node.js and tmux is needed there; every byte
// travels on stdin, so that no secret is ever in a command line.

import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Config } from '../core/config.ts';
import { ThreadmuxError } from '../core/errors.ts';
import type { Host } from '../hosts/host.ts';
import { openHosts } from '../tmux/hosts.ts';
import { type Context, openContext } from './context.ts';

const HOME = `h="\${THREADMUX_HOME:-$HOME/.threadmux}"; umask 077`;
const FIND_NODE = `PATH="$PATH:/opt/homebrew/bin:/usr/local/bin"
n=$(command -v node) || n=$("\${SHELL:-sh}" -l -i -c 'command -v node' 2>/dev/null </dev/null | tail -n 1)
[ -x "$n" ] && "$n" -p 'process.execPath + "\\n" + process.versions.node'`;
const UNPACK = `${HOME}; mkdir -p "$h" && rm -rf "$h/app.new" && mkdir "$h/app.new" && tar -xzf - -C "$h/app.new" && rm -rf "$h/app" && mv "$h/app.new" "$h/app"`;
const CONFIGURE = `${HOME}; mkdir -p "$h" && cat > "$h/config.json.new" && mv "$h/config.json.new" "$h/config.json"`;
const RUN = `${HOME}; n=$1; shift; exec "$n" "$h/app/dist/bin/threadmux.js" "$@"`;
const REMOVE = `${HOME}; rm -rf "$h/app"; rmdir "$h" 2>/dev/null || :`;
const NEEDS = ['commander', 'undici', 'ws', 'zod'] as const;
const SLOW_MS = 180_000;

export async function installOnHost(name: string): Promise<void> {
  const context = openContext('install');
  const servers = remoteServers(context.config);
  await withHost(context, name, async (host) => {
    const node = await nodeOn(host);
    console.error(`Copying threadmux to ${name} …`);
    await host.sh(UNPACK, [], {
      input: await packed(),
      doing: 'copy threadmux there',
      timeoutMs: SLOW_MS,
    });
    const { defaultHost } = context.config;
    const config = {
      host: name,
      defaultHost,
      hosts: { [defaultHost]: { ssh: defaultHost }, [name]: 'local' },
      servers,
    };
    await host.sh(CONFIGURE, [], {
      input: JSON.stringify(config, null, 2),
      doing: 'write its configuration',
    });
    console.log(
      `${name}: copied to ~/.threadmux/app, configured for ${servers.map((one) => one.name).join(', ')}.`,
    );
    const said = await host.sh(RUN, [node, 'install'], {
      doing: 'install the hooks there',
      timeoutMs: SLOW_MS,
    });
    for (const line of said.trim().split('\n')) console.log(`${name}: ${line}`);
  });
}

export async function uninstallOnHost(name: string, purge: boolean): Promise<void> {
  await withHost(openContext('uninstall'), name, async (host) => {
    const args = ['uninstall', ...(purge ? ['--purge'] : [])];
    const said = await host.sh(RUN, [await nodeOn(host), ...args], {
      doing: 'take the hooks out there',
      timeoutMs: SLOW_MS,
    });
    for (const line of said.trim().split('\n')) console.log(`${name}: ${line}`);
    if (purge) await host.sh(REMOVE, [], { doing: 'remove threadmux there' });
  });
}

async function withHost(
  context: Context,
  name: string,
  act: (host: Host) => Promise<void>,
): Promise<void> {
  const { config, home } = context;
  const hosts = openHosts({ config, home, env: process.env });
  if (hosts.isLocal(name))
    throw new ThreadmuxError('bad_usage', `${name} is this machine`, {
      hint: 'Run `threadmux install` without --host.',
    });
  try {
    await act(hosts.get(name));
  } finally {
    await hosts.close();
  }
}

/** The courier over there posts by itself, so it needs a server that it can reach. */
function remoteServers(config: Config): Config['servers'] {
  if (config.servers.length > 0) return config.servers;
  throw new ThreadmuxError(
    'config_invalid',
    'the local workspace can be reached from this machine only',
    {
      hint: 'Set up Discord first (threadmux init), then install on other hosts.',
    },
  );
}

async function nodeOn(host: Host): Promise<string> {
  const said = await host.sh(`${FIND_NODE} || :`, [], { doing: 'look for Node.js' });
  const [path = '', version = '0'] = said.trim().split('\n');
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major > 20 || (major === 20 && minor >= 19)) return path;
  const what = path === '' ? 'there is no Node.js' : `Node.js is ${version}`;
  throw new ThreadmuxError('host_refused', `${host.name}: ${what}`, {
    hint: 'Install Node.js 20.19 or newer there. Typing into it works without; hearing from it does not.',
  });
}

/** This very installation and the packages it needs, as one archive. */
async function packed(): Promise<Uint8Array> {
  const stage = mkdtempSync(join(tmpdir(), 'threadmux-'));
  try {
    const root = realpathSync(fileURLToPath(new URL('../..', import.meta.url)));
    for (const part of ['dist', 'package.json'])
      cpSync(join(root, part), join(stage, part), { recursive: true });
    for (const name of NEEDS)
      cpSync(packageFolder(name, root), join(stage, 'node_modules', name), {
        recursive: true,
        dereference: true,
      });
    const run = promisify(execFile);
    const tar = await run('tar', ['-czf', '-', '-C', stage, '.'], {
      encoding: 'buffer',
      maxBuffer: 2 ** 28,
    });
    return tar.stdout;
  } finally {
    rmSync(stage, { recursive: true, force: true });
  }
}

/** Beside us or further up, as Node.js itself looks for it. */
function packageFolder(name: string, root: string): string {
  for (let folder = root; ; folder = dirname(folder)) {
    const path = join(folder, 'node_modules', name);
    try {
      readFileSync(join(path, 'package.json'));
      return path;
    } catch {
      if (folder === dirname(folder))
        throw new ThreadmuxError('not_found', `the package ${name} is not installed`);
    }
  }
}

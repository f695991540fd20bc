// The whole of threadmux around a real Claude Code: workspace, bridge and courier as the real process, Claude in a
// real pane with our hooks, answered by the scripted model. It has its own HOME and tmux server.

import { execFile, execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { vi } from 'vitest';
import { hookSettings } from '../../agents/claude/settings.ts';
import { type Home, openHome } from '../../home/home.ts';
import { loadThreadRecords } from '../../threads/registry.ts';
import { type LabSession, openSession, PATIENCE } from './lab-session.ts';
import { goneOrKilled, processesIn } from './processes.ts';
import { ended, startUp } from './start-up.ts';
import { enter, type Person } from './workspace.ts';

export type { LabSession } from './lab-session.ts';

const SCRIPT = fileURLToPath(new URL('../agents/claude/lab/claude-lab', import.meta.url));
const DIST = process.env.THREADMUX_LAB_DIST ?? fileURLToPath(new URL('../../dist', import.meta.url));

const run = promisify(execFile);
const PROGRAM = join(DIST, 'bin/threadmux.js');
export const PLUGIN = fileURLToPath(new URL('../../plugin', import.meta.url));

export function claudeVersion(): string {
  return process.env.CLAUDE_LAB_VERSION ?? '2.1.197';
}

/** Where Claude Code is installed, once for all runs. */
export function claudePackage(): string {
  const cache = process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache');
  return process.env.CLAUDE_LAB_PKG ?? join(cache, 'threadmux-lab', claudeVersion());
}

export interface ClaudeLab {
  readonly dir: string;
  /** The environment of threadmux. */
  readonly env: Readonly<Record<string, string>>;
  /** The directory of Claude. */
  readonly project: string;
  /** Starts Claude like the user of the lab, with our hooks. */
  readonly command: string;
  readonly person: Person;
  readonly channelId: string;
  /**
   * Starts Claude in a new session and waits until it has its thread. `unasked`: no hook answers its dialogs. `subscriber`: with
   * a made-up subscription. `plugin`: our hooks and tools come from the plugin.
   */
  start(name: string, options?: { unasked?: boolean; subscriber?: boolean; plugin?: boolean }): Promise<LabSession>;
  /** A session that was started in another way. */
  find(name: string): Promise<LabSession>;
  tmux(...args: string[]): string;
  log(): string;
  /** Runs the command line of threadmux, and resolves with what it prints. */
  cli(...args: string[]): Promise<string>;
  /** Changes keys of config.json, which the running program takes up. */
  configure(change: Readonly<Record<string, unknown>>): void;
  /** A new link to the page. */
  link(): string;
  /** Kills threadmux and restarts it, with these variables added; `between` runs while it is down. */
  restart(between: () => Promise<void>, added?: Readonly<Record<string, string>>): Promise<void>;
  stop(): Promise<void>;
}

/** `far`: a host that is reached over ssh, with its own home and tmux server. */
export async function startClaudeLab({ far }: { far?: FarLab } = {}): Promise<ClaudeLab> {
  const dir = mkdtempSync(join(tmpdir(), 'tm-lab-'));
  const project = join(dir, 'project');
  const home = openHome(join(dir, 'home/.threadmux'));
  const env = labEnv(dir, home.root);
  const command = writeSettings(dir, home, far);
  if (far !== undefined) env.PATH = `${writeSsh(dir, far)}:${env.PATH}`;
  const begin = async (added: Readonly<Record<string, string>> = {}) => {
    const up = await startUp({ ...env, ...added }, PROGRAM);
    const local = JSON.parse(readFileSync(home.path('state', 'workspace.json'), 'utf8'));
    const person = await enter(up.link);
    return { up, local, person };
  };
  let running = await begin();
  const script = (...args: string[]) =>
    execFileSync(SCRIPT, args, { env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  const tmux = (...args: string[]) => script('tmux', ...args).replace(/\n$/, '');

  const find = async (name: string): Promise<LabSession> => {
    const { thread } = await vi.waitFor(() => {
      const found = loadThreadRecords(home).find((one) => one.sessionName === name);
      if (found === undefined) throw new Error(`${name} has not reported yet`);
      return found;
    }, PATIENCE);
    const record = () => {
      const found = loadThreadRecords(home).find((one) => one.thread === thread);
      if (found === undefined) throw new Error(`nothing is known of the pane of ${name}`);
      return found;
    };
    return openSession({ record, person: running.person, tmux });
  };

  return {
    dir,
    env,
    project,
    command,
    get person() {
      return running.person;
    },
    channelId: running.local.channel,
    find,
    tmux,
    async start(name, { unasked = false, subscriber = false, plugin = false } = {}) {
      const settings = join(dir, plugin ? 'plugin.json' : unasked ? 'unasked.json' : 'settings.json');
      const login = subscriber ? ['--subscriber'] : [];
      const own = plugin ? ['--plugin-dir', PLUGIN] : [];
      script('start', '--session', name, ...login, '--', '--settings', settings, ...own);
      const session = await find(name);
      await session.idle();
      return session;
    },
    log: () =>
      readdirSync(home.folder('log'))
        .map((file) => readFileSync(home.path('log', file), 'utf8'))
        .join(''),
    // Not with execFileSync: the ssh server of a test runs in this process.
    cli: async (...args) => (await run(process.execPath, [PROGRAM, ...args], { env })).stdout,
    configure(change) {
      const path = home.path('config.json');
      const config = { ...JSON.parse(readFileSync(path, 'utf8')), ...change };
      writeFileSync(path, JSON.stringify(config), { mode: 0o600 });
    },
    link: () => execFileSync(process.execPath, [PROGRAM, 'link'], { env, encoding: 'utf8' }).trim(),
    async restart(between, added) {
      await ended(running.up.process, 'SIGKILL');
      await between();
      running = await begin(added);
    },
    async stop() {
      // First: it would start declared sessions again.
      await ended(running.up.process);
      const agents = processesIn(script('panes').split('\n'));
      script('stop');
      await goneOrKilled(agents);
      const courier = Number(readIfThere(home.path('state', 'courier.pid')));
      if (courier > 0) await goneOrKilled([courier]); // the last letter may have started one
      if (process.env.CLAUDE_LAB_KEEP === undefined)
        await rm(dir, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
    },
  };
}

interface FarLab {
  readonly configFile: string;
  /** The socket of its tmux server. */
  readonly socket: string;
}

/** The real ssh client finds its configuration through the password file, not through HOME. */
function writeSsh(dir: string, { configFile }: FarLab): string {
  const bin = join(dir, 'bin');
  mkdirSync(bin);
  const client = `#!/bin/sh\nPATH=\${PATH#*:}; exec ssh -F '${configFile}' "$@"\n`;
  writeFileSync(join(bin, 'ssh'), client, { mode: 0o755 });
  return bin;
}

function labEnv(dir: string, root: string): Record<string, string> {
  return {
    PATH: process.env.PATH ?? '',
    HOME: join(dir, 'home'),
    LANG: 'C.UTF-8',
    SHELL: '/bin/sh',
    THREADMUX_HOME: root,
    THREADMUX_TMUX_SOCKET: join(dir, 'tmux.sock'),
    CLAUDE_LAB_DIR: dir,
    CLAUDE_LAB_PKG: claudePackage(),
    CLAUDE_LAB_PORT: '0',
  };
}

/** Our hooks for `claude --settings`, our configuration, and a `claude` for `!new` with the lab's environment. */
function writeSettings(dir: string, home: Home, far?: FarLab): string {
  const hooks = hookSettings({ dist: DIST }).hooks;
  const { PermissionRequest: _, ...drops } = hooks;
  const allow = ['Bash(echo *)', 'Bash(sleep *)', 'Bash(claude *)'];
  const permissions = { defaultMode: 'default', allow };
  writeFileSync(join(dir, 'settings.json'), JSON.stringify({ permissions, hooks }));
  writeFileSync(join(dir, 'unasked.json'), JSON.stringify({ permissions, hooks: drops }));
  const tools = { ...permissions, allow: [...allow, 'mcp__plugin_threadmux_threadmux'] };
  writeFileSync(join(dir, 'plugin.json'), JSON.stringify({ permissions: tools }));
  const command = join(dir, 'claude');
  const start = `home=$HOME; . ${dir}/env.sh; HOME=$home; case "$*" in *--settings*) ;; *) set -- --settings ${dir}/settings.json "$@" ;; esac`;
  writeFileSync(command, `#!/bin/sh\n${start}\nexec claude "$@"\n`, { mode: 0o755 });
  mkdirSync(join(dir, 'project'), { recursive: true });
  const hosts = far === undefined ? {} : { hosts: { far: { ssh: 'far', socket: far.socket, roots: ['~'] } } };
  const shop = { path: join(dir, 'shop'), defaults: { worktree: true }, worktreeSetup: 'echo prepared' };
  const common = { host: 'lab', agents: { claude: { command: [command] } }, roots: [dir], onLimit: 'continue' };
  const config = { ...common, projects: [shop], ...hosts };
  writeFileSync(home.path('config.json'), JSON.stringify(config), { mode: 0o600 });
  return command;
}

function readIfThere(path: string): string {
  return existsSync(path) ? readFileSync(path, 'utf8') : '';
}

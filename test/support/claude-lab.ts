// The whole of threadmux around a real Claude Code: workspace, bridge and courier as the real process, Claude in a
// real pane with our hooks, answered by the scripted model. Has a HOME and a tmux server of its own.

import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, vi } from 'vitest';
import { screenOf } from '../../bridge/forward.ts';
import type { Screen } from '../../claude/screen.ts';
import { hookSettings } from '../../claude/settings.ts';
import { type Home, openHome } from '../../home/home.ts';
import { loadPaneRecord, loadPaneRecords, type PaneRecord } from '../../home/pane-record.ts';
import { localHost } from '../../tmux/host.ts';
import { look } from '../../tmux/look.ts';
import { tmuxOn } from '../../tmux/tmux.ts';
import { recordedPrompts } from './recorded-prompts.ts';
import { enter, type Person, type WireMessage } from './workspace.ts';

const SCRIPT = fileURLToPath(new URL('../claude/lab/claude-lab', import.meta.url));
const DIST =
  process.env.THREADMUX_LAB_DIST ?? fileURLToPath(new URL('../../dist', import.meta.url));
const PATIENCE = { timeout: 30_000, interval: 200 };

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
  /** Where Claude works. */
  readonly project: string;
  /** Starts Claude as the person of the lab does, with our hooks. */
  readonly command: string;
  readonly person: Person;
  readonly channelId: string;
  /** Starts Claude in a new session and waits until it has its thread. `unasked`: no hook answers its dialogs. */
  start(name: string, options?: { unasked?: boolean }): Promise<LabSession>;
  /** A session that was started in another way. */
  find(name: string): Promise<LabSession>;
  tmux(...args: string[]): string;
  log(): string;
  stop(): Promise<void>;
}

export async function startClaudeLab(): Promise<ClaudeLab> {
  const dir = mkdtempSync(join(tmpdir(), 'tm-lab-'));
  const project = join(dir, 'project');
  const home = openHome(join(dir, 'home/.threadmux'));
  const env = labEnv(dir, home.root);
  const command = writeSettings(dir, home);
  const up = await startUp(env);
  const local = JSON.parse(readFileSync(home.path('state', 'workspace.json'), 'utf8'));
  const person = await enter({ link: up.link, url: new URL(up.link).origin, api: local.api });
  const script = (...args: string[]) =>
    execFileSync(SCRIPT, args, { env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  const tmux = (...args: string[]) => script('tmux', ...args).replace(/\n$/, '');

  const find = async (name: string): Promise<LabSession> => {
    const { thread } = await vi.waitFor(() => {
      const found = loadPaneRecords(home).find((one) => one.sessionName === name);
      if (found === undefined) throw new Error(`${name} has not reported yet`);
      return found;
    }, PATIENCE);
    const record = () => {
      const found = loadPaneRecord(home, thread);
      if (found === undefined) throw new Error(`nothing is known of the pane of ${name}`);
      return found;
    };
    return openSession({ record, person, tmux });
  };

  return {
    dir,
    project,
    command,
    person,
    channelId: local.channel,
    find,
    tmux,
    async start(name, { unasked = false } = {}) {
      const settings = join(dir, unasked ? 'unasked.json' : 'settings.json');
      script('start', '--session', name, '--', '--settings', settings);
      const session = await find(name);
      await session.idle();
      return session;
    },
    log: () =>
      readdirSync(home.folder('log'))
        .map((file) => readFileSync(home.path('log', file), 'utf8'))
        .join(''),
    async stop() {
      script('stop');
      await ended(up.process);
      const courier = Number(readIfThere(home.path('state', 'courier.pid')));
      if (courier > 0) spawnSync('kill', [String(courier)]); // a last letter may have started one
      if (process.env.CLAUDE_LAB_KEEP === undefined)
        rmSync(dir, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
    },
  };
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

/** Our hooks for `claude --settings`, our configuration, and a `claude` for `!new` that brings the lab's environment. */
function writeSettings(dir: string, home: Home): string {
  const hooks = hookSettings({ node: process.execPath, dist: DIST }).hooks;
  const { PermissionRequest: _, ...drops } = hooks;
  const allow = ['Bash(echo *)', 'Bash(sleep *)', 'Bash(claude *)'];
  const permissions = { defaultMode: 'default', allow };
  writeFileSync(join(dir, 'settings.json'), JSON.stringify({ permissions, hooks }));
  writeFileSync(join(dir, 'unasked.json'), JSON.stringify({ permissions, hooks: drops }));
  const command = join(dir, 'claude');
  const start = `. ${dir}/env.sh; case "$*" in *--settings*) ;; *) set -- --settings ${dir}/settings.json "$@" ;; esac`;
  writeFileSync(command, `#!/bin/sh\n${start}\nexec claude "$@"\n`, { mode: 0o755 });
  mkdirSync(join(dir, 'project'), { recursive: true });
  const config = { host: 'lab', agent: { command: [command] } };
  writeFileSync(home.path('config.json'), JSON.stringify(config), { mode: 0o600 });
  return command;
}

async function startUp(env: Record<string, string>) {
  const program = join(DIST, 'bin/threadmux.js');
  const up = spawn(process.execPath, [program, 'up', '--port', '0'], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let printed = '';
  for (const stream of [up.stdout, up.stderr])
    stream.on('data', (data: Buffer) => {
      printed += data;
    });
  const link = await vi.waitFor(() => {
    const found = printed.match(/http:\/\/\S+/)?.[0];
    if (found === undefined) throw new Error(`threadmux up: ${printed}`);
    return found;
  }, PATIENCE);
  return { process: up, link };
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const exit = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  const late = setTimeout(() => child.kill('SIGKILL'), 5_000);
  await exit;
  clearTimeout(late);
}

function readIfThere(path: string): string {
  return existsSync(path) ? readFileSync(path, 'utf8') : '';
}

/** One Claude in one pane, and the person in its thread. */
export interface LabSession {
  readonly thread: string;
  record(): PaneRecord;
  /** The person writes in the thread. */
  say(text: string): Promise<WireMessage>;
  /** Writes it and waits for Claude Code's receipt. */
  submit(text: string): Promise<WireMessage>;
  /** Waits until exactly this mark is on the message. */
  marked(message: WireMessage, mark: string): Promise<void>;
  /** What the bot has posted here since the last call of `next`, oldest first, without messages of progress. */
  news(): Promise<readonly WireMessage[]>;
  /** Waits until the bot has posted just these; each is the whole content or a part of it. */
  next(...contents: (string | RegExp)[]): Promise<readonly WireMessage[]>;
  /** Messages that show how a turn goes on or what it was. */
  progress(): Promise<readonly WireMessage[]>;
  /** What Claude Code has recorded as submitted in its current conversation, in order. */
  prompts(): readonly string[];
  screen(): string;
  read(): Promise<Screen>;
  /** Waits until Claude waits for a message. */
  idle(): Promise<void>;
  /** The person at the terminal. */
  type(text: string): void;
  press(...keys: string[]): void;
}

interface Parts {
  readonly record: () => PaneRecord;
  readonly person: Person;
  readonly tmux: (...args: string[]) => string;
}

const PROGRESS =
  /(?:^|\n)-# (?:working · |interrupted · |failed · )?(?:\S.* · )?(?:\d+ min )?\d+ s$/;

function openSession({ record, person, tmux }: Parts): LabSession {
  const { thread, paneId } = record();
  let seen = thread; // the thread's own id is older than anything in it
  const all = async () => {
    const messages = await person.messages(thread);
    return messages.filter(({ type }) => type === 0 || type === 19).toReversed();
  };
  const fromBot = async () => {
    const you = (await person.call('GET', '/users/@me')).body.id;
    return (await all()).filter(({ author }) => author.id !== you);
  };
  const news = async () =>
    (await fromBot()).filter(
      ({ id, content }) => BigInt(id) > BigInt(seen) && !PROGRESS.test(content),
    );
  const say = (text: string) => person.say(thread, text);
  const marked = async (message: WireMessage, mark: string) =>
    vi.waitFor(async () => {
      const now = (await all()).find(({ id }) => id === message.id);
      const marks = now?.reactions?.filter(({ count }) => count > 0).map(({ emoji }) => emoji.name);
      expect(marks, `the marks of ${JSON.stringify(message.content)}`).toEqual([mark]);
    }, PATIENCE);
  const read = async () => {
    const one = record();
    const host = localHost({ name: 'lab', env: process.env });
    const pane = await look(tmuxOn(host, one.socket), one);
    return pane.kind === 'gone' ? ({ kind: 'dead' } as const) : screenOf(pane, one);
  };
  return {
    thread,
    record,
    say,
    marked,
    news,
    read,
    async submit(text) {
      const message = await say(text);
      await marked(message, '✅');
      return message;
    },
    async next(...contents) {
      const found = await vi.waitFor(async () => {
        const messages = await news();
        expect(messages.map(({ content }) => content)).toEqual(
          contents.map((one) => (typeof one === 'string' ? one : expect.stringMatching(one))),
        );
        return messages;
      }, PATIENCE);
      seen = found.at(-1)?.id ?? seen;
      return found;
    },
    progress: async () => (await fromBot()).filter(({ content }) => PROGRESS.test(content)),
    prompts: () => recordedPrompts(record().transcript),
    screen: () => tmux('capture-pane', '-p', '-t', paneId),
    async idle() {
      await vi.waitFor(async () => {
        expect(await read()).toMatchObject({ kind: 'empty', busy: false });
      }, PATIENCE);
    },
    type: (text) => void tmux('send-keys', '-t', paneId, '-l', '--', text),
    press: (...keys) => void tmux('send-keys', '-t', paneId, ...keys),
  };
}

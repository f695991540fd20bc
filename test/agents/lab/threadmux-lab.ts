// The whole of threadmux around the real agents: workspace, bridge and courier as the real process, and every agent of the lab
// configured with a command that the scripted model answers. It has its own HOME and tmux server.

import { execFile, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, vi } from 'vitest';
import type { AgentScreen } from '../../../agents/screen.ts';
import { type Home, openHome } from '../../../home/home.ts';
import { localHost } from '../../../hosts/host.ts';
import { readPane } from '../../../threads/read-pane.ts';
import { loadThreadRecords, type ThreadRecord } from '../../../threads/registry.ts';
import { lookAtPane } from '../../../tmux/look.ts';
import { tmuxOn } from '../../../tmux/tmux.ts';
import type { McpPlace } from '../../bin/mcp/mcp-client.ts';
import { goneOrKilled, processesIn } from '../../support/processes.ts';
import { buttonOf } from '../../support/prompt-pane.ts';
import { ended, startUp } from '../../support/start-up.ts';
import { enter, type Person, type WireMessage } from '../../support/workspace.ts';
import { writeLabCommand } from './lab-command.ts';
import { type ScriptedModel, startScriptedModel } from './model/scripted-model.mjs';
import type { LabAgentName } from './packages.ts';

const run = promisify(execFile);
const PROGRAM = fileURLToPath(new URL('../../../dist/bin/threadmux.js', import.meta.url));

/** An agent may need a minute to start on a busy machine. */
export const LAB_PATIENCE = { timeout: 150_000, interval: 300 };

export interface ThreadmuxLab extends McpPlace {
  readonly dir: string;
  readonly person: Person;
  readonly model: ScriptedModel;
  readonly channelId: string;
  log(): string;
  /** Runs the command line of threadmux, and resolves with what it prints. */
  command(...args: string[]): Promise<string>;
  /** Starts it with `!new`, and waits until it is ready for a message. */
  start(agent: LabAgentName): Promise<LabThread>;
  /** Starts it in this folder of the lab, in a session of this name, and does not wait until it is ready. */
  startIn(folder: string, agent: LabAgentName): Promise<LabThread>;
  /** Starts it as a user does who knows nothing of threadmux, gives its session a thread, and waits until it is ready. */
  startByHand(agent: LabAgentName, ...args: string[]): Promise<LabThread>;
  stop(): Promise<void>;
}

/** One agent, its thread, and the user there and at its terminal. */
export interface LabThread {
  readonly project: string;
  readonly thread: string;
  record(): ThreadRecord;
  say(text: string): Promise<WireMessage>;
  /** All messages, oldest first. */
  all(): Promise<readonly WireMessage[]>;
  /** Waits until exactly this mark is on the message. */
  marked(message: WireMessage, mark: string): Promise<void>;
  /** Everything that the bot has posted after this message, oldest first, without lines of progress. */
  since(message: WireMessage): Promise<readonly WireMessage[]>;
  /** Waits for a message of the bot after this one. */
  posted(after: WireMessage, what: string | RegExp): Promise<WireMessage>;
  /** Waits for a message of the bot with such a button. */
  card(after: WireMessage, label: string): Promise<WireMessage>;
  now(message: WireMessage): Promise<WireMessage>;
  tap(message: WireMessage, label: string): Promise<unknown>;
  screen(): string;
  read(): Promise<AgentScreen>;
  /** Waits until it is ready for a message. */
  ready(): Promise<void>;
  shows(test: (screen: AgentScreen) => boolean): Promise<void>;
  type(text: string): void;
  press(...keys: string[]): void;
}

/** `install`: the extension of Gemini CLI; the others get their hooks at the start. */
export async function startThreadmuxLab(agents: readonly LabAgentName[], install = true): Promise<ThreadmuxLab> {
  const dir = mkdtempSync(join(tmpdir(), 'tm-agents-'));
  const homeFolder = join(dir, 'home');
  const socket = join(dir, 'tmux.sock');
  const home = openHome(join(homeFolder, '.threadmux'));
  const model = await startScriptedModel();
  const projectOf = (agent: LabAgentName) => join(dir, agent);
  const commands = agents.map((agent) => {
    const place = { dir, home: homeFolder, project: projectOf(agent), port: model.port };
    return [agent, { command: [writeLabCommand(agent, place)] }] as const;
  });
  const config = { host: 'lab', roots: [dir], agents: Object.fromEntries(commands) };
  writeFileSync(home.path('config.json'), JSON.stringify(config), { mode: 0o600 });
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: homeFolder,
    LANG: 'C.UTF-8',
    SHELL: '/bin/sh',
    THREADMUX_HOME: home.root,
    THREADMUX_TMUX_SOCKET: socket,
  };
  // Not execFileSync: the scripted model answers in this process.
  const command = async (...args: string[]) => (await run(process.execPath, [PROGRAM, ...args], { env })).stdout;
  if (install && agents.includes('gemini')) await command('install', '--no-tmux', '--agent', 'gemini');
  const up = await startUp(env);
  const person = await enter(up.link);
  const local = JSON.parse(readFileSync(home.path('state', 'workspace.json'), 'utf8'));
  const tmux = (...args: string[]) => {
    const done = spawnSync('tmux', ['-u', '-S', socket, '-f', '/dev/null', ...args], { env, encoding: 'utf8' });
    return done.stdout.replace(/\n$/, '');
  };
  async function startIn(folder: string, agent: LabAgentName): Promise<LabThread> {
    const project = join(dir, folder);
    mkdirSync(project, { recursive: true });
    await person.say(local.channel, `!new ${folder} ${project} --agent ${agent}`);
    const record = () => recordOf(home, folder);
    await vi.waitFor(record, LAB_PATIENCE);
    return openThread({ project, record, person, tmux });
  }
  async function startByHand(agent: LabAgentName, ...args: string[]): Promise<LabThread> {
    const [session, project] = [`${agent}-by-hand`, projectOf(agent)];
    tmux('new-session', '-d', '-s', session, '-x', '120', '-y', '40', '-c', project, 'sh');
    await command('thread', 'open', session);
    const thread = openThread({ project, record: () => recordOf(home, session), person, tmux });
    thread.type([join(dir, 'bin', agent), ...args].join(' '));
    thread.press('Enter');
    await thread.ready();
    return thread;
  }
  return {
    dir,
    person,
    model,
    channelId: local.channel,
    command,
    startIn,
    startByHand,
    cli: { dir, root: home.root, env },
    log: () =>
      readdirSync(home.folder('log'))
        .map((file) => readFileSync(home.path('log', file), 'utf8'))
        .join(''),
    async start(agent) {
      const thread = await startIn(agent, agent);
      await thread.ready();
      return thread;
    },
    async stop() {
      const panes = processesIn(tmux('list-panes', '-a', '-F', '#{pane_pid}').split('\n'));
      tmux('kill-server');
      await goneOrKilled(panes);
      await ended(up.process);
      await model.stop();
      if (process.env.AGENT_LAB_KEEP === undefined)
        rmSync(dir, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
    },
  };
}

function recordOf(home: Home, session: string): ThreadRecord {
  const found = loadThreadRecords(home).find((one) => one.sessionName === session);
  if (found === undefined) throw new Error(`${session} has no thread yet`);
  return found;
}

interface ThreadParts {
  readonly project: string;
  readonly record: () => ThreadRecord;
  readonly person: Person;
  readonly tmux: (...args: string[]) => string;
}

/** Only small lines. */
const PROGRESS = /^-# [^\n]*(?:\n-# [^\n]*)*$/;

function openThread({ project, record, person, tmux }: ThreadParts): LabThread {
  const { thread, paneId } = record();
  const all = async () => (await person.messages(thread, 'limit=100')).toReversed();
  const since = async ({ id, author }: WireMessage) =>
    (await all()).filter(
      (one) => BigInt(one.id) > BigInt(id) && one.author.id !== author.id && !PROGRESS.test(one.content),
    );
  const read = async () => {
    const one = record();
    const pane = await lookAtPane(tmuxOn(localHost({ name: 'lab', env: process.env }), one.socket), one);
    return pane.kind === 'gone' ? ({ kind: 'dead' } as const) : readPane(pane, one).screen;
  };
  const screen = () => tmux('capture-pane', '-p', '-t', paneId);
  const shows = async (test: (now: AgentScreen) => boolean) =>
    vi.waitFor(async () => {
      const now = await read();
      expect(test(now), `${record().sessionName} shows ${JSON.stringify(now)}\n${screen()}`).toBe(true);
    }, LAB_PATIENCE);
  /** The first message of the bot after this one that fits. */
  const find = (after: WireMessage, fits: (one: WireMessage) => boolean, what: string) =>
    vi.waitFor(async () => {
      const posted = await since(after);
      const found = posted.find(fits);
      if (found !== undefined) return found;
      throw new Error(
        `no ${what} after ${after.content}: ${JSON.stringify(posted.map((one) => one.content))}\n${screen()}`,
      );
    }, LAB_PATIENCE);
  return {
    project,
    thread,
    record,
    all,
    since,
    read,
    screen,
    shows,
    say: (text) => person.say(thread, text),
    marked: async (message, mark) =>
      vi.waitFor(async () => {
        const now = (await all()).find(({ id }) => id === message.id);
        const marks = now?.reactions?.filter(({ count }) => count > 0).map(({ emoji }) => emoji.name);
        const said = JSON.stringify((await since(message)).map(({ content }) => content));
        expect(marks, `the marks of ${JSON.stringify(message.content)}, then ${said}\n${screen()}`).toEqual([mark]);
      }, LAB_PATIENCE),
    posted: (after, what) =>
      find(after, ({ content }) => (typeof what === 'string' ? content.includes(what) : what.test(content)), `${what}`),
    card: (after, label) => find(after, (one) => hasButton(one, label), `card with ${label}`),
    now: async (message) => (await all()).find(({ id }) => id === message.id) ?? message,
    tap: (message, label) => person.tap(thread, message.id, buttonOf(message, label)),
    async ready() {
      await shows((now) => now.kind === 'empty' && !now.busy);
    },
    type: (text) => void tmux('send-keys', '-t', paneId, '-l', '--', text),
    press: (...keys) => void tmux('send-keys', '-t', paneId, ...keys),
  };
}

function hasButton(message: WireMessage, label: string): boolean {
  try {
    buttonOf(message, label);
    return true;
  } catch {
    return false;
  }
}

// One real agent in one pane, started as its driver says, without the rest of threadmux: its letters stay in the outbox, and
// the test reads and answers them. It has its own HOME and tmux server.

import { spawnSync } from 'node:child_process';
import {
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished, vi } from 'vitest';
import type { AgentDriver, ExtensionPaths, Launch, LaunchOptions } from '../../../agents/driver.ts';
import type { AgentEvent } from '../../../agents/event.ts';
import type { AgentScreen, PaneFacts } from '../../../agents/screen.ts';
import { quoteShellWords } from '../../../core/shell-word.ts';
import { goneOrKilled, processesIn } from '../../support/processes.ts';
import { removeFolder } from '../../support/temp-home.ts';
import { writeLabCommand } from './lab-command.ts';
import { type ScriptedModel, startScriptedModel } from './model/scripted-model.mjs';
import type { LabAgentName } from './packages.ts';

const SCRIPTS = fileURLToPath(new URL('../../../dist/hooks', import.meta.url));

export interface Letter {
  readonly headers: Readonly<Record<string, string>>;
  readonly event: AgentEvent;
}

export interface AgentPane {
  readonly dir: string;
  readonly home: string;
  readonly project: string;
  readonly model: ScriptedModel;
  tmux(...args: string[]): string;
  type(text: string): void;
  press(...keys: string[]): void;
  /** Pastes the text as threadmux does, and presses Enter after the pause. */
  paste(text: string): Promise<void>;
  screen(): string;
  facts(): PaneFacts & { readonly cursorShown: boolean };
  read(): AgentScreen;
  /** All that were written so far, oldest first. */
  letters(): readonly Letter[];
  events(): readonly AgentEvent[];
  /** Waits for an event of this kind after the last one that was returned. */
  next<E extends AgentEvent['event']>(event: E): Promise<Letter & { event: Extract<AgentEvent, { event: E }> }>;
  /** Gives `ask` its answer. */
  answer(letter: Letter, text: string): void;
  waitFor(test: (screen: AgentScreen) => boolean): Promise<AgentScreen>;
  /** Waits until it is ready for a message. */
  ready(): Promise<void>;
  /** Presses the keys of `!stop`, with the same pause between them. */
  interrupt(): Promise<void>;
}

interface PaneOptions {
  readonly size?: { readonly width: number; readonly height: number };
  readonly environment?: Readonly<Record<string, string>>;
  readonly settings?: LaunchOptions['settings'];
  readonly resume?: 'newest' | { readonly session: string };
  /** Started by hand, with the extension that `install` adds. */
  readonly byHand?: boolean;
  /** Its shell has a parent: tmux continues the first process of a pane when that is stopped. */
  readonly canStop?: boolean;
  /** Changes what the driver wants to start. */
  readonly change?: (launch: Launch) => Launch;
}

/** Ended with the test. */
export async function startAgentPane(
  name: LabAgentName,
  driver: AgentDriver,
  options: PaneOptions = {},
): Promise<AgentPane> {
  const pane = await openAgentPane(name, driver, options);
  onTestFinished(pane.stop);
  return pane;
}

/** For several tests: a start takes long. */
export async function openAgentPane(
  name: LabAgentName,
  driver: AgentDriver,
  {
    size = { width: 120, height: 40 },
    environment = {},
    settings = {},
    resume,
    byHand = false,
    canStop = false,
    change = (one) => one,
  }: PaneOptions = {},
): Promise<AgentPane & { stop(): Promise<void> }> {
  const dir = mkdtempSync(join(tmpdir(), 'tm-agent-'));
  const home = join(dir, 'home');
  const project = join(dir, 'project');
  const ours = join(dir, 'threadmux');
  const socket = join(dir, 's');
  mkdirSync(ours, { recursive: true });
  const model = await startScriptedModel();
  const command = writeLabCommand(name, { dir, home, project, port: model.port });
  if (byHand) writeExtension(driver, home, { scripts: SCRIPTS, home: ours });
  const start = byHand ? { argv: [command], environment: {} } : undefined;
  const launch =
    start ??
    change(
      driver.launch({
        command: [command],
        settings,
        ...(resume === undefined ? {} : { resume }),
        scripts: SCRIPTS,
        home: ours,
        directory: project,
        local: { node: process.execPath, dist: join(SCRIPTS, '..') },
      }),
    );
  const env = { PATH: process.env.PATH ?? '', HOME: home, LANG: 'C.UTF-8', SHELL: '/bin/sh', ...environment };
  const tmux = (...args: string[]) => {
    const done = spawnSync('tmux', ['-u', '-S', socket, '-f', '/dev/null', ...args], { env, encoding: 'utf8' });
    if (done.status !== 0) throw new Error(`tmux ${args.join(' ')}: ${done.stderr}`);
    return done.stdout.replace(/\n$/, '');
  };
  // A courier would take the letters away: a live one seems to run.
  mkdirSync(join(ours, 'state'), { recursive: true });
  spawnSync('mkfifo', [join(ours, 'bell')]);
  const [x, y] = [String(size.width), String(size.height)];
  tmux('new-session', '-d', '-s', 'demo', '-x', x, '-y', y, '-c', project, canStop ? 'sh; true' : 'sh');
  const variables = Object.entries({ ...launch.environment, ...(byHand ? {} : { THREADMUX_HOME: ours }) });
  const line = quoteShellWords(['env', ...variables.map(([key, value]) => `${key}=${value}`), ...launch.argv]);
  writeFileSync(join(dir, 'start.sh'), `exec ${line}\n`);
  tmux('send-keys', '-t', 'demo', '-l', `sh ${join(dir, 'start.sh')}`);
  tmux('send-keys', '-t', 'demo', 'Enter');

  const read: Letter[] = [];
  let returned = 0;
  const letters = () => {
    read.push(...takeLetters(join(ours, 'outbox'), driver));
    return read;
  };
  const facts = () => factsOf(tmux);
  const readNow = () => driver.screen.read(`${tmux('capture-pane', '-e', '-p', '-t', 'demo')}\n`, facts());
  const waitFor = (test: (screen: AgentScreen) => boolean) =>
    vi.waitFor(() => {
      const now = readNow();
      if (!test(now)) throw new Error(`it shows ${JSON.stringify(now)}\n${tmux('capture-pane', '-p', '-t', 'demo')}`);
      return now;
    }, PATIENCE);
  return {
    dir,
    home,
    project,
    model,
    tmux,
    letters,
    facts,
    async stop() {
      const panes = tmux('list-panes', '-a', '-F', '#{pane_pid}').split('\n');
      const all = processesIn(panes);
      tmux('kill-server');
      await goneOrKilled(all);
      await model.stop();
      if (process.env.AGENT_LAB_KEEP === undefined) removeFolder(dir);
    },
    read: readNow,
    events: () => letters().map(({ event }) => event),
    screen: () => tmux('capture-pane', '-p', '-t', 'demo'),
    type: (text) => void tmux('send-keys', '-t', 'demo', '-l', '--', text),
    press: (...keys) => void tmux('send-keys', '-t', 'demo', ...keys),
    async paste(text) {
      writeFileSync(join(dir, 'paste'), text);
      tmux('load-buffer', '-b', 'lab', join(dir, 'paste'));
      tmux('paste-buffer', '-p', '-r', '-d', '-b', 'lab', '-t', 'demo');
      await new Promise((resolve) => setTimeout(resolve, 500));
      tmux('send-keys', '-t', 'demo', 'Enter');
    },
    async next(event) {
      const at = await vi.waitFor(() => {
        const found = letters().findIndex((one, index) => index >= returned && one.event.event === event);
        if (found < 0)
          throw new Error(
            `no ${event}: ${JSON.stringify(read.map((one) => one.event))}\n${tmux('capture-pane', '-p', '-t', 'demo')}`,
          );
        return found;
      }, PATIENCE);
      returned = at + 1;
      // biome-ignore lint/suspicious/noExplicitAny: found by its name
      return read[at] as any;
    },
    answer(letter, text) {
      const file = join(ours, 'answers', letter.headers.ask ?? '');
      writeFileSync(`${file}.tmp`, text);
      renameSync(`${file}.tmp`, file);
      const bell = openSync(`${file}.bell`, constants.O_WRONLY | constants.O_NONBLOCK); // throws if nobody waits
      writeSync(bell, '\n');
      closeSync(bell);
    },
    async ready() {
      await waitFor((now) => now.kind === 'empty' && !now.busy);
    },
    async interrupt() {
      for (const key of driver.typing.interrupt) {
        tmux('send-keys', '-t', 'demo', key);
        await new Promise((resolve) => setTimeout(resolve, 500));
      }
    },
    waitFor,
  };
}

function writeExtension({ extension }: AgentDriver, userHome: string, paths: ExtensionPaths): void {
  if (extension === undefined) throw new Error('it has no extension');
  for (const [file, text] of Object.entries(extension.files(paths))) {
    const path = join(userHome, extension.folder(paths), file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
}

/** The first start of some agents takes half a minute on a busy machine. */
const PATIENCE = { timeout: 120_000, interval: 250 };

function takeLetters(outbox: string, driver: AgentDriver): readonly Letter[] {
  if (!existsSync(outbox)) return [];
  return readdirSync(outbox)
    .flatMap((box) => readdirSync(join(outbox, box)).map((file) => join(outbox, box, file)))
    .filter((path) => /\/\d[^/]*$/.test(path))
    .sort()
    .flatMap((path) => {
      const kept = path.replace(/\/(\d[^/]*)$/, '/.read-$1');
      const whole = readFileSync(path, 'utf8');
      const end = whole.indexOf('\n\n');
      const headers = Object.fromEntries(
        whole
          .slice(0, end)
          .split('\n')
          .map((line) => [line.split(' ', 1)[0] ?? '', line.slice(line.indexOf(' ') + 1)]),
      );
      const event = driver.readEvent(JSON.parse(whole.slice(end + 2)));
      renameSync(path, kept);
      return event === undefined ? [] : [{ headers, event }];
    });
}

function factsOf(tmux: (...args: string[]) => string): PaneFacts & { readonly cursorShown: boolean } {
  const names = ['cursor_x', 'cursor_y', 'pane_width', 'pane_height', 'pane_dead', 'pane_in_mode', 'cursor_flag'];
  const format = [...names, 'pane_current_command', 'pane_title'].map((name) => `#{${name}}`).join('\t');
  const [x, y, width, height, dead, mode, flag, command = '', title = ''] = tmux(
    ...['display-message', '-p', '-t', 'demo', format],
  ).split('\t');
  return {
    cursorX: Number(x),
    cursorY: Number(y),
    width: Number(width),
    height: Number(height),
    paneDead: dead === '1',
    inMode: mode === '1',
    cursorShown: flag === '1',
    title,
    currentCommand: command,
  };
}

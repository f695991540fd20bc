// A machine as Claude Code's hooks see it: a home, a tmux server, and the compiled `drop` and courier as
// real processes. Everything that is started here ends with the test.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, vi } from 'vitest';
import { saveLocalServer } from '../../home/config-file.ts';
import type { Home } from '../../home/home.ts';
import { holderOf } from '../../home/lock.ts';
import { openOutbox } from '../../hooks/outbox.ts';
import type { Workspace } from '../../workspace/server.ts';
import { atEnd } from './at-end.ts';
import { tempFolder, tempHome } from './temp-home.ts';
import { startTmux, type TmuxServer } from './tmux-server.ts';
import type { TestWorkspace, WireMessage } from './workspace.ts';

export const DROP = fileURLToPath(new URL('../../dist/hooks/drop', import.meta.url));
export const ASK = fileURLToPath(new URL('../../dist/hooks/ask', import.meta.url));
/** Our processes do not wait for the disk. */
export const NO_SYNC = { NODE_OPTIONS: `--import=${new URL('./no-sync.mjs', import.meta.url).href}` };
export const COURIER = fileURLToPath(new URL('../../dist/bin/courier.js', import.meta.url));
const FIXTURES = fileURLToPath(new URL('../fixtures/claude/', import.meta.url));

/** What Claude Code puts into the environment of a hook in a pane. */
export interface PaneEnv {
  readonly TMUX: string;
  readonly TMUX_PANE: string;
}

interface Dropped {
  readonly status: number | null;
  readonly printed: string;
}

interface DropOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** The shell to run it with; by default its first line decides. */
  readonly shell?: readonly string[];
  /** A machine whose Node.js is being upgraded: the letter is written, and no courier starts. */
  readonly withoutNode?: boolean;
}

export interface Courier {
  readonly pid: number;
  readonly child: ChildProcess;
  readonly ended: Promise<void>;
  /** Its error output, if it exited by itself. */
  errors(): string;
  kill(): Promise<void>;
}

export interface Machine {
  readonly home: Home;
  readonly tmux: TmuxServer;
  readonly env: Readonly<Record<string, string>>;
  readonly pathWithoutNode: string;
  /** A new session with one pane, and the environment of a hook in it. */
  session(name: string): PaneEnv;
  paneEnv(target: string): PaneEnv;
  drop(pane: PaneEnv | undefined, input: unknown, options?: DropOptions): Dropped;
  /** Writes only the letter: no courier is started to deliver it. */
  write(pane: PaneEnv, input: unknown, env?: Readonly<Record<string, string>>): void;
  /** Starts the tmux server before there is a session. A hook starts a courier process if the server is newer than the program. */
  startServer(): void;
  /** A courier that the test may kill, like the one `drop` would start. */
  courier(env?: Readonly<Record<string, string>>): Courier;
  /** The running courier, however it was started. */
  courierPid(): number | undefined;
  letters(): readonly string[];
  log(): string;
}

export interface MachineOptions {
  readonly host?: string;
  readonly tmux?: TmuxServer;
  readonly config?: Readonly<Record<string, unknown>>;
}

export function startMachine(workspace?: Workspace, options: MachineOptions = {}): Machine {
  const home = tempHome();
  const tmux = options.tmux ?? startTmux();
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: tempFolder(),
    LANG: 'C.UTF-8',
    ...NO_SYNC,
    THREADMUX_HOME: home.root,
    THREADMUX_HOST: options.host ?? 'laptop',
  };
  if (workspace !== undefined) useWorkspace(home, workspace);
  if (options.config !== undefined)
    writeFileSync(home.path('config.json'), JSON.stringify(options.config), { mode: 0o600 });
  atEnd(() => endCouriersOf(home));
  let bare: string | undefined;
  const pathWithoutNode = () => {
    bare ??= toolsWithoutNode();
    return bare;
  };

  const drop: Machine['drop'] = (pane, input, { shell = [], withoutNode, ...more } = {}) => {
    const [program = DROP, ...args] = [...shell, DROP];
    const done = spawnSync(program, args, {
      input: typeof input === 'string' ? input : JSON.stringify(input),
      env: { ...env, ...pane, ...(withoutNode ? { PATH: pathWithoutNode() } : {}), ...more.env },
      encoding: 'utf8',
    });
    return { status: done.status, printed: done.stdout + done.stderr };
  };
  return {
    home,
    tmux,
    env,
    get pathWithoutNode() {
      return pathWithoutNode();
    },
    session(name) {
      tmux.call('new-session', '-d', '-s', name, '-c', tmux.dir, 'cat');
      return paneEnv(tmux, `=${name}:`);
    },
    paneEnv: (target) => paneEnv(tmux, target),
    startServer: () => void tmux.call('start-server', ';', 'set-option', '-s', 'exit-empty', 'off'),
    drop,
    write(pane, input, more = {}) {
      drop(pane, input, { withoutNode: true, env: more });
    },
    courier(more = {}) {
      const child = spawn(process.execPath, [COURIER, '--stay'], {
        env: { ...env, ...more },
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      let errors = '';
      child.stderr.on('data', (data) => {
        errors += data;
      });
      const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
      return {
        pid: child.pid ?? 0,
        child,
        ended,
        errors: () => errors,
        kill() {
          child.kill('SIGKILL');
          return ended;
        },
      };
    },
    courierPid: () => holderOf(home.path('state', 'courier.lock')),
    letters: () => {
      const outbox = openOutbox(home.path('outbox'));
      return outbox.boxes().flatMap((box) => outbox.letters(box));
    },
    log: () => readIfThere(home.path('log', 'threadmux.log')),
  };
}

/** Does what the program that serves the local workspace does. */
function useWorkspace(home: Home, workspace: Workspace | TestWorkspace): void {
  const { token, channelId, userId } = workspace;
  const api = 'socketApi' in workspace ? workspace.socketApi : workspace.api;
  saveLocalServer(home, { api, token, channel: channelId, user: userId });
}

export function paneEnv(tmux: TmuxServer, target: string): PaneEnv {
  const format = '#{socket_path},#{pid},#{session_id} #{pane_id}';
  const [server = '', pane = ''] = tmux.call('display-message', '-p', '-t', target, format).split(' ');
  return { TMUX: server.replace('$', ''), TMUX_PANE: pane };
}

/** The only tools that `drop` and `ask` may rely on. */
const TOOLS = 'sh dash bash busybox cat mv mkdir rm od mkfifo sleep awk date wc'.split(' ');

function toolsWithoutNode(): string {
  const folder = tempFolder();
  for (const tool of TOOLS) {
    const path = ['/bin', '/usr/bin'].map((bin) => join(bin, tool)).find(existsSync);
    if (path !== undefined) symlinkSync(path, join(folder, tool));
  }
  return folder;
}

/** Couriers detach from their parent, so they are found by their home. */
async function endCouriersOf(home: Home): Promise<void> {
  const ours = () => {
    const holder = holderOf(home.path('state', 'courier.lock'));
    return [...processesWith(`THREADMUX_HOME=${home.root}`), ...(holder ? [holder] : [])];
  };
  await vi.waitFor(
    () => {
      const left = ours().filter((pid) => pid !== process.pid);
      for (const pid of left) killNow(pid);
      if (left.length > 0) throw new Error(`couriers are still at work: ${left.join(', ')}`);
    },
    { timeout: 5_000, interval: 20 },
  );
}

export function killNow(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {} // it has ended
}

/** Processes with one of these variables, written as NAME=value. */
export function processesWith(...variables: readonly string[]): readonly number[] {
  if (process.platform !== 'linux') return [];
  const hasOne = (environ: string) =>
    variables.some((one) => environ.includes(one)) && environ.split('\0').some((one) => variables.includes(one));
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && hasOne(readIfThere(`/proc/${name}/environ`)))
    .map(Number);
}

export function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

interface Thread {
  readonly id: string;
  readonly name: string;
  readonly thread_metadata: { readonly archived: boolean };
}

/** Every thread of the workspace, archived ones included. */
export async function threadsOf(workspace: TestWorkspace): Promise<readonly Thread[]> {
  const active = await workspace.person.call('GET', `/guilds/${workspace.guildId}/threads/active`);
  const archived = await workspace.person.call(
    'GET',
    `/channels/${workspace.channelId}/threads/archived/public?limit=100`,
  );
  return [...active.body.threads, ...archived.body.threads];
}

/** The names of all threads, sorted; archived ones in brackets. */
export async function threadNames(workspace: TestWorkspace): Promise<readonly string[]> {
  const all = await threadsOf(workspace);
  return all.map(({ name, thread_metadata: { archived } }) => (archived ? `(${name})` : name)).sort();
}

/** The messages in the one thread of this name, oldest first, without the first message of the thread. */
export async function messagesIn(workspace: TestWorkspace, name: string): Promise<readonly WireMessage[]> {
  const [thread, ...others] = (await threadsOf(workspace)).filter((one) => one.name === name);
  if (thread === undefined) return [];
  if (others.length > 0) throw new Error(`there is more than one thread ${name}`);
  const messages = await workspace.person.messages(thread.id);
  return messages.filter(({ type }) => type === 0).toReversed();
}

/** The text without the small lines for host, session and cost. */
export async function saidIn(workspace: TestWorkspace, name: string): Promise<readonly string[]> {
  return (await messagesIn(workspace, name)).map(({ content }) => withoutSmall(content));
}

export function withoutSmall(content: string): string {
  return content
    .split('\n')
    .filter((line) => !line.startsWith('-# '))
    .join('\n');
}

/** Resolves when the thread contains exactly this, and fails with the difference. */
export async function untilSaid(
  workspace: TestWorkspace,
  name: string,
  said: readonly string[],
  timeout = 15_000,
): Promise<void> {
  let seen = { changes: -1, at: 0, failure: undefined as unknown };
  await vi.waitFor(
    async () => {
      // Three requests show what is there: they are only worth it after a change, or on another server of the same folder.
      if (seen.changes === workspace.changes() && Date.now() - seen.at < 1_000) throw seen.failure;
      seen = { changes: workspace.changes(), at: Date.now(), failure: undefined };
      try {
        expect(await saidIn(workspace, name)).toEqual(said);
      } catch (failure) {
        seen.failure = failure;
        throw failure;
      }
    },
    { timeout, interval: 50 },
  );
}

/** Long enough for a busy machine. */
export function soon<T>(check: () => T | Promise<T>): Promise<T> {
  return vi.waitFor(check, { timeout: 10_000, interval: 20 });
}

export function fixture(name: string): Record<string, unknown> {
  return JSON.parse(readFileSync(join(FIXTURES, 'hooks', `${name}.json`), 'utf8'));
}

export function transcriptFixture(name = 'transcript'): string {
  return join(FIXTURES, `${name}.jsonl`);
}

/** A recorded Stop with another text, and without a transcript, so that nothing else is posted. */
export function stopInput(text: string, more: Record<string, unknown> = {}) {
  return {
    ...fixture('Stop'),
    transcript_path: '/nowhere/transcript.jsonl',
    prompt_id: undefined,
    last_assistant_message: text,
    ...more,
  };
}

// The fake Claude Code (fake-claude.mjs) in a pane of a machine, and its controls for tests.

import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { vi } from 'vitest';
import type { Home } from '../../home/home.ts';
import { loadThreadRecords, type ThreadRecord } from '../../threads/registry.ts';
import { DROP } from './hook-process.ts';
import type { TmuxServer } from './tmux-server.ts';

export const FAKE_CLAUDE = fileURLToPath(new URL('./fake-claude.mjs', import.meta.url));

export interface Place {
  readonly home: Home;
  readonly tmux: TmuxServer;
  readonly env: Readonly<Record<string, string>>;
}

interface Noted {
  readonly kind: 'prompt' | 'slash' | 'shell' | 'approved' | 'into-dialog' | 'key' | 'chosen';
  readonly text: string;
}

type Order =
  | 'choice'
  | 'offer'
  | 'busy'
  | 'idle'
  | 'dialog'
  | 'next'
  | 'slow'
  | 'late'
  | 'close'
  | 'draft'
  | 'swallow'
  | 'mute'
  | 'asksModel'
  | 'replies'
  | 'exit';

export interface FakeClaude {
  readonly session: string;
  /** The thread that its SessionStart created, or that was created for its session. */
  readonly thread: string;
  record(): ThreadRecord;
  /** Everything it recorded, in order. */
  noted(): readonly Noted[];
  /** The submitted prompts, in order. */
  prompts(): readonly string[];
  tell(order: Order, value?: unknown): Promise<{ box: string; stash?: string; swallowed: number }>;
}

export interface FakeOptions {
  /** Started from a shell that stays when it exits. */
  readonly inShell?: boolean;
  readonly size?: readonly [width: number, height: number];
  /** Started again in the shell of an existing session. */
  readonly again?: boolean;
  readonly remainOnExit?: boolean;
  readonly replies?: boolean;
  /** False: it was started before our hooks were installed. A path: the script that it reports to. */
  readonly hooks?: boolean | string;
  /** Creates a thread for a session that does not report itself. */
  readonly announce?: () => Promise<unknown>;
}

export async function startFakeClaude(place: Place, session: string, options: FakeOptions = {}): Promise<FakeClaude> {
  const folder = join(place.tmux.dir, `fake-${Buffer.from(session).toString('hex')}`);
  mkdirSync(folder, { recursive: true });
  for (const file of ['ready', 'control']) rmSync(join(folder, file), { force: true });
  const began = Date.now();
  const { hooks = true } = options;
  launch(place, session, options, [
    ...[process.execPath, FAKE_CLAUDE, folder],
    ...(typeof hooks === 'string' ? [hooks] : hooks ? [DROP] : []),
  ]);
  const mine = () =>
    loadThreadRecords(place.home).find((record) =>
      hooks
        ? record.sessionName === session && record.claudeSession !== '' && record.at >= began - 5
        : record.sessionName === session && !record.closed,
    );
  const wait = { timeout: 20_000, interval: 25 };
  await vi.waitFor(() => {
    if (!existsSync(join(folder, 'ready'))) throw new Error('the stand-in has not started');
  }, wait);
  await options.announce?.();
  await vi.waitFor(() => {
    if (mine() === undefined) throw new Error(`${session} has not been reported`);
  }, wait);
  const claude: FakeClaude = {
    session,
    thread: mine()?.thread ?? '',
    record: () => mine() as ThreadRecord,
    ...standInAt(folder),
  };
  if (options.replies === false) await claude.tell('replies', false);
  return claude;
}

/** The fake Claude Code that was started with this folder, however it was started. */
export function standInAt(folder: string): Pick<FakeClaude, 'noted' | 'prompts' | 'tell'> {
  const noted = () =>
    readIfThere(join(folder, 'record'))
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Noted);
  return {
    noted,
    prompts: () => noted().flatMap((one) => (one.kind === 'prompt' ? [one.text] : [])),
    async tell(order, value) {
      const socket = connect(join(folder, 'control'));
      socket.write(JSON.stringify({ order, value }));
      return JSON.parse(await text(socket));
    },
  };
}

function launch(
  { tmux, env }: Place,
  session: string,
  { inShell, size = [120, 40], again, remainOnExit }: FakeOptions,
  program: readonly string[],
): void {
  const variables = Object.entries(env).flatMap(([name, value]) => ['-e', `${name}=${value}`]);
  const target = `=${session}:`;
  if (!again) {
    const [width, height] = size.map(String) as [string, string];
    const what = inShell ? ['sh'] : program;
    const about = ['-x', width, '-y', height, '-c', tmux.dir, ...variables];
    tmux.call('new-session', '-d', '-s', session, ...about, ...what);
  }
  if (inShell || again) tmux.call('send-keys', '-t', target, program.join(' '), 'Enter');
  if (remainOnExit) tmux.call('set-option', '-p', '-t', target, 'remain-on-exit', 'on');
}

function readIfThere(path: string): string {
  return existsSync(path) ? readFileSync(path, 'utf8') : '';
}

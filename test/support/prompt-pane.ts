// A pane that shows recorded dialogs of Claude Code, with a transcript and a thread, and the hook that Claude Code would
// start beside a dialog: the compiled one, as a real process.

import { type ChildProcess, spawn } from 'node:child_process';
import { appendFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, vi } from 'vitest';
import { type PermissionRequestInput, parseHookInput } from '../../agents/claude/hook-event.ts';
import { snowflakeTime } from '../../core/snowflake.ts';
import { loadThreadRecords, type ThreadRecord } from '../../threads/registry.ts';
import { openTestCourier } from './courier-setup.ts';
import { fixture, type Machine, type PaneEnv } from './hook-process.ts';
import type { TestWorkspace, WireMessage } from './workspace.ts';

const HOOK = fileURLToPath(new URL('../../dist/hooks/ask', import.meta.url));
const PROGRAM = fileURLToPath(new URL('./show-screen.mjs', import.meta.url));
const SCREENS = fileURLToPath(new URL('../fixtures/screens/2.1.197/120x40/', import.meta.url));
const WAIT = { timeout: 15_000, interval: 25 } as const;

export interface PromptPane {
  readonly session: string;
  readonly env: PaneEnv;
  readonly thread: string;
  record(): ThreadRecord;
  /** Draws a recorded screen, by its name. */
  show(screen: string): Promise<void>;
  exit(): Promise<void>;
  /** A request as Claude Code would make it here; the tool use is in the transcript, or with `said` only later. */
  input(name: string, more?: Partial<PermissionRequestInput>, said?: SaidLate): PermissionRequestInput;
  /** Adds the result of the last requested tool to the transcript. */
  result(isError?: boolean): void;
}

/** A text before the tool use. Claude Code writes both after it has started the hook. */
export interface SaidLate {
  readonly text: string;
  readonly afterMs: number;
}

/** Reports an event like a hook of the pane. */
type Report = (env: PaneEnv, input: object) => Promise<unknown> | unknown;

let ids = 0;

export async function startPromptPane(
  machine: Machine,
  session = 'web',
  options: { readonly inShell?: boolean; readonly report?: Report } = {},
): Promise<PromptPane> {
  const socket = join(machine.tmux.dir, `${session}.ctl`);
  const transcript = join(machine.tmux.dir, `${session}.jsonl`);
  const claudeSession = `session-${session}-${++ids}`;
  const program = [process.execPath, PROGRAM, socket];
  const { tmux } = machine;
  rmSync(socket, { force: true }); // from an earlier session of this name
  tmux.call(
    ...['new-session', '-d', '-s', session, '-x', '120', '-y', '40', '-c', tmux.dir],
    ...(options.inShell ? ['sh'] : program),
  );
  if (options.inShell) tmux.call('send-keys', '-t', `=${session}:`, program.join(' '), 'Enter');
  await vi.waitFor(() => expect(existsSync(socket)).toBe(true), WAIT);
  writeFileSync(transcript, '');
  const env = machine.paneEnv(`=${session}:`);
  const facts = { session_id: claudeSession, transcript_path: transcript, cwd: tmux.dir };
  const report = options.report ?? openTestCourier(machine).deliver;
  await report(env, { ...fixture('SessionStart'), ...facts });
  const record = () =>
    loadThreadRecords(machine.home).findLast((one) => one.sessionName === session && !one.closed) as ThreadRecord;
  await vi.waitFor(() => expect(record()?.claudeSession).toBe(claudeSession), WAIT);
  const write = (line: object) => appendFileSync(transcript, `${JSON.stringify({ isSidechain: false, ...line })}\n`);
  let last = { id: '', promptId: '' };
  return {
    session,
    env,
    thread: record().thread,
    record,
    show: (screen) => draw(socket, screen),
    exit: async () => void (await command(socket, { exit: true }).catch(() => '')),
    input(name, more = {}, said) {
      const parsed = parseHookInput({ ...fixture(`PermissionRequest.${name}`), ...facts, ...more });
      if (parsed?.hook_event_name !== 'PermissionRequest') throw new Error(`${name}: no request`);
      const input = { prompt_id: `prompt-${++ids}`, ...more } as const;
      last = { id: `tool-${++ids}`, promptId: input.prompt_id ?? '' };
      const prompt = { type: 'user', origin: { kind: 'human' }, promptId: last.promptId };
      write({ ...prompt, uuid: `u-${++ids}`, message: { role: 'user', content: 'do it' } });
      const use = { type: 'tool_use', id: last.id, name: parsed.tool_name, input: parsed.tool_input };
      const message = { id: `m-${++ids}`, role: 'assistant', stop_reason: 'tool_use' };
      const say = (content: object) =>
        write({ type: 'assistant', uuid: `a-${++ids}`, message: { ...message, content: [content] } });
      if (said === undefined) say(use);
      else
        setTimeout(() => {
          if (!existsSync(transcript)) return; // the test has ended
          say({ type: 'text', text: said.text });
          say(use);
        }, said.afterMs);
      return { ...parsed, prompt_id: last.promptId };
    },
    result(isError = false) {
      const content = [{ type: 'tool_result', tool_use_id: last.id, content: '', is_error: isError }];
      const line = { type: 'user', promptId: last.promptId, uuid: `r-${++ids}` };
      write({ ...line, message: { role: 'user', content } });
    },
  };
}

async function draw(socket: string, screen: string): Promise<void> {
  const facts = readFileSync(join(SCREENS, 'facts.tsv'), 'utf8')
    .split('\n')
    .map((line) => line.split('\t'))
    .find(([name]) => name === screen);
  if (facts === undefined) throw new Error(`there is no recorded screen ${screen}`);
  const ansi = readFileSync(join(SCREENS, `${screen}.ansi`), 'utf8');
  expect(await command(socket, { ansi, x: Number(facts[1]), y: Number(facts[2]) })).toBe('drawn');
}

async function command(path: string, order: object): Promise<string> {
  const socket = connect(path);
  socket.write(`${JSON.stringify(order)}\n`);
  return text(socket);
}

export interface HookProcess {
  readonly child: ChildProcess;
  /** Its whole output, when Claude Code's pipes are closed. */
  readonly printed: Promise<string>;
  readonly ended: Promise<number | null>;
  readonly hasEnded: () => boolean;
}

export function startHook(
  machine: Pick<Machine, 'env'>,
  pane: Pick<PromptPane, 'env'>,
  input: unknown,
  env: Readonly<Record<string, string>> = {},
  program = HOOK,
): HookProcess {
  const child = spawn(program, { env: { ...machine.env, ...pane.env, ...env }, stdio: ['pipe', 'pipe', 'pipe'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  child.stdin.on('error', () => {});
  child.stdin.end(typeof input === 'string' ? input : JSON.stringify(input));
  const both = Promise.all([text(child.stdout), text(child.stderr)]);
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  return {
    child,
    printed: both.then((parts) => parts.join('')),
    ended,
    hasEnded: () => child.exitCode !== null || child.signalCode !== null,
  };
}

interface Button {
  readonly label?: string;
  readonly custom_id: string;
  readonly options?: readonly { readonly value: string; readonly label: string }[];
}

export function buttonsOf(message: WireMessage): readonly Button[] {
  return (message.components as readonly { components: readonly Button[] }[]).flatMap(({ components }) => components);
}

export function buttonOf(message: WireMessage, label: string): string {
  const found = buttonsOf(message).find((one) => one.label?.includes(label));
  if (found === undefined) throw new Error(`no button ${label}: ${JSON.stringify(message)}`);
  return found.custom_id;
}

/** A plain "yes" counts only when the message could be read, three seconds after it appeared. */
export async function untilTextCounts({ id }: Pick<WireMessage, 'id'>): Promise<void> {
  await sleep(snowflakeTime(id) + 3_050 - Date.now());
}

/** The newest prompt in a thread, once it has its buttons. */
export async function promptIn(
  workspace: Pick<TestWorkspace, 'person'>,
  thread: string,
  about: RegExp = /./,
): Promise<WireMessage> {
  return vi.waitFor(async () => {
    const found = (await workspace.person.messages(thread)).find(
      (one) => about.test(one.content) && buttonsOf(one).some((b) => b.custom_id.startsWith('p:')),
    );
    if (found === undefined) throw new Error('no prompt is open in the thread');
    return found;
  }, WAIT);
}

export async function messageNow(workspace: Pick<TestWorkspace, 'person'>, message: WireMessage): Promise<WireMessage> {
  const path = `/channels/${message.channel_id}/messages/${message.id}`;
  return (await workspace.person.call('GET', path)).body;
}

/** Waits until the prompt has lost its buttons, and returns its last line. */
export async function verdictOf(
  workspace: Pick<TestWorkspace, 'person'>,
  message: WireMessage,
  timeout = 15_000,
): Promise<string> {
  return vi.waitFor(
    async () => {
      const now = await messageNow(workspace, message);
      expect(now.components).toEqual([]);
      return now.content.split('\n').at(-1) ?? '';
    },
    { timeout, interval: 25 },
  );
}

export const decisionIn = (printed: string) => JSON.parse(printed).hookSpecificOutput.decision;

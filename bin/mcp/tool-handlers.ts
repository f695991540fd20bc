// What each tool does. Loaded at the first call, so that the server starts quickly; what types into panes only when it is used.

import { ThreadmuxError } from '../../core/errors.ts';
import { settingFor } from '../../core/session-settings.ts';
import { cleanInbound, untrustedText } from '../../core/untrusted-text.ts';
import {
  allowedDirectory,
  type Caller,
  findCaller,
  findOther,
  findVisible,
  isOwnSession,
  isVisible,
} from '../acts/agent-limits.ts';
import { startByBridge } from '../acts/ask-bridge.ts';
import { endSession } from '../acts/end-session.ts';
import { interruptSession } from '../acts/interrupt-session.ts';
import { lastReply } from '../acts/last-reply.ts';
import { listEverywhere, sessionData } from '../acts/list-sessions.ts';
import { type AskHere, fileToSend, firstAnswer, ownPaneOrFail, postInThread } from '../acts/own-thread.ts';
import { DEFAULT_LINES, readScreenLines } from '../acts/read-screen.ts';
import { waitForReply } from '../acts/wait-session.ts';
import { hostAndName, openInnerFinder, type SessionFinder } from '../find-session.ts';

/** The input has passed the schema of its tool. */
export type ToolInput = Readonly<Record<string, unknown>>;

interface ToolCall {
  readonly finder: SessionFinder;
  readonly caller: Caller;
  readonly signal: AbortSignal;
  /** If the client can ask in the terminal. */
  readonly askHere: AskHere | undefined;
}

type Act = (input: never, call: ToolCall) => Promise<Readonly<Record<string, unknown>>>;

const WAIT_SECONDS = 600;
const ASK_SECONDS = 3_600;
/** How long a pane may take until it is ready. */
const READY_MS = 10_000;
const CONFIRM_MS = 30_000;
const DIALOG_MS = 1_500;
const START_DIALOG_MS = 5_000;

const ACTS: Readonly<Record<string, Act>> = {
  async list_sessions(input: { host?: string; prefix?: string }, { finder, caller }) {
    const { found, away, unreachable } = await listEverywhere(finder, input);
    const sessions = found
      .filter((one) => isVisible(one, caller, finder))
      .map((one) => ({ ...sessionData(one), own: isOwnSession(one, caller) }));
    const gone = away
      .filter(({ thread }) => caller.record === undefined || serverOf(thread, finder) === caller.record.server)
      .map((one) => ({ ...one, own: false }));
    return {
      sessions: [...sessions, ...gone].map(({ name, host, state, for: what, directory, own }) => ({
        session: named(name, host, finder),
        name,
        host,
        state,
        for: what,
        directory,
        own,
      })),
      unreachable: unreachable.map(({ host, message }) => ({ host, message })),
    };
  },

  async start_session(input: StartInput, { finder, caller }) {
    const { session: name, host } = hostAndName(finder, input.name, input.host);
    const directory = await allowedDirectory({ name, host, directory: input.directory }, caller, finder);
    const settings = {
      ...(input.agent === undefined ? {} : settingFor('agent', input.agent)),
      ...(input.worktree === undefined ? {} : { worktree: input.worktree }),
    };
    const start = { name, host, directory, settings, continues: false, byAgent: true };
    const { done, target } = await startByBridge(finder, start);
    const sends = input.prompt !== undefined && done.created;
    const { submitFirst } = await import('../acts/send-and-wait.ts');
    const sent = sends
      ? (await submitFirst(target, cleanInbound(input.prompt ?? ''), finder, START_DIALOG_MS)).outcome
      : 'not_sent';
    return {
      session: named(name, host, finder),
      created: done.created,
      state: done.is,
      branch: done.branch,
      prompt: sent,
    };
  },

  async send_message({ session, text }: { session: string; text: string }, { finder, caller }) {
    const target = await findOther(session, caller, finder);
    const words = cleanInbound(text).trim();
    if (words === '') throw new ThreadmuxError('bad_usage', 'the text is empty');
    const { submitText } = await import('../acts/submit-text.ts');
    const waits = { waitMs: READY_MS, dialogMs: DIALOG_MS, confirmMs: CONFIRM_MS, mayQueue: true };
    const { outcome } = await submitText(target, words, finder, { ...waits, allowShell: finder.config.allowShell });
    return { outcome };
  },

  async wait({ session, timeout_seconds: seconds = WAIT_SECONDS }: WaitInput, { finder, caller, signal }) {
    const target = await findOther(session, caller, finder);
    const { state, about, reply } = await waitForReply(target, finder, { timeoutMs: seconds * 1_000, signal });
    return { state, about, reply };
  },

  async read_reply({ session }: { session: string }, { finder, caller }) {
    const reply = await lastReply(await findVisible(session, caller, finder), finder);
    return { reply: reply?.text ?? null, finished: reply?.finished ?? false };
  },

  async read_screen({ session, lines = DEFAULT_LINES }: { session: string; lines?: number }, { finder, caller }) {
    const screen = await readScreenLines(await findVisible(session, caller, finder), lines);
    const { text, lines: count, omittedLines, dead, exitStatus } = screen;
    return { text, lines: count, omitted_lines: omittedLines, dead, exit_status: exitStatus };
  },

  async interrupt_session({ session }: { session: string }, { finder, caller }) {
    return { interrupted: await interruptSession(await findOther(session, caller, finder)) };
  },

  async stop_session({ session }: { session: string }, { finder, caller }) {
    const target = await findOther(session, caller, finder).catch((error: unknown) => {
      if (error instanceof ThreadmuxError && error.code === 'session_not_found') return undefined;
      throw error;
    });
    if (target !== undefined) await endSession(target, finder);
    return { stopped: target !== undefined };
  },

  async send_file({ path, text = '' }: { path: string; text?: string }, { finder }) {
    const pane = await ownPaneOrFail(finder);
    const say = { text: untrustedText(text, 1_500), silent: true, paths: [fileToSend(path, process.cwd())] };
    await postInThread(pane, say, finder.home);
    return { sent: true };
  },

  async notify({ text }: { text: string }, { finder }) {
    await postInThread(
      await ownPaneOrFail(finder),
      { text: `🔔 ${untrustedText(text, 1_500)}`, silent: false },
      finder.home,
    );
    return { posted: true };
  },

  async ask_person({ question, options = [], timeout_seconds: seconds = ASK_SECONDS }: AskInput, call) {
    const { finder, signal, caller } = call;
    // Claude Code leaves its dialog open after the answer from the thread, and a dialog holds up all messages of the thread.
    const here = caller.record?.shell === 'no' ? undefined : call.askHere;
    const asked = { question, options, seconds };
    const { answer } = await firstAnswer(await ownPaneOrFail(finder), asked, finder.home, { here, signal });
    return { answer: answer ?? null };
  },
};

interface StartInput {
  readonly name: string;
  readonly host?: string;
  readonly directory?: string;
  readonly agent?: string;
  readonly prompt?: string;
  readonly worktree?: boolean;
}

interface WaitInput {
  readonly session: string;
  readonly timeout_seconds?: number;
}

interface AskInput {
  readonly question: string;
  readonly options?: readonly string[];
  readonly timeout_seconds?: number;
}

function named(name: string, host: string, { config }: SessionFinder): string {
  return host === config.defaultHost ? name : `${name}@${host}`;
}

function serverOf(thread: string, { records }: SessionFinder): string | undefined {
  return records.find((one) => one.thread === thread)?.server;
}

/** Opened again for each call: the configuration and the registry may have changed. */
export async function callTool(
  name: string,
  input: ToolInput,
  client: Pick<ToolCall, 'signal' | 'askHere'>,
): Promise<ToolInput> {
  const act = ACTS[name];
  if (act === undefined) throw new ThreadmuxError('not_found', `there is no tool ${JSON.stringify(name)}`);
  const finder = openInnerFinder();
  return act(input as never, { finder, caller: await findCaller(finder), ...client });
}

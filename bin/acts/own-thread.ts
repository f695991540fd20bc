// What a program does in the thread of the session that it runs in: post a line or a file, and ask a person. The session is known from
// TMUX_PANE. The program waits with a bell, like a hook: if it is killed, its question is closed.

import { execFileSync } from 'node:child_process';
import { closeSync, constants, existsSync, openSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { newRequestId } from '../../bridge/program-requests.ts';
import { ThreadmuxError } from '../../core/errors.ts';
import type { Home } from '../../home/home.ts';
import type { PostOrder } from '../../hooks/orders.ts';
import { readProgramAnswer } from '../../threads/prompts/program-question.ts';
import type { SessionPane } from '../../threads/session-threads.ts';
import { ownPane, type SessionFinder } from '../find-session.ts';
import { giveOrder, orderFailure, outcomeWithin, takeOutcome } from './give-order.ts';

const POSTED_WITHIN_MS = 30_000;

export async function ownPaneOrFail(finder: SessionFinder): Promise<SessionPane> {
  const pane = await ownPane(finder);
  if (pane !== undefined) return pane;
  throw new ThreadmuxError('bad_usage', 'this does not run inside a tmux session, so it has no thread', {
    hint: 'Run it in a pane of a tmux session on this machine.',
  });
}

type Post = Pick<PostOrder, 'text' | 'silent'> & Partial<Pick<PostOrder, 'paths' | 'attached'>>;

/** Resolves with the id of the thread. */
export async function postInThread(session: SessionPane, say: Post, home: Home): Promise<string> {
  const order: PostOrder = {
    id: newRequestId(),
    order: 'post',
    at: Date.now(),
    session: ordered(session),
    paths: [],
    ...say,
  };
  giveOrder(home, order);
  const done = await outcomeWithin(home, order, POSTED_WITHIN_MS);
  if (done === undefined)
    throw new ThreadmuxError('discord_unreachable', 'it is not posted yet', {
      hint: 'threadmux keeps trying; do not send it again. `threadmux logs` says why it waits.',
    });
  if (done.outcome === 'posted') return done.thread ?? '';
  if (done.outcome === 'refused' && say.paths?.length)
    throw new ThreadmuxError('bad_usage', `the file was not sent: ${done.because.replaceAll('`', '')}`, {
      hint: "Only plain files in the session's project can be sent, at most 10 MiB each, and no hidden ones.",
    });
  throw orderFailure(done, session.sessionName);
}

/** Checked again where it is read; here only so that a wrong path is said at once. */
export function fileToSend(path: string, cwd: string): string {
  const absolute = resolve(cwd, path);
  const stat = /[\0\n]/.test(path) ? undefined : statSync(absolute, { throwIfNoEntry: false });
  if (stat?.isFile()) return absolute;
  throw new ThreadmuxError('not_found', `there is no file ${JSON.stringify(path)}`, { hint: 'Check the path.' });
}

export interface Question {
  readonly question: string;
  readonly options: readonly string[];
  readonly seconds: number;
}

const LOOK_MS = 60;
/** A tap in the last moment may still arrive. */
const LATE_MS = 3_000;

/** Undefined if nobody answered in time. */
async function askInThread(
  session: SessionPane,
  asked: Question,
  home: Home,
  signal: AbortSignal,
): Promise<string | undefined> {
  checkQuestion(asked);
  const id = newRequestId();
  const bell = openBell(home, id);
  try {
    const at = Date.now();
    giveOrder(home, { ...asked, id, order: 'ask', at, session: ordered(session), asker: process.pid });
    for (const deadline = at + asked.seconds * 1_000 + LATE_MS; Date.now() < deadline; ) {
      const answer = takeAnswer(home, id);
      if (answer !== undefined) return answerIn(answer, session);
      const outcome = takeOutcome(home, { id });
      if (outcome !== undefined && outcome.outcome !== 'asked') throw orderFailure(outcome, session.sessionName);
      await sleep(LOOK_MS, undefined, { signal });
    }
    return undefined;
  } finally {
    bell.close();
    takeOutcome(home, { id });
  }
}

const MOST_OPTIONS = 25;

/** More would not fit under a message. */
function checkQuestion({ question, options, seconds }: Question): void {
  const wrong = (what: string) => new ThreadmuxError('bad_usage', what);
  if (question.trim() === '') throw wrong('the question is empty');
  if (question.length > 4_000) throw wrong('the question is longer than 4,000 characters');
  if (options.length > MOST_OPTIONS) throw wrong(`there are more than ${MOST_OPTIONS} options`);
  if (options.some((one) => one.trim() === '' || one.length > 200)) throw wrong('an option is empty or too long');
  if (new Set(options.map((one) => one.trim().toLowerCase())).size !== options.length)
    throw wrong('two options are the same');
  if (!(seconds > 0)) throw wrong('the time to answer must be longer than 0 seconds');
}

/** The process that gives the answer rings it, and so knows whether this process still waits. */
function openBell(home: Home, id: string): { close(): void } {
  const path = join(home.folder('answers'), `${id}.bell`);
  execFileSync('mkfifo', ['-m', '600', path]);
  const held = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  return {
    close() {
      closeSync(held);
      rmSync(path, { force: true });
    },
  };
}

/** Claims the answer by renaming it: an answer that was withdrawn in the same moment was not given. */
function takeAnswer(home: Home, id: string): string | undefined {
  const path = join(home.folder('answers'), id);
  if (!existsSync(path)) return undefined;
  try {
    renameSync(path, `${path}.taken`);
  } catch {
    return undefined;
  }
  return readFileSync(`${path}.taken`, 'utf8');
}

/** Without an answer if it was let go: the question belongs nowhere, or its time is up. */
function answerIn(text: string, { sessionName }: SessionPane): string | undefined {
  if (text === '') return undefined;
  const answer = readProgramAnswer(text);
  if (answer === undefined) throw orderFailure({ outcome: 'nowhere', thread: null, because: '' }, sessionName);
  return answer;
}

function ordered({ started: _, ...session }: SessionPane) {
  return { ...session, group: session.group };
}

/** Resolves with undefined if it cannot be asked, or is not answered, in the terminal. Rejects when the signal is aborted. */
export type AskHere = (asked: Question, signal: AbortSignal) => Promise<string | undefined>;

interface FirstAnswer {
  /** Undefined if nobody answered in time. */
  readonly answer: string | undefined;
  readonly by: 'thread' | 'terminal';
}

/** Asks in the thread and in the terminal at the same time. The first answer counts, and closes the question in the other place. */
export async function firstAnswer(
  session: SessionPane,
  asked: Question,
  home: Home,
  { here, signal: given }: { readonly here?: AskHere | undefined; readonly signal?: AbortSignal } = {},
): Promise<FirstAnswer> {
  const answered = new AbortController();
  const signal = given === undefined ? answered.signal : AbortSignal.any([given, answered.signal]);
  const there = askInThread(session, asked, home, signal).then((answer): FirstAnswer => ({ answer, by: 'thread' }));
  const both = [there, ...(here === undefined ? [] : [inTerminal(here(asked, signal), there)])];
  try {
    return await Promise.race(both);
  } finally {
    answered.abort();
    await there.catch(() => {}); // the question in the thread is closed before this process ends
  }
}

async function inTerminal(here: Promise<string | undefined>, there: Promise<FirstAnswer>): Promise<FirstAnswer> {
  const answer = await here;
  return answer === undefined ? there : { answer, by: 'terminal' };
}

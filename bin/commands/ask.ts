// threadmux file, notify and ask: for programs in a session, about the thread of that session.

import { createInterface } from 'node:readline/promises';
import { EXIT, ThreadmuxError } from '../../core/errors.ts';
import { untrustedText } from '../../core/untrusted-text.ts';
import { fileToSend, firstAnswer, ownPaneOrFail, postInThread, type Question } from '../acts/own-thread.ts';
import { openInnerFinder } from '../find-session.ts';
import { printable, printForeignText, printJson, printNote, withProgress } from '../print.ts';

interface ThreadFlagsOfProgram {
  readonly json?: boolean;
}

export async function sendFile(path: string, flags: ThreadFlagsOfProgram & { readonly text?: string }): Promise<void> {
  const finder = openInnerFinder();
  const file = fileToSend(path, process.cwd());
  const session = await ownPaneOrFail(finder);
  const say = { text: flags.text ?? '', silent: true, paths: [file] };
  const thread = await withProgress('sending the file', postInThread(session, say, finder.home));
  if (flags.json) printJson({ host: session.host, name: session.sessionName, file, thread });
  else printNote(`Sent ${printable(path)} to the thread of ${printable(session.sessionName)}.`);
}

export async function notifyThread(words: readonly string[], flags: ThreadFlagsOfProgram): Promise<void> {
  if (words.join('').trim() === '') throw new ThreadmuxError('bad_usage', 'the text is empty');
  const finder = openInnerFinder();
  const session = await ownPaneOrFail(finder);
  const say = { text: `🔔 ${untrustedText(words.join(' '), 1_500)}`, silent: false };
  const thread = await withProgress('posting', postInThread(session, say, finder.home));
  if (flags.json) printJson({ host: session.host, name: session.sessionName, thread });
  else printNote(`Posted in the thread of ${printable(session.sessionName)}.`);
}

interface AskFlags extends ThreadFlagsOfProgram {
  readonly option?: readonly string[];
  readonly timeout: number;
}

/** In a terminal, it can be answered there as well: the first answer counts. */
export async function ask(question: string, flags: AskFlags): Promise<void> {
  const finder = openInnerFinder();
  const session = await ownPaneOrFail(finder);
  const asked: Question = { question, options: flags.option ?? [], seconds: flags.timeout };
  const here = process.stdin.isTTY && process.stderr.isTTY ? answerHere : undefined;
  const { answer, by } = await firstAnswer(session, asked, finder.home, { here });
  if (answer === undefined) process.exitCode = EXIT.timeIsUp;
  if (flags.json) return printJson({ answer: answer ?? null, by: answer === undefined ? null : by });
  if (answer === undefined) return printNote('Nobody answered in time.');
  printForeignText(answer);
}

/** Undefined if the terminal was closed, or the question was answered elsewhere. */
async function answerHere({ question, options }: Question, signal: AbortSignal): Promise<string | undefined> {
  const lines = createInterface({ input: process.stdin, output: process.stderr, signal });
  let isStopped = false;
  lines.once('SIGINT', () => {
    isStopped = true;
    lines.close();
  });
  const list = options.map((label, at) => `  ${at + 1}. ${printable(label)}\n`).join('');
  lines.setPrompt(`${printable(question)}\n${list}Answer here or in the thread: `);
  try {
    lines.prompt();
    // Not `question()`: a line that comes before it is called again would be lost.
    for await (const line of lines) {
      const typed = line.trim();
      const answer =
        options.length === 0 ? typed : (options[Number(typed) - 1] ?? options.find((one) => isSame(one, typed)));
      if (answer !== undefined && answer !== '') return answer;
      lines.prompt();
    }
  } finally {
    lines.close();
  }
  if (isStopped) throw new ThreadmuxError('not_submitted', 'the question was cancelled');
  return undefined;
}

const isSame = (option: string, typed: string) => option.trim().toLowerCase() === typed.toLowerCase();

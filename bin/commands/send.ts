// threadmux send: types into a session with the same checks as the bridge. If typing is not safe, it reports why and does not
// touch the pane.

import { text as readAll } from 'node:stream/consumers';
import { EXIT, ThreadmuxError } from '../../core/errors.ts';
import { cleanInbound } from '../../core/untrusted-text.ts';
import { sendAndWait } from '../acts/send-and-wait.ts';
import { typeText } from '../acts/type-text.ts';
import type { SessionFlags } from '../command-line.ts';
import { findTarget, openSessionFinder } from '../find-session.ts';
import { printable, printJson, printNote, withProgress } from '../print.ts';
import { printWaited } from './wait.ts';

interface SendFlags extends SessionFlags {
  /** How long to wait for the pane to be ready, in seconds. */
  readonly wait: number;
  readonly waitReply?: boolean;
  /** How long to wait for the reply, in seconds. */
  readonly timeout: number;
}

/** The user already has a shell. */
const allowShell = true;

export async function send(name: string | undefined, words: readonly string[], flags: SendFlags): Promise<void> {
  const text = await wholeText(words);
  const finder = openSessionFinder();
  const target = await findTarget(finder, name, flags.host);
  const { host, session } = target;
  const waitMs = flags.wait * 1_000;
  if (flags.waitReply) {
    const sending = sendAndWait(target, text, finder, { waitMs, timeoutMs: flags.timeout * 1_000, allowShell });
    return printWaited({ host, name: session.name }, await withProgress(`waiting for ${session.name}`, sending), flags);
  }
  const sent = await withProgress(
    `typing into ${session.name}`,
    typeText(target, text, finder, { waitMs, allowShell }),
  );
  if (sent.outcome !== 'typed') process.exitCode = EXIT.failed;
  const because = sent.outcome === 'typed' ? null : sent.because;
  if (flags.json) return printJson({ host, name: session.name, outcome: sent.outcome, because });
  const where = `${printable(session.name)} on ${host}`;
  if (sent.outcome === 'typed') printNote(`Typed into ${where}.`);
  else if (sent.outcome === 'held') printNote(`The text was typed into ${where}, but not sent: ${because}`);
  else printNote(`Nothing was typed into ${where}: ${because}`);
}

const USAGE =
  'The first word is the session. Write the text after it, or pipe the text: git diff | threadmux send shop';

async function wholeText(words: readonly string[]): Promise<string> {
  if (words.length === 0 && process.stdin.isTTY)
    throw new ThreadmuxError('bad_usage', 'nothing to send', { hint: USAGE });
  const given = words.length > 0 ? words.join(' ') : await readAll(process.stdin);
  const text = cleanInbound(given).trim();
  if (text === '') throw new ThreadmuxError('bad_usage', 'nothing to send: the text is empty', { hint: USAGE });
  return text;
}

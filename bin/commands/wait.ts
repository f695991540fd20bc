// threadmux wait and reply: for scripts that let an agent work and go on when it has finished.

import { EXIT } from '../../core/errors.ts';
import { lastReply } from '../acts/last-reply.ts';
import { type WaitedReply, waitForReply } from '../acts/wait-session.ts';
import type { SessionFlags } from '../command-line.ts';
import { findTarget, openSessionFinder } from '../find-session.ts';
import { printable, printForeignText, printJson, printNote, withProgress } from '../print.ts';

interface WaitFlags extends SessionFlags {
  readonly timeout: number;
}

export async function waitForIdle(name: string | undefined, flags: WaitFlags): Promise<void> {
  const finder = openSessionFinder();
  const target = await findTarget(finder, name, flags.host);
  const { host, session } = target;
  const waiting = waitForReply(target, finder, { timeoutMs: flags.timeout * 1_000 });
  const waited = await withProgress(`waiting for ${session.name}`, waiting);
  printWaited({ host, name: session.name }, waited, flags);
}

const CODES: Readonly<Record<WaitedReply['state'], number>> = {
  idle: EXIT.done,
  needs_person: EXIT.needsPerson,
  timeout: EXIT.timeIsUp,
  ended: EXIT.failed,
};

/** The reply goes to stdout, everything else to stderr. */
export function printWaited(
  about: { readonly host: string; readonly name: string; readonly created?: boolean },
  { state, about: what, reply }: WaitedReply,
  { json }: SessionFlags,
): void {
  process.exitCode = CODES[state];
  if (json) return printJson({ ...about, state, about: what, reply });
  if (reply !== null) printForeignText(reply);
  const name = printable(about.name);
  if (state === 'needs_person') printNote(`${name} needs you (${what}). Answer in its thread or in its terminal.`);
  else if (state === 'timeout') printNote(`${name} is not idle yet (${what}).`);
  else if (state === 'ended' && what === 'shell') printNote(`No agent runs in ${name}: it shows a shell.`);
  else if (state === 'ended') printNote(`${name} has ended.`);
}

export async function printReply(name: string | undefined, flags: SessionFlags): Promise<void> {
  const finder = openSessionFinder();
  const target = await findTarget(finder, name, flags.host);
  const { host, session } = target;
  const reply = await withProgress(`reading ${session.name}`, lastReply(target, finder));
  if (reply === undefined) process.exitCode = EXIT.notFound;
  if (flags.json) {
    const { text = null, finished = null, at } = reply ?? {};
    return printJson({
      host,
      name: session.name,
      reply: text,
      finished,
      at: at === undefined ? null : new Date(at).toISOString(),
    });
  }
  if (reply !== undefined) return printForeignText(reply.text);
  printNote(`${printable(session.name)} has not replied yet, or its agent runs without threadmux's hooks.`);
}

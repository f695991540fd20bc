// Posts what a slash command printed, each output once and for the command that printed it. It is read from the transcript on the
// session's host, because no hook reports it. A model of `!set` becomes the setting of its thread here, if the agent has taken it.

import { setTimeout as sleep } from 'node:timers/promises';
import { driverOf } from '../agents/list.ts';
import type { PrintedText, SlashCommand } from '../agents/slash-command.ts';
import { createKeyedQueue } from '../core/keyed-queue.ts';
import { narrowText } from '../core/narrow-text.ts';
import { untrustedCode } from '../core/untrusted-text.ts';
import { screenBlock } from '../threads/notices.ts';
import type { ThreadRecord } from '../threads/registry.ts';
import type { ServerParts } from './bridge-options.ts';
import { settingLine } from './setting-line.ts';

export interface RanCommand {
  readonly thread: string;
  readonly message: string;
  /** As it was typed. */
  readonly text: string;
  /** See `AcceptedMessage`. */
  readonly setsModel?: string | undefined;
  /** When it was typed (`Date.now`). */
  readonly at: number;
  /** A hook reported it: the agent answers, and prints at most a line. */
  readonly isTurn: boolean;
}

interface Pending extends RanCommand {
  isOver: boolean;
  hasPrinted: boolean;
  /** Its dialog was closed, so it prints now. */
  wake(): void;
}

/** Some commands, such as /compact, print only after a minute. */
const PAUSES_MS = [200, 500, 1_000, 2_000, 4_000, 8_000, 15_000, 30_000, 60_000];
const PAUSES_OF_TURN_MS = [1_000];
/** Clocks of files and programs may differ a little. */
const TOLERANCE_S = 1.5;
/** Something else may have been written since: a later output is a reply to its command. */
const LATE_MS = 5_000;
const REMEMBERED = 500;

export function createPostPrinted({ hosts, threads, outcomes, states, log, signal }: ServerParts) {
  const { registry } = threads;
  const seen = new Set<string>();
  /** Oldest first. */
  const pending = new Set<Pending>();
  const inTurn = createKeyedQueue();
  /** Threads whose screen shows a dialog: a command with a dialog prints when it is closed. */
  const inDialog = new Set<string>();
  states.onScreen((thread, { screen }) => {
    if (screen.kind === 'dialog') inDialog.add(thread);
    else if (inDialog.delete(thread)) for (const one of pending) if (one.thread === thread) one.wake();
  });

  /** Posts everything new that the commands of this thread have printed. */
  async function look(thread: string): Promise<void> {
    const record = registry.get(thread); // /clear starts another transcript
    const { printed, builtin = [] } = driverOf(record?.agent ?? '').commands ?? {};
    const waiting = () => [...pending].filter((one) => one.thread === thread && !one.isOver);
    if (record === undefined || printed === undefined || record.transcript === '') {
      for (const one of waiting()) one.isOver = true;
      return;
    }
    const output = await hosts.get(record.host).sh(printed.script, [record.transcript], {
      doing: 'read what the command printed',
      timeoutMs: 10_000,
      maxBytes: 2 ** 20,
      signal,
    });
    for (const one of printed.parse(output)) {
      const since = (at: number) => (Date.now() - at) / 1_000 + TOLERANCE_S;
      const owner = waiting().find(({ at, text }) => one.age <= since(at) && isOutputOf(text, one, builtin));
      if (owner === undefined || seen.has(one.uuid)) continue;
      remember(one.uuid);
      owner.isOver = owner.hasPrinted = true;
      await post(owner, record, one);
    }
  }

  async function post(command: Pending, record: ThreadRecord, { uuid, text }: PrintedText): Promise<void> {
    const { thread, message, at } = command;
    const model = command.setsModel === undefined ? [] : [modelLine(record, command.setsModel, text)];
    const content = [...(text === '' ? [] : [screenBlock(narrowText(text))]), ...model].join('\n');
    // The first message of a thread may be in its channel.
    const isLate = Date.now() - at > LATE_MS && message !== thread;
    const draft = { content, silent: true, ...(isLate ? { replyTo: message } : {}) };
    if (content !== '') await outcomes.postNotice(thread, [message, 'printed', uuid], draft);
  }

  /** Only what the agent has taken is in force. */
  function modelLine({ thread, agent }: ThreadRecord, model: string, printed: string): string {
    const isTaken = driverOf(agent).model?.isTaken(printed) ?? false;
    const { model: _, ...others } = registry.get(thread)?.settings ?? {};
    const settings = model === '' ? others : { ...others, model };
    const record = isTaken ? registry.change(thread, { settings }) : registry.get(thread);
    return record === undefined ? '' : `⚙️ ${settingLine('model', record, threads, isTaken ? '' : ' was not changed')}`;
  }

  async function tellUnconfirmed({ thread, message, text }: RanCommand): Promise<void> {
    const record = registry.get(thread);
    if (record === undefined) return;
    const line = settingLine('model', record, threads, ' was not changed');
    const said = `${driverOf(record.agent).title} did not confirm ${untrustedCode(text.trim())}, but may use it: look with \`!screen\`.`;
    const content = `⚙️ ${said} The setting of this thread, ${line}`;
    await outcomes.postNotice(thread, [message, 'unconfirmed model'], { content, silent: true, replyTo: message });
  }

  function remember(uuid: string): void {
    seen.add(uuid);
    if (seen.size > REMEMBERED) for (const first of seen) return void seen.delete(first);
  }

  async function untilPrinted(one: Pending): Promise<void> {
    const pauses = one.isTurn ? PAUSES_OF_TURN_MS : PAUSES_MS;
    for (let next = 0; !one.isOver && (next < pauses.length || inDialog.has(one.thread)); next++) {
      const woken = new Promise<void>((resolve) => {
        one.wake = () => {
          next = -1;
          resolve();
        };
      });
      await Promise.race([woken, sleep(pauses[next] ?? pauses.at(-1), undefined, { signal })]);
      if (!one.isOver) await inTurn(one.thread, () => look(one.thread));
    }
  }

  return async (ran: RanCommand): Promise<void> => {
    const one = { ...ran, isOver: false, hasPrinted: false, wake: () => {} };
    pending.add(one);
    try {
      await untilPrinted(one);
    } catch (error) {
      if (!signal.aborted) log.info('what a command printed', { because: (error as Error).message });
    }
    pending.delete(one);
    if (!one.hasPrinted && one.setsModel !== undefined && !signal.aborted) await tellUnconfirmed(one);
  };
}

function isOutputOf(typed: string, { command }: PrintedText, builtin: readonly SlashCommand[]): boolean {
  return command === '' || fullName(command, builtin) === fullName(typed, builtin);
}

function fullName(text: string, builtin: readonly SlashCommand[]): string {
  const [name = '', ...args] = text.trim().split(/\s+/);
  const known = builtin.find(({ aliases }) => aliases?.includes(name.slice(1)));
  return [known === undefined ? name : `/${known.name}`, ...args].join(' ');
}

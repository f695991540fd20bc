// Messages that begin with "/": passed to the agent, held until a person has tapped, or typed as text; and what they print.

import { setTimeout as sleep } from 'node:timers/promises';
import { driverOf } from '../agents/list.ts';
import type { SlashCommand } from '../agents/slash-command.ts';
import { narrowText } from '../core/narrow-text.ts';
import type { ThreadRef } from '../discord/threads.ts';
import { screenBlock } from '../threads/notices.ts';
import type { ServerParts } from './bridge-options.ts';
import { createHeldMessages, type HeldMessages, type HeldOptions } from './held-messages.ts';
import type { AcceptedMessage } from './inbox.ts';
import { createOwnCommands } from './list-own-commands.ts';
import { decideSlash, isPlainCommand } from './slash-decision.ts';

export interface SlashMessages {
  /** `held`: nothing is typed until a person has tapped; the message comes back with `as`. */
  howToSend(message: AcceptedMessage, thread: ThreadRef): Promise<'text' | 'command' | 'held'>;
  /** The user's own commands for the session of this thread. */
  own(thread: string): Promise<readonly SlashCommand[]>;
  /** Posts what a command prints. Never rejects. */
  ran(command: RanCommand): Promise<void>;
  readonly tapped: HeldMessages['tapped'];
  close(): void;
}

export function createSlashMessages(options: HeldOptions): SlashMessages {
  const { config } = options;
  const { registry } = options.threads;
  const list = createOwnCommands(options);
  const held = createHeldMessages(options);
  const own = async (thread: string) => {
    const record = registry.get(thread);
    return record === undefined ? [] : list(record);
  };
  return {
    own,
    ran: createPostPrinted(options),
    tapped: held.tapped,
    close: held.close,
    async howToSend(message, thread) {
      // In a shell, "/bin/ls" is a program.
      const record = registry.get(thread.id);
      const { commands, title } = driverOf(record?.agent ?? '');
      if (record !== undefined && record.shell !== 'no' && record.claudeSession === '')
        return isPlainCommand(message.text, commands, config.slashCommands) ? 'command' : 'text';
      const decision = await decideSlash(message.text, commands, () => own(thread.id), config.slashCommands);
      if (decision.kind !== 'ask') return decision.kind;
      await held.hold(message, thread, decision, title);
      return 'held';
    },
  };
}

// What a slash command printed is read from the transcript on the session's host, because no hook reports it.

interface RanCommand {
  readonly thread: string;
  readonly message: string;
  /** When it was typed (`Date.now`). */
  readonly at: number;
  /** A hook reported it: the agent answers, and prints at most a line. */
  readonly isTurn: boolean;
}

/** Some commands, such as /compact, print only after a minute. */
const PAUSES_MS = [200, 500, 1_000, 2_000, 4_000, 8_000, 15_000, 30_000, 60_000];
const PAUSES_OF_TURN_MS = [1_000];
/** Clocks of files and programs may differ a little. */
const TOLERANCE_S = 1.5;
const REMEMBERED = 500;

function createPostPrinted({ hosts, threads, outcomes, log, signal }: ServerParts) {
  const seen = new Set<string>();

  /** True if the command has ended, with or without output. */
  async function look({ thread, message, at }: RanCommand): Promise<boolean> {
    const record = threads.registry.get(thread); // /clear starts another transcript
    const printed = driverOf(record?.agent ?? '').commands?.printed;
    if (record === undefined || printed === undefined || record.transcript === '') return true;
    const output = await hosts.get(record.host).sh(printed.script, [record.transcript], {
      doing: 'read what the command printed',
      timeoutMs: 10_000,
      maxBytes: 2 ** 20,
      signal,
    });
    const since = (Date.now() - at) / 1_000 + TOLERANCE_S;
    const news = printed.parse(output).filter(({ uuid, age }) => age <= since && !seen.has(uuid));
    for (const { uuid } of news) remember(uuid);
    const text = news.flatMap((one) => (one.text === '' ? [] : [one.text])).join('\n');
    if (text !== '')
      await outcomes.postNotice(thread, [message, 'printed', news[0]?.uuid ?? ''], {
        content: screenBlock(narrowText(text)),
        silent: true,
      });
    return news.length > 0;
  }

  function remember(uuid: string): void {
    seen.add(uuid);
    if (seen.size > REMEMBERED) for (const first of seen) return void seen.delete(first);
  }

  return async (ran: RanCommand): Promise<void> => {
    try {
      for (const pauseMs of ran.isTurn ? PAUSES_OF_TURN_MS : PAUSES_MS) {
        await sleep(pauseMs, undefined, { signal });
        if (await look(ran)) return;
      }
    } catch (error) {
      if (!signal.aborted) log.info('what a command printed', { because: (error as Error).message });
    }
  };
}

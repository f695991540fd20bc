// Messages that begin with "/": passed to the agent, held until a person has tapped, or typed as text; and what they print.

import { driverOf } from '../agents/list.ts';
import type { SlashCommand } from '../agents/slash-command.ts';
import type { ThreadRef } from '../discord/threads.ts';
import { createHeldMessages, type HeldMessages, type HeldOptions } from './held-messages.ts';
import type { AcceptedMessage } from './inbox.ts';
import { createOwnCommands } from './list-own-commands.ts';
import { createPostPrinted, type RanCommand } from './post-printed.ts';
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

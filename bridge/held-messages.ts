// Messages that wait for a person's tap before anything is typed: an unknown slash command, or one that would change the
// account or the installation. They stay in the inbox, so a restart asks again, in the same message with new buttons.

import { randomBytes } from 'node:crypto';
import { untrustedCode } from '../core/untrusted-text.ts';
import { type ButtonStyle, button, editMessage, row } from '../discord/messages.ts';
import type { ThreadRef } from '../discord/threads.ts';
import { sessionKey } from '../threads/registry.ts';
import type { ServerParts } from './bridge-options.ts';
import type { AcceptedMessage } from './inbox.ts';
import type { AskReason, SlashDecision } from './slash-decision.ts';

export interface HeldMessages {
  /** `agent`: its name, for people. */
  hold(message: AcceptedMessage, thread: ThreadRef, ask: SlashDecision & { kind: 'ask' }, agent: string): Promise<void>;
  /** `tap`: the id of the interaction. False if the buttons are dead: used, older than ten minutes, or of an earlier process. */
  tapped(on: { readonly id: string; readonly choice: string; readonly thread: string; readonly tap: string }): boolean;
  close(): void;
}

export interface HeldOptions extends ServerParts {
  readonly send: (message: AcceptedMessage, thread: ThreadRef) => Promise<void>;
  readonly keptMs?: number | undefined;
}

interface HeldMessage {
  readonly message: AcceptedMessage;
  readonly thread: ThreadRef;
  readonly name: string;
  /** What ran there when the question was asked. */
  readonly program: string;
  readonly choices: readonly HeldChoice[];
  readonly timer: NodeJS.Timeout;
  readonly notice: Promise<string | undefined>;
}

type HeldChoice = 'command' | 'text' | 'no';

export function createHeldMessages(options: HeldOptions): HeldMessages {
  const { rest, inbox, outcomes, threads, log, keptMs = 600_000 } = options;
  const held = new Map<string, HeldMessage>();

  async function close(id: string, words: string): Promise<HeldMessage | undefined> {
    const one = held.get(id);
    if (one === undefined) return undefined;
    held.delete(id);
    clearTimeout(one.timer);
    const notice = await one.notice;
    inbox.setNotice(one.message.id, undefined); // what is said about the message from now on is said below
    if (notice !== undefined)
      await editMessage(rest, one.thread.id, notice, { content: words, components: [] }).catch((error: Error) =>
        log.info('closing a question', { because: error.message }),
      );
    return one;
  }

  function programIn(thread: string): string {
    const record = threads.registry.get(thread);
    return record === undefined ? '' : `${sessionKey(record)} ${record.panePid} ${record.agent}`;
  }

  async function notSent({ message }: HeldMessage): Promise<void> {
    await outcomes.dropped(message);
    inbox.done(message);
  }

  return {
    async hold(message, thread, { name, why }, agent) {
      const id = randomBytes(12).toString('base64url');
      const program = programIn(thread.id);
      const { words, choices } = QUESTIONS[why](untrustedCode(`/${name}`), agent);
      const timer = setTimeout(() => {
        const late = `⚠️ ${untrustedCode(`/${name}`)} was not sent, because nobody answered. Send it again if you still want it.`;
        void close(id, late).then((one) => one && notSent(one));
      }, keptMs);
      timer.unref();
      await outcomes.delayed(message);
      const buttons = choices.map((choice) => button(LABELS[choice](name), `held:${id}:${choice}`, STYLES[choice]));
      const notice = outcomes.asked(message, `held ${id}`, { content: words, components: [row(...buttons)] });
      held.set(id, { message, thread, name, program, choices, timer, notice }); // its tap may come before the answer to our post
    },
    tapped({ id, choice, thread, tap }) {
      const one = held.get(id);
      const chosen = one?.choices.find((known) => known === choice);
      if (one === undefined || chosen === undefined || one.thread.id !== thread) return false;
      const shown = untrustedCode(`/${one.name}`);
      if (one.program !== programIn(thread)) {
        const late = `⚠️ ${shown} was not sent, because another session runs here now. Send it again if you still want it.`;
        void close(id, late);
        void notSent(one);
        return true;
      }
      const words = { command: `-# ▶️ ${shown} is sent.`, text: '-# 💬 Sent as text.', no: `-# ${shown} was not sent.` }[
        chosen
      ];
      void close(id, words);
      if (chosen === 'no') void notSent(one);
      else {
        // Newer than everything that was typed meanwhile, so the pane accepts it.
        const message = { ...one.message, deliveryId: tap, as: chosen };
        inbox.put(message);
        void options.send(message, one.thread);
      }
      return true;
    },
    close() {
      for (const { timer } of held.values()) clearTimeout(timer);
      held.clear();
    },
  };
}

const LABELS: Readonly<Record<HeldChoice, (name: string) => string>> = {
  command: (name) => `Run /${name}`,
  text: () => 'Send as text',
  no: () => 'Cancel',
};
const STYLES: Readonly<Record<HeldChoice, ButtonStyle>> = { command: 'bad', text: 'primary', no: 'plain' };

const confirmed = (what: string) => (command: string) => ({
  words: `❔ ${command} ${what}. Run it?`,
  choices: ['command', 'no'] as const,
});

type Question = (command: string, agent: string) => { words: string; choices: readonly HeldChoice[] };

const QUESTIONS: Readonly<Record<AskReason, Question>> = {
  unknown: (command, agent) => ({
    words: `❔ ${agent} has no command ${command} here, as far as threadmux knows. Send it as text?`,
    choices: ['text', 'command', 'no'],
  }),
  restricted: (command) => ({
    words: `❔ ${command} is not in "slashCommands" of the configuration, so it is not run. Send it as text?`,
    choices: ['text', 'no'],
  }),
  account: confirmed('changes the account that the agent uses'),
  installation: confirmed('changes what is installed on the host'),
  session: confirmed('ends this session, or moves it out of its pane'),
  sharing: confirmed('sends the conversation to somebody else'),
};

// One Claude in one pane of the lab, and the user in its thread and at its terminal.

import { expect, vi } from 'vitest';
import { claude } from '../../agents/claude/driver.ts';
import type { AgentScreen } from '../../agents/screen.ts';
import { localHost } from '../../hosts/host.ts';
import { screenOf } from '../../threads/read-pane.ts';
import type { ThreadRecord } from '../../threads/registry.ts';
import { lookAtPane } from '../../tmux/look.ts';
import { tmuxOn } from '../../tmux/tmux.ts';
import { recordedPrompts } from './recorded-prompts.ts';
import type { Person, WireMessage } from './workspace.ts';

export const PATIENCE = { timeout: 30_000, interval: 200 };

export interface LabSession {
  readonly thread: string;
  record(): ThreadRecord;
  /** Writes in the thread as the user. */
  say(text: string): Promise<WireMessage>;
  /** Writes it and waits for Claude Code's receipt. */
  submit(text: string): Promise<WireMessage>;
  /** Waits until exactly this mark is on the message. */
  marked(message: WireMessage, mark: string): Promise<void>;
  /** What the bot has posted here since the last call of `next`, oldest first, without progress messages. */
  news(): Promise<readonly WireMessage[]>;
  /** Waits until the bot has posted exactly these; each is the whole content or a part of it. */
  next(...contents: (string | RegExp)[]): Promise<readonly WireMessage[]>;
  /** Messages that show the progress or the summary of a turn. */
  progress(): Promise<readonly WireMessage[]>;
  /** The prompts that Claude Code has recorded in its current conversation, in order. */
  prompts(): readonly string[];
  screen(): string;
  read(): Promise<AgentScreen>;
  /** Waits until Claude is ready for a message. */
  idle(): Promise<void>;
  /** Keys of the user at the terminal. */
  type(text: string): void;
  press(...keys: string[]): void;
}

interface Parts {
  readonly record: () => ThreadRecord;
  readonly person: Person;
  readonly tmux: (...args: string[]) => string;
}

/** Only small lines. */
const PROGRESS = /^-# [^\n]*(?:\n-# [^\n]*)*$/;

export function openSession({ record, person, tmux }: Parts): LabSession {
  const { thread, paneId } = record();
  let seen = thread; // the thread's own id is older than anything in it
  const all = async () => {
    const messages = await person.messages(thread);
    return messages.filter(({ type }) => type === 0 || type === 19).toReversed();
  };
  const fromBot = async () => {
    const you = (await person.call('GET', '/users/@me')).body.id;
    return (await all()).filter(({ author }) => author.id !== you);
  };
  const news = async () =>
    (await fromBot()).filter(({ id, content }) => BigInt(id) > BigInt(seen) && !PROGRESS.test(content));
  const say = (text: string) => person.say(thread, text);
  const marked = async (message: WireMessage, mark: string) =>
    vi.waitFor(async () => {
      const messages = await all();
      const at = messages.findIndex(({ id }) => id === message.id);
      const marks = messages[at]?.reactions?.filter(({ count }) => count > 0).map(({ emoji }) => emoji.name);
      const after = JSON.stringify(messages.slice(at + 1).map(({ content }) => content));
      expect(
        marks,
        `the marks of ${JSON.stringify(message.content)}, then ${after}\n${record().host === 'lab' ? screen() : ''}`,
      ).toEqual([mark]);
    }, PATIENCE);
  const screen = () => tmux('capture-pane', '-p', '-t', paneId);
  const read = async () => {
    const one = record();
    const host = localHost({ name: 'lab', env: process.env });
    const pane = await lookAtPane(tmuxOn(host, one.socket), one);
    return pane.kind === 'gone' ? ({ kind: 'dead' } as const) : screenOf(pane, one, claude);
  };
  return {
    thread,
    record,
    say,
    marked,
    news,
    read,
    async submit(text) {
      const message = await say(text);
      await marked(message, '✅');
      return message;
    },
    async next(...contents) {
      const found = await untilPosted(news, contents);
      seen = found.at(-1)?.id ?? seen;
      return found;
    },
    progress: async () => (await fromBot()).filter(({ content }) => PROGRESS.test(content)),
    prompts: () => recordedPrompts(record().transcript),
    screen,
    async idle() {
      await vi.waitFor(async () => {
        const now = await read();
        expect(now, `${record().sessionName} shows ${JSON.stringify(now)}`).toMatchObject({
          kind: 'empty',
          busy: false,
        });
      }, PATIENCE);
    },
    type: (text) => void tmux('send-keys', '-t', paneId, '-l', '--', text),
    press: (...keys) => void tmux('send-keys', '-t', paneId, ...keys),
  };
}

/** Waits until exactly these are new; each is the whole content or a part of it. */
export const untilPosted = (news: () => Promise<readonly WireMessage[]>, contents: readonly (string | RegExp)[]) =>
  vi.waitFor(async () => {
    const messages = await news();
    expect(messages.map(({ content }) => content)).toEqual(
      contents.map((one) => (typeof one === 'string' ? one : expect.stringMatching(one))),
    );
    return messages;
  }, PATIENCE);

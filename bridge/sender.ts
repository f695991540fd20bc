// One queue a session: messages are typed in the order they were written, each shows on itself
// what became of it, and one that has to wait holds up those behind it.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Config, Server } from '../core/config.ts';
import { isThreadmuxError } from '../core/errors.ts';
import { createInTurn } from '../core/in-turn.ts';
import type { Log } from '../core/log.ts';
import { reason } from '../core/outside-words.ts';
import { KEY_BUTTONS } from '../discord/buttons.ts';
import type { ThreadRef } from '../discord/threads.ts';
import type { Home } from '../home/home.ts';
import { type Fetched, fetchAttachments } from './attachments.ts';
import { compose, composePlain } from './compose.ts';
import { confirm } from './confirm.ts';
import { type Errand, forward, isTooOld, type Outcome, type Standing } from './forward.ts';
import type { Hosts } from './hosts.ts';
import type { Accepted, Inbox } from './inbox.ts';
import type { Marks } from './marks.ts';
import type { Panes } from './panes.ts';
import type { Receipts } from './receipts.ts';
import { retryButton, type Say, screenBlock } from './say.ts';
import { createSharedLook } from './shared-look.ts';

export interface SenderOptions {
  readonly config: Config;
  readonly server: Server;
  readonly home: Home;
  readonly hosts: Hosts;
  readonly panes: Panes;
  readonly inbox: Inbox;
  readonly marks: Marks;
  readonly receipts: Receipts;
  readonly say: Say;
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly settleMs?: number;
  /** What is written there is a program's input, and nothing is read into it. */
  readonly isTerminal: (threadId: string) => boolean;
}

export interface Sender {
  send(message: Accepted, thread: ThreadRef): Promise<void>;
}

const FILES_PAUSE_MS = 2_000;

export function createSender(options: SenderOptions): Sender {
  const { config, inbox, marks, log, signal } = options;
  const inTurn = createInTurn();
  const look = createSharedLook();
  const standing = new Map<string, Standing & { readonly deliveryId: string }>();

  /** The message itself matters more than what we have to say about it. */
  const say: Say = (channelId, about, draft) =>
    options
      .say(channelId, about, draft)
      .catch((error: Error) => log.warn('saying something', { because: error.message }));

  async function send(message: Accepted, thread: ThreadRef): Promise<void> {
    const deliveryId = message.deliveryId ?? message.id;
    const errand = await prepare(message, thread, deliveryId);
    if (errand === undefined) return inbox.done(message.id);
    const outcome = await forward(errand, {
      panes: options.panes,
      allowShell: config.allowShell,
      signal,
      ...(options.settleMs === undefined ? {} : { settleMs: options.settleMs }),
      standing: () => standing.get(thread.id),
      onWaiting: (because, screen) => waiting(message, because, screen),
    });
    if (outcome.kind !== 'typed') return finish(message, outcome);
    const { before } = outcome;
    standing.set(thread.id, { deliveryId, text: errand.typed.text, before, at: Date.now() });
    await marks.set(message.channelId, message.id, 'typed');
    // The next message need not wait for this one's receipt: Claude Code keeps a queue of its own.
    void prove(message, errand, outcome).catch((error: Error) => {
      if (!signal.aborted)
        log.error('confirming a message', { message: message.id, because: error.message });
    });
  }

  async function prepare(
    message: Accepted,
    thread: ThreadRef,
    deliveryId: string,
  ): Promise<Errand | undefined> {
    const { paths, failed } = await fetched(message, thread);
    if (failed.length > 0)
      await say(thread.id, [message.id, 'files'], {
        content: failed.map((why) => `📎 ${why}`).join('\n'),
        silent: true,
      });
    const typed = options.isTerminal(thread.id)
      ? composePlain(message.text, paths)
      : compose(message.text, paths, config.slashCommands);
    if (typed.kind === 'nothing') {
      await marks.set(message.channelId, message.id, 'failed');
      return undefined;
    }
    return { deliveryId, thread, typed };
  }

  /** Files go to the session's own host: while it is away, the message waits with them. */
  async function fetched(message: Accepted, thread: ThreadRef): Promise<Fetched> {
    const { server, home, hosts, panes } = options;
    for (let told = ''; ; ) {
      try {
        const to = { api: server.api, home, hosts };
        return await fetchAttachments(message, panes.hostOf(thread), to);
      } catch (error) {
        const because = (error as Error).message;
        if (!isThreadmuxError(error, 'host_unreachable')) throw error;
        if (isTooOld(message.deliveryId ?? message.id)) return { paths: [], failed: [because] };
        if (told === '') await waiting(message, because, undefined);
        told = because;
        await sleep(FILES_PAUSE_MS, undefined, { signal });
      }
    }
  }

  async function prove(
    message: Accepted,
    errand: Errand,
    { tmux, record }: Outcome & { kind: 'typed' },
  ): Promise<void> {
    const { receipts } = options;
    const verdict = await confirm(errand, {
      tmux,
      record,
      signal,
      look,
      receipt: (ms) => receipts.wait(message.id, ms),
      asked: () => receipts.ask(message.channelId, message.id),
    });
    if (standing.get(errand.thread.id)?.deliveryId === errand.deliveryId)
      standing.delete(errand.thread.id);
    if (verdict.kind === 'unproven') return finish(message, { ...verdict, kind: 'failed' });
    await marks.set(message.channelId, message.id, 'submitted');
    if (verdict.dialog !== undefined)
      await say(errand.thread.id, [errand.deliveryId, 'dialog'], {
        content: screenBlock(verdict.dialog),
        components: [KEY_BUTTONS],
      });
    inbox.done(message.id);
  }

  async function waiting(
    message: Accepted,
    because: string,
    screen: string | undefined,
  ): Promise<void> {
    await marks.set(message.channelId, message.id, 'waiting');
    await say(message.channelId, [message.id, 'waits', because], {
      content: `📨 Your message waits. ${because}${screen === undefined ? '' : `\n${screenBlock(screen)}`}`,
      ...(screen === undefined ? {} : { components: [KEY_BUTTONS] }),
      replyTo: message.id,
    });
  }

  async function finish(
    message: Accepted,
    outcome: Exclude<Outcome, { kind: 'typed' }>,
  ): Promise<void> {
    if (outcome.kind === 'ran') {
      await marks.set(message.channelId, message.id, 'submitted');
      if (outcome.output !== undefined)
        await say(message.channelId, [message.id, 'ran'], { content: screenBlock(outcome.output) });
    } else {
      log.info('message failed', { message: message.id, because: outcome.because });
      await marks.set(message.channelId, message.id, 'failed');
      const screen = outcome.screen === undefined ? '' : `\n${screenBlock(outcome.screen)}`;
      await say(message.channelId, [message.id, 'failed', outcome.because], {
        content: `⚠️ Not delivered. ${outcome.because}${screen}`,
        components: [
          retryButton(message.id),
          ...(outcome.screen === undefined ? [] : [KEY_BUTTONS]),
        ],
        replyTo: message.id,
      });
    }
    inbox.done(message.id);
  }

  return {
    send: (message, thread) =>
      inTurn(thread.id, () => send(message, thread)).catch((error: Error) => {
        if (signal.aborted) return;
        log.error('sending a message', {
          message: message.id,
          because: error.stack ?? error.message,
        });
        // A fault of ours: the person must hear of it all the same.
        return finish(message, { kind: 'failed', because: reason(error), screen: undefined });
      }),
  };
}

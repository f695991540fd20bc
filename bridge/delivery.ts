// Takes one message into its pane: files, text, look, decide, type, Enter, receipt. Each step can be repeated after a
// crash.

import { setTimeout as sleep } from 'node:timers/promises';
import { driverOf } from '../agents/list.ts';
import { isThreadmuxError } from '../core/errors.ts';
import { createKeyedQueue } from '../core/keyed-queue.ts';
import { snowflakeTime } from '../core/snowflake.ts';
import { untrustedReason } from '../core/untrusted-text.ts';
import type { ThreadRef } from '../discord/threads.ts';
import { untilKeysSettled } from './commands/keys.ts';
import { confirm } from './confirm.ts';
import { refusedMeanwhile } from './decide-typing.ts';
import { type AttemptOutcome, type AttemptState, attemptDelivery, type TypedState } from './delivery-attempt.ts';
import { WAITS } from './delivery-waits.ts';
import type { AcceptedMessage } from './inbox.ts';
import type { JourneyOptions } from './message-journey.ts';
import { createSharedLook } from './shared-look.ts';
import { conversationStart } from './start-conversation.ts';
import { createToldExits } from './told-exits.ts';
import { composeForAgent, composePlain, type FetchedFiles, fetchAttachments } from './typed-text.ts';
import { isHeard, tellUnheard } from './without-hooks.ts';

/** Resolves when the message was typed or has failed. The receipt is awaited in the background. */
type Deliver = (message: AcceptedMessage, thread: ThreadRef) => Promise<void>;

const GIVE_UP_MS = 24 * 3_600_000;
/** The pause between two attempts, and its growth: about a sixth of the time that the message has waited. */
const PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 10_000;
/** After an own message that the agent is about to show. */
const SHORT_PAUSE_MS = 40;
const FILES_PAUSE_MS = 2_000;
const LIMIT_PAUSE_MS = 500;

export function createDeliver(options: JourneyOptions): Deliver {
  const { config, inbox, outcomes, receipts, log, signal } = options;
  const waits = { ...WAITS, ...options.waits };
  const look = createSharedLook();
  const exits = createToldExits(options.threads.registry);
  /** One queue per session: messages are typed in the order they were written. */
  const inTurn = createKeyedQueue();
  const standing = new Map<string, AttemptState & { readonly deliveryId: string }>();
  const isTerminal = ({ id }: ThreadRef) => options.streams.of(id)?.kind === 'terminal';

  async function deliver(message: AcceptedMessage, thread: ThreadRef): Promise<void> {
    options.remote.wanted(options.panes.hostOf(thread));
    const deliveryId = message.deliveryId ?? message.id;
    // It was submitted before a restart. Only its reaction is missing.
    if (receipts.isSubmitted(thread.id, deliveryId)) return done(message, outcomes.submitted);
    const { paths, failed } = await fetched(message, thread);
    const content = failed.map((why) => `📎 ${why}`).join('\n');
    if (content !== '') await outcomes.postNotice(thread.id, [message.id, 'files'], { content, silent: true });
    // Messages in a terminal's thread are typed unchanged.
    const as = isTerminal(thread) ? 'plain' : (message.as ?? (await options.slash.howToSend(message, thread)));
    if (as === 'held') return;
    const { typing } = driverOf(options.threads.registry.get(thread.id)?.agent ?? '');
    const typed = as === 'plain' ? composePlain(message.text, paths) : composeForAgent(message.text, paths, as, typing);
    if (typed.kind === 'nothing') {
      await outcomes.dropped(message);
      return inbox.done(message);
    }
    const delivery: TypedState = { deliveryId, thread, typed, liveAt: message.liveAt };
    const wasHeld = await untilReset(message, thread);
    const outcome = await untilTyped(message, delivery, paths, wasHeld);
    if (outcome.kind !== 'typed') return ended(message, thread, outcome);
    const { before } = outcome;
    standing.set(thread.id, { deliveryId, text: typed.text, before, at: Date.now() });
    void outcomes.typed(message);
    // Do not hold up the next message: the agent has its own queue, or the next one waits until it is idle.
    void prove(message, delivery, outcome).catch((error: Error) => {
      if (!signal.aborted) log.error('confirming a message', { message: message.id, because: error.message });
    });
  }

  /** A message that is typed while a usage limit is reached would only fail. True if it had to wait. */
  async function untilReset(message: AcceptedMessage, { id }: ThreadRef): Promise<boolean> {
    for (let told = ''; ; await sleep(LIMIT_PAUSE_MS, undefined, { signal })) {
      const because = options.limits.waitsBecause(id);
      if (because === undefined) return told !== '';
      if (because !== told) await outcomes.waiting(message, because, undefined);
      told = because;
    }
  }

  async function untilTyped(
    message: AcceptedMessage,
    delivery: TypedState,
    paths: readonly string[],
    wasHeld: boolean,
  ): Promise<AttemptOutcome> {
    const began = Date.now();
    const { deliveryId, thread } = delivery;
    for (let told = '', tries = 0, isStarted = false; ; ) {
      const because = refusedMeanwhile(message, delivery.typed.kind, options);
      if (because !== undefined && !receipts.isStanding(thread.id, deliveryId))
        return { kind: 'failed', because, screen: undefined };
      if (!isTerminal(thread)) await untilKeysSettled(thread.id, options);
      const seen = await attemptDelivery(delivery, {
        panes: options.panes,
        allowShell: config.allowShell,
        afterExit: exits.after,
        signal,
        settleMs: options.settleMs,
        standing: () => standing.get(thread.id),
        onDialog: () => options.dialogs.look(thread.id, 'message'),
        onUntyped: () => receipts.withdraw(thread.id, deliveryId),
        onTyping: () =>
          receipts.stand(thread.id, {
            id: deliveryId,
            message: message.id,
            paths,
            words: paths.reduce((text, path) => text.replaceAll(path, ' '), delivery.typed.text),
          }),
      });
      const starts =
        seen.kind === 'failed' && seen.isAbsent && !isStarted ? conversationStart(thread, options) : undefined;
      if (starts !== undefined) await outcomes.waiting(message, `${starts.about} is being started.`, undefined);
      const turn = starts === undefined ? seen : await starts.begin(deliveryId);
      if (turn.kind === 'started') {
        isStarted = true;
        if (turn.first !== undefined) await attempt(turn.first, thread);
        continue;
      }
      if (turn.kind !== 'wait') return turn;
      if (isTooOld(deliveryId) && (!wasHeld || Date.now() - began > GIVE_UP_MS)) {
        const because = `It could not be typed within a day. ${turn.because}`;
        return { kind: 'failed', because, screen: turn.screen };
      }
      if (!turn.soon) void outcomes.delayed(message);
      if (told !== turn.because && (turn.surely || Date.now() - began > waits.patienceMs)) {
        told = turn.because;
        await outcomes.waiting(message, turn.because, turn.screen);
      }
      if (!turn.soon) tries++;
      const pauseMs = turn.soon ? SHORT_PAUSE_MS : Math.min(LONGEST_PAUSE_MS, PAUSE_MS * 1.2 ** Math.min(tries, 30));
      // Try at once when the host is reachable again.
      await options.remote.untilBack(options.panes.hostOf(thread), pauseMs, signal);
      signal.throwIfAborted();
    }
  }

  /** Files are stored on the session's host. While it is unreachable, the message waits. */
  async function fetched(message: AcceptedMessage, thread: ThreadRef): Promise<FetchedFiles> {
    for (let told = ''; ; await sleep(FILES_PAUSE_MS, undefined, { signal })) {
      try {
        return await fetchAttachments(message, options.panes.hostOf(thread), options);
      } catch (error) {
        const because = (error as Error).message;
        if (!isThreadmuxError(error, 'host_unreachable')) throw error;
        if (isTooOld(message.deliveryId ?? message.id)) return { paths: [], failed: [because] };
        if (told === '') await outcomes.waiting(message, because, undefined);
        told = because;
      }
    }
  }

  async function prove(
    message: AcceptedMessage,
    delivery: TypedState,
    { tmux, record, isCovered, isUnread }: AttemptOutcome & { kind: 'typed' },
  ): Promise<void> {
    const { deliveryId, thread } = delivery;
    const typedAt = Date.now();
    const proof = await confirm(delivery, {
      tmux,
      record,
      signal,
      look,
      waits,
      isCovered,
      isUnread,
      isHeard: () => isHeard(options.threads.registry.get(thread.id)),
      receipt: (ms) => receipts.wait(thread.id, deliveryId, ms),
      onUnreachable: (because) => outcomes.unreachable(message, because),
    });
    const last = standing.get(thread.id);
    if (last?.deliveryId === deliveryId) standing.set(thread.id, { ...last, confirmedAt: Date.now() });
    if (proof.kind === 'swallowed') {
      receipts.withdraw(thread.id, deliveryId);
      // Once, and not after a later message, so that the order stays right.
      if (last?.deliveryId !== deliveryId || message.deliveryId !== undefined)
        return ended(message, thread, { ...proof, kind: 'failed' });
      const again = { ...message, deliveryId: String(BigInt(deliveryId) + 1n) };
      inbox.put(again);
      return inTurn(thread.id, () => attempt(again, thread));
    }
    if (proof.kind === 'unproven') return ended(message, thread, { ...proof, kind: 'unconfirmed' });
    if (proof.by === 'screen') receipts.seen(thread.id, deliveryId);
    await done(message, outcomes.submitted);
    if (proof.dialog) await options.dialogs.look(thread.id, 'command');
    if (delivery.typed.kind === 'slash')
      return options.slash.ran({
        thread: thread.id,
        message: message.id,
        text: delivery.typed.text,
        setsModel: message.setsModel,
        at: typedAt,
        isTurn: proof.by === 'hook',
      });
    if (proof.by === 'screen') await tellUnheard(thread.id, waits.heardWithinMs, options);
  }

  /** Says "Not delivered" only if nothing was typed. */
  async function ended(
    message: AcceptedMessage,
    thread: ThreadRef,
    outcome: Exclude<AttemptOutcome, { kind: 'typed' }>,
  ): Promise<void> {
    const deliveryId = message.deliveryId ?? message.id;
    if (receipts.isSubmitted(thread.id, deliveryId)) return done(message, outcomes.submitted);
    const isTyped = outcome.kind === 'failed' && receipts.isStanding(thread.id, deliveryId);
    const told = isTyped ? { ...outcome, kind: 'unconfirmed' as const } : outcome;
    if (told.kind !== 'unconfirmed')
      return done(message, () => outcomes.ended(message, told).then(() => exits.told(thread.id, told)));
    receipts.unconfirmed(thread.id, deliveryId);
    const notice = await outcomes.ended(message, told);
    if (signal.aborted) return;
    inbox.done(message);
    receipts.noticed(thread.id, deliveryId, notice);
  }

  async function done(message: AcceptedMessage, tell: (message: AcceptedMessage) => Promise<void>): Promise<void> {
    await tell(message);
    // If we are stopping, keep the message: the outcome is posted after the next start.
    if (!signal.aborted) inbox.done(message);
  }

  async function attempt(message: AcceptedMessage, thread: ThreadRef): Promise<void> {
    await deliver(message, thread).catch(async (error: Error) => {
      if (signal.aborted) return;
      log.error('sending a message', { message: message.id, because: error.stack ?? '' });
      // A bug in threadmux: tell the user, too.
      await ended(message, thread, { kind: 'failed', because: untrustedReason(error), screen: undefined });
    });
  }

  return (message, thread) => {
    options.limits.wrote(thread.id, message.id);
    // Also while it waits behind another message.
    outcomes.expected(message, waits.markMs);
    return inTurn(thread.id, () => attempt(message, thread));
  };
}

/** After a day, nobody expects the message to be typed. */
function isTooOld(deliveryId: string): boolean {
  return Date.now() > snowflakeTime(deliveryId) + GIVE_UP_MS;
}

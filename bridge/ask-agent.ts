// Gives a message to a headless agent, one per turn, and shows the outcome as a reaction on the message.

import { createKeyedQueue } from '../core/keyed-queue.ts';
import { cleanInbound, untrustedReason } from '../core/untrusted-text.ts';
import type { Agent } from '../streams/agent/agent.ts';
import type { AskedTurn } from '../streams/agent/state.ts';
import type { ServerParts } from './bridge-options.ts';
import { refusedMeanwhile } from './decide-typing.ts';
import type { AcceptedMessage } from './inbox.ts';
import { fetchAttachments } from './typed-text.ts';

/** Resolves when its outcome is known. Never rejects. */
type AskAgent = (message: AcceptedMessage, agent: Agent) => Promise<void>;

export function createAskAgent(options: ServerParts): AskAgent {
  const { config, inbox, reactions, notices, outcomes, log, signal } = options;
  const inTurn = createKeyedQueue();

  /** Keeps the order in which messages were written, however long a download takes. Undefined if the message is empty. */
  async function ask(message: AcceptedMessage, agent: Agent): Promise<AskedTurn | undefined> {
    const { channelId, id } = message;
    const { paths, failed } = await fetchAttachments(message, config.host, options);
    const content = failed.map((why) => `📎 ${why}`).join('\n');
    if (content !== '') await outcomes.postNotice(channelId, [id, 'files'], { content });
    const text = [cleanInbound(message.text).trim(), paths.join('\n')].filter(Boolean).join('\n\n');
    return text === ''
      ? undefined
      : agent.ask({ id: message.deliveryId ?? id, text, refusal: () => refusedMeanwhile(message, 'prompt', options) });
  }

  async function follow(message: AcceptedMessage, { before, begun, done }: AskedTurn) {
    const { channelId, id } = message;
    if (before > 0) {
      const content = `📨 Your message waits: ${before === 1 ? 'one prompt is' : `${before} prompts are`} before it.`;
      await reactions.set(channelId, id, 'waiting');
      await notices.show(message, 'waits', { content, silent: true });
    }
    await begun;
    await Promise.all([reactions.set(channelId, id, 'typed'), notices.remove(message)]);
    const turn = await done;
    await reactions.set(channelId, id, turn.kind === 'done' ? 'submitted' : 'failed');
  }

  return async (message, agent) => {
    const { channelId, id } = message;
    try {
      const asked = await inTurn(channelId, () => ask(message, agent));
      if (asked === undefined) await reactions.set(channelId, id, 'failed');
      else await follow(message, asked);
    } catch (error) {
      if (signal.aborted) return;
      log.error('asking an agent', { message: id, because: (error as Error).stack ?? '' });
      await reactions.set(channelId, id, 'failed');
      const content = `⚠️ Not delivered. ${untrustedReason(error)}`;
      await notices.show(message, 'failed', { content });
    }
    inbox.done(message);
  };
}

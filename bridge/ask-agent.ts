// A message for a headless agent: it waits for its turn, and shows on itself what became of it.

import { cleanInbound } from '../core/clean.ts';
import type { Agent } from '../streams/agent.ts';
import type { Fetched } from './attachments.ts';
import type { Accepted, Inbox } from './inbox.ts';
import type { Marks } from './marks.ts';
import type { Say } from './say.ts';

export interface AskOptions {
  readonly inbox: Inbox;
  readonly marks: Marks;
  readonly say: Say;
  readonly fetch: (message: Accepted) => Promise<Fetched>;
}

export type AskAgent = (message: Accepted, agent: Agent) => Promise<void>;

export function createAskAgent({ inbox, marks, say, fetch }: AskOptions): AskAgent {
  return async (message, agent) => {
    const { channelId, id } = message;
    const { paths, failed } = await fetch(message);
    if (failed.length > 0)
      await say(channelId, [id, 'files'], { content: failed.map((why) => `📎 ${why}`).join('\n') });
    const text = [cleanInbound(message.text).trim(), paths.join('\n')].filter(Boolean).join('\n\n');
    if (text === '') {
      await marks.set(channelId, id, 'failed');
      return inbox.done(id);
    }
    const { before, begun, done } = agent.ask({ id: message.deliveryId ?? id, text });
    if (before > 0) {
      await marks.set(channelId, id, 'waiting');
      await say(channelId, [id, 'waits'], {
        content: `📨 It waits for its turn: ${before === 1 ? 'one prompt is' : `${before} prompts are`} before it.`,
        replyTo: id,
        silent: true,
      });
    }
    await begun;
    await marks.set(channelId, id, 'typed');
    const turn = await done;
    await marks.set(channelId, id, turn.kind === 'done' ? 'submitted' : 'failed');
    inbox.done(id);
  };
}

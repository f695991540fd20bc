// Ears in Discord for a moment: to hear who writes a code, and to hear our own message come back.

import { setTimeout as sleep } from 'node:timers/promises';
import { formatDuration } from '../../core/duration.ts';
import { ThreadmuxError } from '../../core/errors.ts';
import { openGateway } from '../../discord/gateway.ts';
import { type DiscordMessage, messageSchema } from '../../discord/payloads.ts';
import type { Rest } from '../../discord/rest.ts';

interface MessageListener {
  /** The first message that is the one, also if it was heard before the question. */
  hear(isIt: (message: DiscordMessage) => boolean, patienceMs: number): Promise<DiscordMessage>;
  close(): void;
}

const INTENTS = (1 << 0) | (1 << 9) | (1 << 15);
const CONNECT_MS = 45_000;

/** Resolves once it is listening. */
export async function openMessageListener(rest: Rest, token: string): Promise<MessageListener> {
  const heard: DiscordMessage[] = [];
  let isReady = false;
  let fatal: Error | undefined;
  const waiting = new Set<() => void>();
  const tell = () => {
    for (const look of [...waiting]) look();
  };
  const gateway = openGateway({
    rest,
    token,
    intents: INTENTS,
    load: () => undefined,
    save: () => {},
    onFatal: (error) => {
      fatal = error;
      tell();
    },
    handle: (name, data) => {
      if (name === 'READY') isReady = true;
      if (name === 'MESSAGE_CREATE') heard.push(messageSchema.parse(data));
      tell();
    },
  });

  /** Looks again at everything that happens, until there is something to give. */
  async function until<T>(look: () => T | undefined, patienceMs: number, what: string): Promise<T> {
    const over = new AbortController();
    const found = new Promise<T>((resolve, reject) => {
      const again = () => {
        const value = look();
        if (fatal !== undefined) reject(fatal);
        else if (value !== undefined) resolve(value);
      };
      waiting.add(again);
      over.signal.addEventListener('abort', () => waiting.delete(again));
      again();
    });
    const late = sleep(patienceMs, undefined, { signal: over.signal }).then(() => {
      throw new ThreadmuxError('discord_unreachable', `${what}, not within ${formatDuration(patienceMs)}`, {
        hint: 'Check the network, then run this again.',
      });
    });
    late.catch(() => {}); // called off: the other one was first
    try {
      return await Promise.race([found, late]);
    } finally {
      over.abort();
    }
  }

  try {
    await until(() => isReady || undefined, CONNECT_MS, 'the gateway did not answer');
  } catch (error) {
    gateway.close();
    throw error;
  }
  return {
    hear: (isIt, patienceMs) => until(() => heard.find(isIt), patienceMs, 'nothing was heard'),
    close: () => gateway.close(),
  };
}

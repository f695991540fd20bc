// Who may speak. A code shows on the terminal, and whoever writes it in the channel is known by their user id: nobody
// can pair who does not see the terminal, and the terminal has the last word.

import { randomBytes, randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { formatDuration } from '../../core/duration.ts';
import { ThreadmuxError } from '../../core/errors.ts';
import { isDiscordId } from '../../core/snowflake.ts';
import { openGateway } from '../../discord/gateway.ts';
import { createMessage, deleteMessage, react } from '../../discord/messages.ts';
import { type DiscordMessage, messageSchema } from '../../discord/payloads.ts';
import { connectRest, type Rest } from '../../discord/rest.ts';
import { archiveThread, ensureThread, openThreadChannel } from '../../discord/threads.ts';
import type { CleanUp, Questions } from '../questions.ts';

interface AllowOptions {
  readonly ask: Questions;
  readonly undo: CleanUp;
  readonly rest: Rest;
  readonly token: string;
  readonly channel: { readonly id: string; readonly name: string };
  readonly botId: string;
  /** Given as flags. */
  readonly given: readonly string[];
  /** Of the present configuration. */
  readonly present: readonly string[];
}

const PAIRING_MS = 10 * 60_000;
/** Without signs that look alike. */
const LETTERS = 'ABCDEFGHJKMNPQRSTUVWXYZ23456789';

export async function chooseAllowed(options: AllowOptions): Promise<readonly string[]> {
  const { ask, given, present } = options;
  if (given.length > 0) return given.map((id) => checkUserIds(id, options.botId));
  if (present.length > 0 && (!ask.isTerminal || (await keepPresent(ask, present)))) return present;
  const allowed: string[] = [];
  for (;;) {
    const id = await askForOne(options, allowed.length === 0);
    if (id === undefined) return allowed;
    if (!allowed.includes(id)) allowed.push(id);
    ask.say(`May speak: ${allowed.join(', ')}`);
  }
}

export function checkUserIds(id: string, botId?: string): string {
  const hint = 'In Discord: User Settings, Advanced, Developer Mode; then right-click a name, Copy User ID.';
  if (!isDiscordId(id)) throw new ThreadmuxError('bad_usage', `--allow: "${id}" is not a user id`, { hint });
  if (id === botId) throw new ThreadmuxError('bad_usage', `--allow: ${id} is the bot itself`, { hint });
  return id;
}

function keepPresent(ask: Questions, present: readonly string[]): Promise<boolean> {
  return ask.yes(`These users may speak now: ${present.join(', ')}. Keep them?`, true);
}

async function askForOne(options: AllowOptions, isFirst: boolean): Promise<string | undefined> {
  const { ask } = options;
  for (;;) {
    const answer = await ask.line(
      isFirst
        ? 'Your Discord user id, or Enter to be found by a code:'
        : "Another person's user id, `pair` to find them by a code, or Enter to go on:",
      '--allow',
    );
    if (answer === '' && !isFirst) return undefined;
    if (answer === '' || answer === 'pair') {
      const id = await pair(options);
      if (id !== undefined) return id;
    } else if (isDiscordId(answer) && answer !== options.botId) return answer;
    else ask.say('That is not the user id of a person: 15 to 20 digits.');
  }
}

async function pair({ ask, undo, rest, token, channel }: AllowOptions): Promise<string | undefined> {
  const code = Array.from({ length: 6 }, () => LETTERS[randomInt(LETTERS.length)]).join('');
  const ears = await openMessageListener(rest, token);
  undo.later(async () => ears.close());
  const nonce = `pair-${Date.now()}-${randomInt(1_000_000)}`;
  const invitation = await createMessage(rest, channel.id, nonce, {
    content: 'threadmux is being set up. If that is you: write the code here that your terminal shows.',
  });
  const takeBack = async () => {
    if (invitation !== undefined) await deleteMessage(rest, channel.id, invitation.id);
  };
  undo.later(takeBack);
  ask.say(`Write this in #${channel.name} (it waits ten minutes):\n\n    ${code}\n`);
  try {
    const { author, id } = await ears.hear(
      (message) =>
        message.channel_id === channel.id &&
        !message.author.bot &&
        message.webhook_id === undefined &&
        message.content.trim().toUpperCase() === code,
      PAIRING_MS,
    );
    const who = `${author.username} (${author.id})`;
    if (!(await ask.confirm(`${who} wrote it. May they type into your sessions?`))) return;
    await react(rest, channel.id, id, '✅').catch(() => {}); // a sign for the person, no more
    return author.id;
  } finally {
    ears.close();
    await takeBack().catch(() => {});
  }
}

// The proof that it works: a thread is made, a message posted there, heard over the gateway, and the thread archived.

export interface RoundTripTarget {
  readonly api: string;
  readonly token: string;
  readonly channel: string;
}

/** Not the name of any session: nothing that is written in it is ever typed. */
const TITLE = 'threadmux: set-up check';
const WELCOME = 'A check by `threadmux init`: this thread is archived again in a moment.';
const HEARING_MS = 30_000;

/** How long the message took to come back, in milliseconds. */
export async function makeRoundTrip(to: RoundTripTarget, undo: CleanUp): Promise<number> {
  const rest = connectRest({ token: to.token, api: to.api, patienceMs: 10_000 });
  undo.later(() => rest.close());
  const place = await openThreadChannel(rest, to.channel);
  const ears = await openMessageListener(rest, to.token);
  undo.later(async () => ears.close());
  const thread = await ensureThread(place, TITLE, WELCOME);
  let isOver = false;
  undo.later(async () => {
    if (!isOver) await archiveThread(rest, thread.id);
  });
  const asked = Date.now();
  const nonce = randomBytes(12).toString('base64url');
  const posted = await createMessage(rest, thread.id, nonce, {
    content: 'It works: this message went out and came back.',
    silent: true,
  });
  await ears.hear(({ id }) => id === posted?.id, HEARING_MS);
  const tookMs = Date.now() - asked;
  await archiveThread(rest, thread.id);
  isOver = true;
  return tookMs;
}

// Ears in Discord for a moment: to hear who writes a code, and to hear our own message come back.

interface MessageListener {
  /** The first message that is the one, also if it was heard before the question. */
  hear(isIt: (message: DiscordMessage) => boolean, patienceMs: number): Promise<DiscordMessage>;
  close(): void;
}

const INTENTS = (1 << 0) | (1 << 9) | (1 << 15);
const CONNECT_MS = 45_000;

/** Resolves once it is listening. */
async function openMessageListener(rest: Rest, token: string): Promise<MessageListener> {
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

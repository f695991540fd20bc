// The steps of init that exchange messages: pairing and the test message. For pairing, the terminal shows a code, and the user
// who writes it in the channel is added after a confirmation at the terminal. Without seeing the terminal nobody can pair.

import { randomBytes, randomInt } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
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
  /** From --allow. */
  readonly given: readonly string[];
  /** From the current configuration. */
  readonly present: readonly string[];
}

const PAIRING_MS = 10 * 60_000;
/** Without characters that look alike. */
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
    ask.say(`Allowed users: ${allowed.join(', ')}`);
  }
}

export function checkUserIds(id: string, botId?: string): string {
  const hint =
    'In Discord, turn on Developer Mode (User Settings, Advanced), then right-click a name and choose Copy User ID.';
  if (!isDiscordId(id)) throw new ThreadmuxError('bad_usage', `--allow: "${id}" is not a user id`, { hint });
  if (id === botId) throw new ThreadmuxError('bad_usage', `--allow: ${id} is the bot itself`, { hint });
  return id;
}

function keepPresent(ask: Questions, present: readonly string[]): Promise<boolean> {
  return ask.yes(`Allowed users: ${present.join(', ')}. Keep them?`, true);
}

async function askForOne(options: AllowOptions, isFirst: boolean): Promise<string | undefined> {
  const { ask } = options;
  for (;;) {
    const answer = await ask.line(
      isFirst
        ? 'Your Discord user id, or press Enter to pair with a code:'
        : 'Another user id, `pair` to pair with a code, or press Enter to continue:',
      '--allow',
    );
    if (answer === '' && !isFirst) return undefined;
    if (answer === '' || answer === 'pair') {
      const id = await pair(options);
      if (id !== undefined) return id;
    } else if (isDiscordId(answer) && answer !== options.botId) return answer;
    else ask.say('This is not a user id. A user id has 15 to 20 digits.');
  }
}

async function pair({ ask, undo, rest, token, channel }: AllowOptions): Promise<string | undefined> {
  const code = Array.from({ length: 6 }, () => LETTERS[randomInt(LETTERS.length)]).join('');
  const listener = await openMessageListener(rest, token);
  undo.later(async () => listener.close());
  const nonce = `pair-${Date.now()}-${randomInt(1_000_000)}`;
  const invitation = await createMessage(rest, channel.id, nonce, {
    content: 'threadmux is being set up. If you are doing this, write the code from your terminal here.',
  });
  const deleteInvitation = async () => {
    if (invitation !== undefined) await deleteMessage(rest, channel.id, invitation.id);
  };
  undo.later(deleteInvitation);
  ask.say(`Write this code in #${channel.name} within ten minutes:\n\n    ${code}\n`);
  try {
    const { author, id } = await listener.waitFor(
      (message) =>
        message.channel_id === channel.id &&
        !message.author.bot &&
        message.webhook_id === undefined &&
        message.content.trim().toUpperCase() === code,
      PAIRING_MS,
    );
    const who = `${author.username} (${author.id})`;
    if (!(await ask.confirm(`${who} wrote the code. Allow this user to write to your sessions?`))) return;
    await react(rest, channel.id, id, '✅').catch(() => {}); // only feedback for the user
    return author.id;
  } finally {
    listener.close();
    await deleteInvitation().catch(() => {});
  }
}

export interface RoundTripTarget {
  readonly api: string;
  readonly token: string;
  readonly channel: string;
}

/** Not the title of a session's thread, so nothing written there is typed. */
const TITLE = 'threadmux: setup test';
const WELCOME = '`threadmux init` uses this thread for a test and archives it.';
const ARRIVES_WITHIN_MS = 30_000;

/** Creates a thread, waits until the gateway reports a message in it, and archives it. Returns the time in milliseconds. */
export async function makeRoundTrip(to: RoundTripTarget, undo: CleanUp): Promise<number> {
  const rest = connectRest({ token: to.token, api: to.api, patienceMs: 10_000 });
  undo.later(() => rest.close());
  const place = await openThreadChannel(rest, to.channel);
  const listener = await openMessageListener(rest, to.token);
  undo.later(async () => listener.close());
  const thread = await ensureThread(place, TITLE, WELCOME);
  let isOver = false;
  undo.later(async () => {
    if (!isOver) await archiveThread(rest, thread.id);
  });
  const asked = Date.now();
  const nonce = randomBytes(12).toString('base64url');
  const posted = await createMessage(rest, thread.id, nonce, {
    content: 'Test message from `threadmux init`.',
    silent: true,
  });
  await listener.waitFor(({ id }) => id === posted?.id, ARRIVES_WITHIN_MS);
  const tookMs = Date.now() - asked;
  await archiveThread(rest, thread.id);
  isOver = true;
  return tookMs;
}

interface MessageListener {
  /** The first message that matches, including messages received before the call. */
  waitFor(matches: (message: DiscordMessage) => boolean, patienceMs: number): Promise<DiscordMessage>;
  close(): void;
}

const INTENTS = (1 << 0) | (1 << 9) | (1 << 15);
const CONNECT_MS = 45_000;

/** Resolves when the gateway is connected. */
async function openMessageListener(rest: Rest, token: string): Promise<MessageListener> {
  const received: DiscordMessage[] = [];
  let isReady = false;
  let fatal: Error | undefined;
  const events = new EventEmitter();
  const gateway = openGateway({
    rest,
    token,
    intents: INTENTS,
    load: () => undefined,
    save: () => {},
    onFatal: (error) => {
      fatal = error;
      events.emit('news');
    },
    handle: (name, data) => {
      if (name === 'READY') isReady = true;
      if (name === 'MESSAGE_CREATE') received.push(messageSchema.parse(data));
      events.emit('news');
    },
  });

  /** Calls `look` after every event until it returns a value. */
  async function until<T>(look: () => T | undefined, patienceMs: number, what: string): Promise<T> {
    for (const signal = AbortSignal.timeout(patienceMs); ; ) {
      const value = look();
      if (fatal !== undefined) throw fatal;
      if (value !== undefined) return value;
      await once(events, 'news', { signal }).catch(() => {
        throw new ThreadmuxError('discord_unreachable', `${what} within ${formatDuration(patienceMs)}`, {
          hint: 'Check the network, then run this again.',
        });
      });
    }
  }

  try {
    await until(() => isReady || undefined, CONNECT_MS, 'the gateway did not respond');
  } catch (error) {
    gateway.close();
    throw error;
  }
  return {
    waitFor: (matches, patienceMs) => until(() => received.find(matches), patienceMs, 'the message did not arrive'),
    close: () => gateway.close(),
  };
}

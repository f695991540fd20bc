// Who may speak. A code shows on the terminal, and whoever writes it in the channel is known by their user id: nobody
// can pair who does not see the terminal, and the terminal has the last word.

import { randomInt } from 'node:crypto';
import { ThreadmuxError } from '../../core/errors.ts';
import { isDiscordId } from '../../core/snowflake.ts';
import { createMessage, deleteMessage, react } from '../../discord/messages.ts';
import type { Rest } from '../../discord/rest.ts';
import type { CleanUp } from '../clean-up.ts';
import type { Questions } from '../questions.ts';
import { openMessageListener } from './wait-for-message.ts';

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

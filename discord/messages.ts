// Posts, edits, reads and reacts to messages. Every message has a nonce made from its subject, so that a retry creates
// no duplicate. No text can ping anybody.

import type {
  APIActionRowComponent,
  APIComponentInMessageActionRow,
  RESTPatchAPIChannelMessageJSONBody,
  RESTPostAPIChannelMessageJSONBody,
} from 'discord-api-types/v10';
import { isThreadmuxError } from '../core/errors.ts';
import { byAge } from '../core/snowflake.ts';
import { neutralise } from '../core/untrusted-text.ts';
import { FILE_TOO_LARGE, REQUEST_TOO_LARGE, UNKNOWN_EMOJI, UNKNOWN_MESSAGE } from './error-codes.ts';
import { type DiscordMessage, messageSchema } from './payloads.ts';
import type { CallOptions, FileUpload, Rest } from './rest.ts';

export type ComponentRow = APIActionRowComponent<APIComponentInMessageActionRow>;

interface AttachedFile extends FileUpload {
  /** The alternative text; at most 1,024 code points. */
  readonly description?: string;
}

export interface MessageDraft {
  readonly content: string;
  readonly components?: readonly ComponentRow[];
  /** On an edit, they replace the message's files (an empty list removes them); if missing, the files stay. */
  readonly files?: readonly AttachedFile[];
  /** Posted without a notification. */
  readonly silent?: boolean;
  readonly replyTo?: string;
}

const SUPPRESS_EMBEDS = 1 << 2;
const SUPPRESS_NOTIFICATIONS = 1 << 12;

/** Undefined if it was posted before and then deleted. */
export async function createMessage(
  rest: Rest,
  channelId: string,
  nonce: string,
  draft: MessageDraft,
  options: CallOptions = {},
): Promise<DiscordMessage | undefined> {
  const body: RESTPostAPIChannelMessageJSONBody = {
    ...bodyOf(draft),
    nonce,
    enforce_nonce: true,
    flags: SUPPRESS_EMBEDS | (draft.silent ? SUPPRESS_NOTIFICATIONS : 0),
    ...(draft.replyTo === undefined
      ? {}
      : { message_reference: { message_id: draft.replyTo, fail_if_not_exists: false } }),
  };
  const path = `/channels/${channelId}/messages`;
  try {
    return messageSchema.parse(await rest.call('POST', path, { ...options, body, files: draft.files ?? [] }));
  } catch (error) {
    if (refusedWith(error, UNKNOWN_MESSAGE)) return undefined;
    throw error;
  }
}

export async function editMessage(
  rest: Rest,
  channelId: string,
  id: string,
  draft: Partial<MessageDraft>,
  options: CallOptions = {},
): Promise<void> {
  const body: RESTPatchAPIChannelMessageJSONBody = bodyOf(draft);
  const path = `/channels/${channelId}/messages/${id}`;
  await rest.call('PATCH', path, { ...options, body, files: draft.files ?? [] });
}

/** False if somebody has deleted it. */
export async function editIfThere(rest: Rest, channelId: string, id: string, draft: Partial<MessageDraft>) {
  try {
    await editMessage(rest, channelId, id, draft);
    return true;
  } catch (error) {
    if (!refusedWith(error, UNKNOWN_MESSAGE)) throw error;
    return false;
  }
}

/** The part that is common to posting, editing and answering an interaction. */
export function bodyOf(draft: Partial<MessageDraft>) {
  return {
    ...(draft.content === undefined ? {} : { content: draft.content }),
    allowed_mentions: { parse: [] },
    ...(draft.components === undefined ? {} : { components: [...draft.components] }),
    ...(draft.files === undefined ? {} : { attachments: draft.files.map(listed) }),
  };
}

function listed({ name, description }: AttachedFile, at: number) {
  return { id: String(at), filename: name, ...(description === undefined ? {} : { description }) };
}

export async function deleteMessage(
  rest: Rest,
  channelId: string,
  id: string,
  options: CallOptions = {},
): Promise<void> {
  await ignoring([UNKNOWN_MESSAGE], rest.call('DELETE', `/channels/${channelId}/messages/${id}`, options));
}

export async function react(rest: Rest, channelId: string, id: string, emoji: string) {
  const path = `/channels/${channelId}/messages/${id}/reactions/${encodeURIComponent(emoji)}/@me`;
  await ignoring([UNKNOWN_MESSAGE], rest.call('PUT', path));
}

export async function unreact(rest: Rest, channelId: string, id: string, emoji: string) {
  const path = `/channels/${channelId}/messages/${id}/reactions/${encodeURIComponent(emoji)}/@me`;
  await ignoring([UNKNOWN_MESSAGE, UNKNOWN_EMOJI], rest.call('DELETE', path));
}

export async function showTyping(rest: Rest, channelId: string): Promise<void> {
  await rest.call('POST', `/channels/${channelId}/typing`, { patienceMs: 0 });
}

export async function getMessage(rest: Rest, channelId: string, id: string) {
  return messageSchema.parse(await rest.call('GET', `/channels/${channelId}/messages/${id}`));
}

/** All messages after this one, oldest first. */
export async function messagesAfter(
  rest: Rest,
  channelId: string,
  after: string,
  options: CallOptions = {},
): Promise<readonly DiscordMessage[]> {
  const found: DiscordMessage[] = [];
  for (let last = after; ; ) {
    const path = `/channels/${channelId}/messages?after=${last}&limit=100`;
    const page = messageSchema.array().parse(await rest.call('GET', path, options));
    found.push(...page.sort(byAge));
    if (page.length < 100) return found;
    last = found.at(-1)?.id ?? last;
  }
}

const PAGE = 100;

/** The newest messages, oldest first. `isAll`: there are no older ones. */
export async function newestMessages(
  rest: Rest,
  channelId: string,
  most: number,
): Promise<{ readonly messages: readonly DiscordMessage[]; readonly isAll: boolean }> {
  const found: DiscordMessage[] = [];
  for (let before = ''; found.length < most; before = `&before=${found.at(-1)?.id}`) {
    const raw = await rest.call('GET', `/channels/${channelId}/messages?limit=${PAGE}${before}`);
    const page = messageSchema.array().parse(raw);
    found.push(...page.sort(byAge).toReversed());
    if (page.length < PAGE) return { messages: found.slice(0, most).toReversed(), isAll: found.length <= most };
  }
  return { messages: found.slice(0, most).toReversed(), isAll: false };
}

export function refusedWith(error: unknown, ...codes: readonly number[]): boolean {
  return isThreadmuxError(error) && error.answer !== undefined && codes.includes(error.answer.code);
}

/** The files are too large for the server, or for a proxy before it. */
export function isTooLarge(error: unknown): boolean {
  if (refusedWith(error, REQUEST_TOO_LARGE, FILE_TOO_LARGE)) return true;
  return isThreadmuxError(error) && error.answer?.status === 413;
}

async function ignoring(codes: readonly number[], call: Promise<unknown>): Promise<void> {
  await call.catch((error: unknown) => {
    if (!refusedWith(error, ...codes)) throw error;
  });
}

// Buttons.

const KEYS = [
  ['Escape', 'Esc'],
  ['Up', '↑'],
  ['Down', '↓'],
  ['Enter', 'Enter'],
] as const;

/** Key buttons for one screen. They work only while the pane shows the screen with this fingerprint. Without one, only “Screen”. */
export function keyButtons(print?: string): ComponentRow {
  const keys = print === undefined ? [] : KEYS.map(([key, label]) => button(label, `key:${key}:${print}`));
  return row(...keys, button('Screen', 'key:look'));
}

export type ButtonStyle = 'primary' | 'plain' | 'good' | 'bad';
const STYLES = { primary: 1, plain: 2, good: 3, bad: 4 } as const;
const LABEL = 80;

export function button(label: string, customId: string, style: ButtonStyle = 'plain') {
  return { type: 2 as const, style: STYLES[style], label: shownLabel(label), custom_id: customId };
}

/** Names of sessions come from hosts: nothing in a label may be hidden or turned around. */
export function shownLabel(label: string): string {
  const points = [...neutralise(label)];
  const text = points.length <= LABEL ? points.join('') : `${points.slice(0, LABEL - 1).join('')}…`;
  return text || '…';
}

export function row(...components: readonly ReturnType<typeof button>[]): ComponentRow {
  return { type: 1, components: [...components] };
}

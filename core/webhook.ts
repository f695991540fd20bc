// What is sent to the addresses in "notify", and when. Pure.

import type { ConfigFile } from './config-schema.ts';
import { neutralise } from './untrusted-text.ts';

export const WEBHOOK_EVENTS = ['needs you', 'done', 'failed'] as const;
type WebhookEvent = (typeof WEBHOOK_EVENTS)[number];

export type Webhook = ConfigFile['notify'][number];

export interface WebhookNews {
  readonly event: WebhookEvent;
  readonly session: string;
  readonly host: string;
  /** For "needs you": what for. */
  readonly for: string | null;
  readonly thread: string;
  readonly at: number;
}

/** Undefined if the change is not worth a notification. */
export function webhookEvent(before: string | undefined, now: string, hasFailed: boolean): WebhookEvent | undefined {
  if (now === before) return undefined;
  if (now === 'needs_person') return 'needs you';
  if (now !== 'idle' || before !== 'working') return undefined;
  return hasFailed ? 'failed' : 'done';
}

interface WebhookRequest {
  readonly address: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const WORDS: Readonly<Record<WebhookEvent, string>> = {
  'needs you': 'needs you',
  done: 'is done',
  failed: 'has failed',
};
const PRIORITY: Readonly<Record<WebhookEvent, string>> = { 'needs you': 'high', done: 'default', failed: 'high' };
const TAG: Readonly<Record<WebhookEvent, string>> = {
  'needs you': 'bell',
  done: 'white_check_mark',
  failed: 'warning',
};

/** fetch refuses an address with a user or a password, so they are a header. */
export function webhookRequest({ url, format }: Omit<Webhook, 'on'>, news: WebhookNews): WebhookRequest {
  const address = new URL(url);
  const { username, password } = address;
  Object.assign(address, { username: '', password: '' });
  const { headers, body } = webhookContent(format, news);
  if (username === '' && password === '') return { address: address.href, headers, body };
  const credentials = Buffer.from(`${decoded(username)}:${decoded(password)}`).toString('base64');
  return { address: address.href, headers: { ...headers, authorization: `Basic ${credentials}` }, body };
}

/** As it is if it is not encoded. */
export function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function webhookContent(format: Webhook['format'], news: WebhookNews): Omit<WebhookRequest, 'address'> {
  const { event, session, host, for: what } = news;
  const text = `${plain(session)} on ${host} ${WORDS[event]}${what === null ? '' : ` (${plain(what)})`}`;
  if (format === 'json')
    return {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ ...news, at: new Date(news.at).toISOString(), text }),
    };
  // Headers are ASCII; the body is not limited.
  return {
    headers: {
      'content-type': 'text/plain; charset=utf-8',
      title: 'threadmux',
      priority: PRIORITY[event],
      tags: TAG[event],
    },
    body: text,
  };
}

/** A host or a program has chosen these words, and many services make links, mentions and bold words of a text. */
function plain(words: string): string {
  return neutralise(words).replace(/[<>[\]@`*~|\\]/g, "'");
}

/** The path and the query of an address may be a secret. */
export function shownAddress(url: string): string {
  return URL.canParse(url) ? `${new URL(url).origin}/…` : '…';
}

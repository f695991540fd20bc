// A workspace for one test, and a user who works with it over real HTTP, signed in with a real key.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { snowflakeTime } from '../../core/snowflake.ts';
import { startWorkspace, type Workspace, type WorkspaceOptions } from '../../workspace/server.ts';
import { asDiscord, type DiscordOptions, type GatewayControls } from './as-discord.mjs';
import { atEnd } from './at-end.ts';
import { refuseAsDiscord } from './discord-limits.ts';
import { openBotPort, type SignedIn, signIn } from './workspace-access.mjs';

export interface WireMessage {
  readonly id: string;
  readonly channel_id: string;
  readonly content: string;
  readonly type: number;
  readonly flags: number;
  readonly author: { readonly id: string };
  readonly attachments: readonly {
    readonly id: string;
    readonly filename: string;
    readonly url: string;
    readonly size: number;
  }[];
  readonly components: readonly unknown[];
  readonly reactions?: readonly { readonly emoji: { readonly name: string }; readonly count: number }[];
  readonly mentions: readonly { readonly id: string }[];
  readonly mention_everyone: boolean;
  /** The message it replies to. */
  readonly message_reference?: { readonly message_id: string };
  readonly nonce?: string | number;
}

interface Reply {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into many shapes of answers
  readonly body: any;
}

export interface UploadedFile {
  readonly name: string;
  readonly data: string | Uint8Array<ArrayBuffer>;
  readonly type?: string;
}

interface GivenOption {
  readonly name: string;
  readonly value?: string | number | boolean;
  readonly focused?: boolean;
  readonly options?: readonly GivenOption[];
}

export interface Person {
  /** Any request as the user; returns the answer, including errors. */
  call(method: string, path: string, body?: unknown): Promise<Reply>;
  say(
    channelId: string,
    content: string,
    options?: { files?: readonly UploadedFile[]; replyTo?: string },
  ): Promise<WireMessage>;
  messages(channelId: string, query?: string): Promise<WireMessage[]>;
  react(channelId: string, messageId: string, emoji: string): Promise<void>;
  startThread(channelId: string, messageId: string, name: string): Promise<{ id: string }>;
  /** These return the interaction's id. Like a person who reads first: not in the first second of the buttons, unless it is `sudden`. */
  tap(channelId: string, messageId: string, customId: string, how?: { sudden?: boolean }): Promise<string>;
  choose(channelId: string, messageId: string, customId: string, values: readonly string[]): Promise<string>;
  slash(channelId: string, name: string, options?: readonly GivenOption[]): Promise<string>;
  autocomplete(channelId: string, name: string, options: readonly GivenOption[]): Promise<string>;
  submitModal(channelId: string, interactionId: string, values: Record<string, string>): Promise<string>;
  /** The headers of a request as the user. */
  readonly headers: Record<string, string>;
  readonly token: string;
  readonly signedIn: SignedIn;
}

export interface TestWorkspace extends Workspace {
  readonly dir: string;
  readonly gateway: GatewayControls;
  readonly person: Person;
  /** The bot's address, for clients that only support TCP: a port of the test that leads to the socket. */
  readonly api: string;
  readonly botUrl: string;
  /** The bot's address in the program. */
  readonly socketApi: string;
  /** How many requests may have changed something so far. */
  changes(): number;
  /** A new link each time. */
  readonly link: string;
  /** A request with the bot's token, without a client. */
  bot(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Reply>;
}

export const USER_AGENT = 'DiscordBot (https://example.com, 1.0)';

export interface TestWorkspaceOptions extends Partial<Omit<WorkspaceOptions, 'inspection'>>, DiscordOptions {
  /** The person asks again only after a request that may have changed the answer. */
  readonly looksOften?: boolean;
}

/** As strict as Discord, and with the faults that the test injects. */
export async function startTestWorkspace(options: TestWorkspaceOptions = {}): Promise<TestWorkspace> {
  const dir = options.dir ?? mkdtempSync(join(tmpdir(), 'threadmux-workspace-'));
  const { inspection, gateway, changes } = asDiscord({ refuse: refuseAsDiscord, ...options });
  const workspace = await startWorkspace({ ...options, dir, inspection });
  const port = await openBotPort(workspace.api, workspace.url);
  atEnd(async () => {
    port.close();
    await workspace.close();
    if (options.dir === undefined) rmSync(dir, { recursive: true, force: true, maxRetries: 10 });
  });
  const bot: TestWorkspace['bot'] = (method, path, body, headers = {}) =>
    request(port.api + path, method, body, {
      authorization: `Bot ${workspace.token}`,
      'user-agent': USER_AGENT,
      ...headers,
    });
  return {
    ...workspace,
    gateway,
    dir,
    bot,
    api: port.api,
    botUrl: port.url,
    socketApi: workspace.api,
    changes,
    get link() {
      return workspace.newLink();
    },
    person: await enter(workspace.newLink(), options.looksOften ? changes : undefined),
  };
}

/** Opens the link, like a browser. With `changes`, an answer is kept until it changes: tests wait by asking the same again and again. */
export async function enter(link: string, changes?: () => number): Promise<Person> {
  const signedIn = await signIn(link);
  const headers = { ...signedIn.headers };
  const api = `${headers.origin}/api/v10`;
  const kept = new Map<string, { readonly at: number; readonly reply: Reply }>();
  const call: Person['call'] = async (method, path, body) => {
    if (method !== 'GET' || changes === undefined) return ask(method, path, body);
    const at = changes(); // before the answer, which may be older than the next change
    const known = kept.get(path);
    if (known?.at === at) return known.reply;
    const reply = await ask(method, path);
    kept.set(path, { at, reply });
    return reply;
  };
  /** Signs in again after a restart, like the page. */
  const ask: Person['call'] = async (method, path, body) => {
    const reply = await request(api + path, method, body, headers);
    if (reply.status !== 401) return reply;
    Object.assign(headers, (await signedIn.again()).headers);
    return request(api + path, method, body, headers);
  };
  const done = async (method: string, path: string, body?: unknown) => {
    const reply = await call(method, path, body);
    if (reply.status >= 300) throw new Error(`${method} ${path}: ${reply.status} ${JSON.stringify(reply.body)}`);
    return reply.body;
  };
  const interact = async (body: object): Promise<string> => (await done('POST', '/interactions', body)).id;
  const whenRead = readFirst(ask);
  return {
    headers,
    token: signedIn.token,
    signedIn,
    call,
    say: (channelId, content, { files = [], replyTo } = {}) => {
      const reference = replyTo === undefined ? {} : { message_reference: { message_id: replyTo } };
      const body = withFiles({ content, ...reference }, files);
      return done('POST', `/channels/${channelId}/messages`, body);
    },
    messages: (channelId, query = 'limit=100') => done('GET', `/channels/${channelId}/messages?${query}`),
    react: (channelId, messageId, emoji) =>
      done('PUT', `/channels/${channelId}/messages/${messageId}/reactions/${encodeURIComponent(emoji)}/@me`),
    startThread: (channelId, messageId, name) =>
      done('POST', `/channels/${channelId}/messages/${messageId}/threads`, { name }),
    async tap(channelId, messageId, customId, { sudden = false } = {}) {
      const data = { custom_id: customId };
      const act = () => interact({ type: 3, channel_id: channelId, message_id: messageId, data });
      return sudden ? act() : whenRead(channelId, messageId, customId, act);
    },
    async choose(channelId, messageId, customId, values) {
      const data = { custom_id: customId, values };
      const act = () => interact({ type: 3, channel_id: channelId, message_id: messageId, data });
      return whenRead(channelId, messageId, customId, act);
    },
    slash: (channelId, name, options = []) => interact({ type: 2, channel_id: channelId, data: { name, options } }),
    autocomplete: (channelId, name, options) => interact({ type: 4, channel_id: channelId, data: { name, options } }),
    submitModal: (channelId, interactionId, values) =>
      interact({ type: 5, channel_id: channelId, interaction_id: interactionId, data: { values } }),
  };
}

const READ_MS = 1_050;

/** Taps when the buttons of the message, and the last tap on another one, are a second old. Keys have their own rule. */
function readFirst(ask: Person['call']) {
  let last = { message: '', at: 0 };
  return async (channel: string, message: string, button: string, tap: () => Promise<string>) => {
    const isKey = /^key:|^dialog:.*:key-(?:Up|Down|Left|Right|Escape)$/.test(button);
    const shownAt = async () => {
      const { body } = await ask('GET', `/channels/${channel}/messages/${message}`);
      const edited = Date.parse((body as { edited_timestamp?: string })?.edited_timestamp ?? '') || 0;
      return Math.max(snowflakeTime(message), edited, last.message === message ? 0 : last.at);
    };
    for (let waitMs = isKey ? 0 : 1; waitMs > 0; ) {
      waitMs = (await shownAt()) + READ_MS - Date.now();
      if (waitMs > 0) await sleep(waitMs);
    }
    const tapped = await tap();
    last = { message, at: Date.now() };
    return tapped;
  };
}

export function withFiles(payload: object, files: readonly UploadedFile[]): unknown {
  if (files.length === 0) return payload;
  const form = new FormData();
  form.set('payload_json', JSON.stringify(payload));
  files.forEach(({ name, data, type = 'application/octet-stream' }, index) => {
    form.set(`files[${index}]`, new Blob([data], { type }), name);
  });
  return form;
}

export async function request(
  url: string,
  method: string,
  body: unknown,
  headers: Record<string, string>,
): Promise<Reply> {
  const form = body instanceof FormData;
  const response = await fetch(url, {
    method,
    headers: { ...(body !== undefined && !form && { 'content-type': 'application/json' }), ...headers },
    ...(body !== undefined && { body: form ? body : typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.includes('application/json');
  return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text };
}

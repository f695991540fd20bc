// A gateway connection without a client: sends what a test says, and keeps everything it receives.

import { vi } from 'vitest';
import { WebSocket } from 'ws';
import { atEnd } from '../support/at-end.ts';
import type { TestWorkspace } from '../support/workspace.ts';

interface Heard {
  readonly op: number;
  readonly t: string | null;
  readonly s: number | null;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into many shapes of payloads
  readonly d: any;
}

export interface RawSocket {
  readonly heard: readonly Heard[];
  send(op: number, d?: unknown): void;
  sendText(text: string | Buffer): void;
  /** Waits for the first payload that matches. */
  until(what: { op?: number; t?: string }): Promise<Heard>;
  readonly closed: Promise<number>;
  close(code?: number): void;
  terminate(): void;
}

/** Connects as the bot; `at` is another address than the bot's. */
export function openSocket(
  workspace: Pick<TestWorkspace, 'botUrl'>,
  options: { query?: string; headers?: Record<string, string>; path?: string; at?: string } = {},
): RawSocket {
  const { query = 'v=10&encoding=json', headers = {}, path = '/gateway' } = options;
  const { at = workspace.botUrl } = options;
  const socket = new WebSocket(`ws${at.slice(4)}${path}?${query}`, { headers });
  atEnd(() => socket.terminate());
  const heard: Heard[] = [];
  const closed = new Promise<number>((resolve) => {
    socket.on('close', resolve);
    // A refused handshake has no close code, so its HTTP status is used.
    socket.on('unexpected-response', (_, response) => {
      resolve(response.statusCode ?? 0);
      socket.terminate();
    });
    socket.on('error', () => {});
  });
  socket.on('message', (data) => void heard.push(JSON.parse(String(data))));
  return {
    heard,
    closed,
    send: (op, d = null) => socket.send(JSON.stringify({ op, d })),
    sendText: (text) => socket.send(text),
    until: ({ op, t }) =>
      vi.waitFor(
        () => {
          const found = heard.find((each) => (op === undefined || each.op === op) && (t === undefined || each.t === t));
          if (found === undefined) throw new Error(`nothing with op ${op}, t ${t} was heard`);
          return found;
        },
        { timeout: 5000 },
      ),
    close: (code) => socket.close(code),
    terminate: () => socket.terminate(),
  };
}

/** Connects as the page, signed in, and waits for READY. */
export async function openPageSocket(workspace: TestWorkspace): Promise<RawSocket> {
  const { url, person } = workspace;
  const socket = openSocket(workspace, { at: url, headers: { origin: url } });
  await socket.until({ op: 10 });
  socket.send(2, { token: person.token });
  await socket.until({ t: 'GUILD_CREATE' });
  return socket;
}

/** GUILDS, GUILD_MESSAGES, GUILD_MESSAGE_REACTIONS and MESSAGE_CONTENT. */
const INTENTS = 34305;

export function identifyData(workspace: Pick<TestWorkspace, 'token'>, intents = INTENTS) {
  return { token: workspace.token, intents, properties: { os: 'x', browser: 'x', device: 'x' } };
}

export async function identify(
  workspace: TestWorkspace,
  intents = INTENTS,
): Promise<RawSocket & { readonly sessionId: string }> {
  const socket = openSocket(workspace);
  await socket.until({ op: 10 });
  socket.send(2, identifyData(workspace, intents));
  const ready = await socket.until({ t: 'READY' });
  return Object.assign(socket, { sessionId: ready.d.session_id as string });
}

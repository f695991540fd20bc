// A client of a Codex app server: JSON-RPC over a WebSocket on a Unix socket.

import { createRequire } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import type * as ws from 'ws';
import { ThreadmuxError } from '../../../core/errors.ts';
import { parsedJson } from '../../../core/json.ts';
import { untrustedCode } from '../../../core/untrusted-text.ts';
import { VERSION } from '../../../core/version.ts';
import { parseNote, parseRequest, type ServerNote, type ServerRequest } from './server-messages.ts';

export interface ServerConnection {
  /** Rejects with the server's message, or when the connection ends. */
  call(method: string, params: object): Promise<unknown>;
  respond(id: string | number, result: unknown): void;
  onNote(listener: (note: ServerNote) => void): void;
  onRequest(listener: (request: ServerRequest) => void): void;
  /** The server has ended, or closed the connection. */
  readonly closed: Promise<void>;
}

const { WebSocket } = createRequire(import.meta.url)('ws') as typeof ws;

/** An old conversation may be large. */
const MOST_BYTES = 256 * 1024 * 1024;
const TRY_AGAIN_MS = 100;

/** Tries again until the server listens; gives up when the signal is aborted. */
export async function connectToServer(socketPath: string, signal: AbortSignal): Promise<ServerConnection> {
  for (;;) {
    const socket = await open(socketPath).catch(() => undefined);
    if (socket !== undefined) return greet(wrap(socket));
    await sleep(TRY_AGAIN_MS, undefined, { signal });
  }
}

function open(socketPath: string): Promise<ws.WebSocket> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(`ws+unix://${socketPath}:/`, {
      perMessageDeflate: false,
      maxPayload: MOST_BYTES,
      // Otherwise messages that follow an answer would be handled before the code that waits for the answer.
      allowSynchronousEvents: false,
    });
    socket.once('open', () => resolve(socket));
    socket.once('error', reject);
  });
}

interface Wrapped extends ServerConnection {
  tell(method: string): void;
}

async function greet(connection: Wrapped): Promise<ServerConnection> {
  await connection.call('initialize', {
    clientInfo: { name: 'threadmux', title: 'threadmux', version: VERSION },
    capabilities: { experimentalApi: true, requestAttestation: false },
  });
  connection.tell('initialized');
  return connection;
}

interface Message {
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: unknown;
  readonly result?: unknown;
  readonly error?: { readonly message?: unknown };
}

function wrap(socket: ws.WebSocket): Wrapped {
  const waiting = new Map<string | number, (message: Message) => void>();
  const notes: ((note: ServerNote) => void)[] = [];
  const requests: ((request: ServerRequest) => void)[] = [];
  let last = 0;
  const send = (message: object) => {
    if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message));
  };

  socket.on('error', () => {}); // `close` follows
  socket.on('message', (data) => {
    const message = parsedJson(String(data));
    if (typeof message !== 'object' || message === null) return;
    const { id, method, params } = message as Message;
    if (typeof method !== 'string') {
      const answer = id === undefined ? undefined : waiting.get(id);
      answer?.(message);
    } else if (id === undefined) {
      const note = parseNote(method, params);
      if (note !== undefined) for (const listener of notes) listener(note);
    } else {
      const request = parseRequest(method, id, params);
      if (request !== undefined) for (const listener of requests) listener(request);
    }
  });
  const closed = new Promise<void>((resolve) => {
    socket.once('close', () => {
      for (const answer of waiting.values()) answer({ error: { message: 'the connection ended' } });
      resolve();
    });
  });

  return {
    call(method, params) {
      const id = ++last;
      return new Promise((resolve, reject) => {
        waiting.set(id, ({ result, error }) => {
          waiting.delete(id);
          if (error === undefined) resolve(result);
          else
            reject(new ThreadmuxError('not_found', `Codex refused ${method}: ${untrustedCode(String(error.message))}`));
        });
        if (socket.readyState === WebSocket.OPEN) send({ id, method, params });
        else waiting.get(id)?.({ error: { message: 'the connection ended' } });
      });
    },
    respond: (id, result) => send({ id, result }),
    tell: (method) => send({ method }),
    onNote: (listener) => notes.push(listener),
    onRequest: (listener) => requests.push(listener),
    closed,
  };
}

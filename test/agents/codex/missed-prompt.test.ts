// A Codex app server that takes the first prompt just before the companion follows: it tells of that prompt only if it is asked.

import { once } from 'node:events';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { WebSocketServer } from 'ws';
import { startCompanion } from '../../../agents/codex/companion/companion.ts';
import { connectToServer } from '../../../agents/codex/companion/connection.ts';
import type { Fields } from '../../../agents/loose-fields.ts';
import { tempFolder } from '../../support/temp-home.ts';

const thread = { id: 'thread', cwd: '/home/user/project', status: { type: 'idle' }, turns: [] };
const prompt = { type: 'userMessage', id: 'prompt', content: [{ type: 'text', text: 'hello' }] };
const reply = { type: 'agentMessage', id: 'msg_1', text: 'Hello.' };
const turn = (status: string) => ({ id: 'turn', status, items: [prompt, reply] });

async function startServer(status: string) {
  const path = join(tempFolder(), 'app.sock');
  const http = createServer().listen(path);
  const sockets = new WebSocketServer({ server: http });
  onTestFinished(() => {
    for (const socket of sockets.clients) socket.terminate();
    http.close();
  });
  await once(http, 'listening');
  const note = (method: string, params: object) => {
    for (const socket of sockets.clients)
      socket.send(JSON.stringify({ method, params: { threadId: 'thread', ...params } }));
  };
  const results: Readonly<Record<string, object>> = {
    initialize: {},
    'thread/loaded/list': { data: [] },
    'thread/resume': { thread, initialTurnsPage: { data: [] } },
    'thread/read': { thread: { ...thread, turns: [turn(status)] } },
  };
  sockets.on('connection', (socket) =>
    socket.on('message', (data) => {
      const { id, method } = JSON.parse(String(data));
      if (id !== undefined) socket.send(JSON.stringify({ id, result: results[method] ?? {} }));
    }),
  );
  const dropped: Fields[] = [];
  const reporter = { drop: (event: Fields) => void dropped.push(event), ask() {}, close() {}, finish: async () => {} };
  startCompanion(await connectToServer(path, AbortSignal.timeout(10_000)), reporter, Date.now());
  note('thread/started', { thread });
  note('thread/status/changed', { status: { type: 'active' } });
  return {
    note,
    events: () => dropped.map(({ event, prompt: text }) => (text === undefined ? event : `${event} ${text}`)),
  };
}

it('a prompt of which the server does not tell is reported before the end of its turn', async () => {
  const { note, events } = await startServer('completed');
  note('item/completed', { turnId: 'turn', item: reply });
  note('turn/completed', { turn: { ...turn('completed'), items: [reply] } });
  await vi.waitFor(() => expect(events()).toEqual(['started', 'submitted hello', 'idle']));
});

it('and soon, if its turn goes on', async () => {
  const { events } = await startServer('inProgress');
  await vi.waitFor(() => expect(events()).toEqual(['started', 'submitted hello']));
});

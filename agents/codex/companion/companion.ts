// Follows the conversations of one pane's Codex as a second client of its server. What happens becomes our events; what a person
// answers in the thread goes to the server while the dialog in the terminal stays open.

import { setTimeout as sleep } from 'node:timers/promises';
import { parsedJson } from '../../../core/json.ts';
import { decisionSchema, type PromptDecision } from '../../../core/prompt.ts';
import type { AgentEvent, EventOf } from '../../event.ts';
import type { Reporter } from '../../reporter.ts';
import { askedBy, serverAnswer } from './approvals.ts';
import type { ServerConnection } from './connection.ts';
import {
  readLoaded,
  readResumed,
  readThread,
  type ServerItem,
  type ServerRequest,
  type ServerThread,
  type ServerTurn,
} from './server-messages.ts';
import { changesOf, completedItem, type EventBase, endedTurn, type PatchedFile, startedItem } from './thread-events.ts';

interface Conversation {
  readonly base: EventBase;
  isActive: boolean;
  following: 'no' | 'soon' | 'yes';
  /** What was told of the turn that ran when we began to follow it, because the server may tell it again. */
  readonly told: Set<string>;
  /** The last turn whose prompt was told. */
  prompted: string;
  /** The last complete text, until it is clear whether it is the reply: that one notifies. */
  held: EventOf<'said'> | undefined;
  /** By the id of their item, until the turn ends. */
  readonly changes: Map<string, readonly PatchedFile[]>;
}

interface OpenAsk {
  readonly request: ServerRequest;
  /** The id in our events. */
  readonly ask: string;
}

/** The server tells of a prompt within this time. */
const PROMPT_MS = 250;
const FIRST_RETRY_MS = 25;
const LONGEST_RETRY_MS = 1_000;

export function startCompanion(server: ServerConnection, reporter: Reporter, startedAt: number) {
  const conversations = new Map<string, Conversation>();
  const asks = new Map<string, OpenAsk>();
  /** The conversation that the pane shows: the last one that was opened or used. */
  let current: EventBase | undefined;

  function meet(thread: ServerThread): void {
    if (thread.ephemeral || conversations.has(thread.id)) return;
    const parent = thread.parentThreadId ?? undefined;
    const place = { cwd: thread.cwd, transcript: '' } as const;
    const base =
      parent === undefined ? { session: thread.id, ...place } : { session: parent, ...place, subagent: thread.id };
    const isActive = thread.status.type === 'active';
    conversations.set(thread.id, {
      base,
      isActive,
      following: 'no',
      told: new Set(),
      prompted: '',
      held: undefined,
      changes: new Map(),
    });
    if (parent === undefined) {
      current = base;
      reporter.drop({ ...base, event: 'started', ...(thread.model ? { model: thread.model } : {}) });
    }
    void follow(thread.id);
  }

  async function meetById(id: string): Promise<void> {
    const thread = readThread(await server.call('thread/read', { threadId: id }));
    if (thread !== undefined) meet(thread);
  }

  /** A new conversation cannot be followed before its first prompt; then it works within milliseconds. */
  async function follow(id: string): Promise<void> {
    const one = conversations.get(id);
    if (one === undefined || one.following !== 'no') return;
    one.following = 'soon';
    for (let wait = FIRST_RETRY_MS; ; wait = Math.min(2 * wait, LONGEST_RETRY_MS)) {
      try {
        const result = await server.call('thread/resume', {
          threadId: id,
          excludeTurns: true,
          initialTurnsPage: { limit: 1, sortDirection: 'desc', itemsView: 'full' },
        });
        one.following = 'yes';
        for (const turn of readResumed(result).turns) tellMissed(one, turn);
        await sleep(PROMPT_MS);
        return one.isActive && one.prompted === '' ? await tellPrompt(one, id) : undefined;
      } catch {
        if (!one.isActive) {
          one.following = 'no';
          return;
        }
        await sleep(wait);
      }
    }
  }

  /** What happened between the prompt and now. An older turn was told by an earlier process, or is not ours. */
  function tellMissed(one: Conversation, turn: ServerTurn): void {
    if (turn.status !== 'inProgress' && (turn.startedAt ?? 0) * 1_000 < startedAt) return;
    for (const item of turn.items) {
      begin(one, turn.id, item);
      complete(one, turn.id, item);
    }
    finish(one, turn);
  }

  /** The server tells a prompt to nobody if it is taken in the moment in which we begin to follow: then we ask for it. */
  async function tellPrompt(one: Conversation, id: string, turnId?: string): Promise<void> {
    const read = await server.call('thread/read', { threadId: id, includeTurns: true }).catch(() => undefined);
    const turn = readThread(read)?.turns.at(-1);
    if (turn === undefined || one.prompted === turn.id || turn.id !== (turnId ?? turn.id)) return;
    if (turnId === undefined && turn.status !== 'inProgress') return;
    for (const item of turn.items) if (item.type === 'userMessage') tellItem(one, turn.id, item);
  }

  function tellItem(one: Conversation, turn: string, item: ServerItem): void {
    if (item.type === 'userMessage') one.prompted = turn;
    tell(one, `${item.id} begins`, startedItem(one.base, turn, item));
  }

  function tell(one: Conversation, key: string, event: AgentEvent | undefined): void {
    if (event === undefined || one.told.has(key)) return;
    one.told.add(key);
    // Only the main agent's texts are posted; a subagent is heard when it asks.
    if (one.base.subagent === undefined) reporter.drop(event);
  }

  /** More follows in this turn. */
  function sayHeld(one: Conversation): void {
    const { held } = one;
    one.held = undefined;
    if (held !== undefined) tell(one, held.id, held);
  }

  function begin(one: Conversation, turn: string, item: ServerItem): void {
    sayHeld(one);
    if (item.type === 'fileChange') one.changes.set(item.id, changesOf(item));
    tellItem(one, turn, item);
  }

  function complete(one: Conversation, turn: string, item: ServerItem): void {
    const said = completedItem(one.base, turn, item);
    if (said === undefined || one.told.has(said.id)) return;
    sayHeld(one);
    one.held = said;
  }

  function finish(one: Conversation, turn: ServerTurn): void {
    const event = endedTurn(one.base, turn, one.held);
    if (event === undefined) return;
    if (event.event === 'failed') sayHeld(one);
    one.held = undefined;
    for (const [key, { request }] of asks) if (request.params.turnId === turn.id) close(one.base, key);
    tell(one, `${turn.id} ends`, event);
    one.changes.clear();
    one.told.clear();
  }

  /** Answered in the terminal, or no longer needed. */
  function close(base: EventBase, key: string): void {
    const open = asks.get(key);
    if (open === undefined) return;
    asks.delete(key);
    reporter.close(key, { ...base, event: 'resolved', ask: open.ask });
  }

  function ask(one: Conversation, request: ServerRequest): void {
    const key = keyOf(request.params.threadId, request.id);
    const event = asks.has(key) ? undefined : askedBy(one.base, request, one.changes.get(request.params.itemId) ?? []);
    if (event === undefined) return;
    sayHeld(one);
    asks.set(key, { request, ask: event.ask ?? '' });
    reporter.ask(key, event, (printed) => {
      const decision = readDecision(printed);
      const given = decision === undefined || !asks.delete(key) ? undefined : serverAnswer(request, decision);
      if (given === undefined) return;
      server.respond(request.id, given.result);
      if (given.say !== undefined) void say(request, given.say).catch(() => {}); // the connection has ended
    });
  }

  /** Joins the running turn; if that has just ended, it is the next prompt. */
  async function say({ params: { threadId, turnId } }: ServerRequest, text: string): Promise<void> {
    const input = [{ type: 'text', text }];
    await server
      .call('turn/steer', { threadId, expectedTurnId: turnId, input })
      .catch(() => server.call('turn/start', { threadId, input }));
  }

  server.onNote(({ method, params }) => {
    if (method === 'thread/started') return meet(params.thread);
    const one = conversations.get(params.threadId);
    switch (method) {
      case 'thread/status/changed':
        if (one === undefined) return void meetById(params.threadId).catch(() => {}); // it is gone again
        one.isActive = params.status.type === 'active';
        if (one.base.subagent === undefined) current = one.base;
        return one.isActive ? void follow(params.threadId) : undefined;
      case 'item/started':
        return one === undefined ? undefined : begin(one, params.turnId, params.item);
      case 'item/completed':
        return one === undefined ? undefined : complete(one, params.turnId, params.item);
      case 'turn/completed':
        if (one === undefined || one.prompted === params.turn.id) return one && finish(one, params.turn);
        return void tellPrompt(one, params.threadId, params.turn.id).then(() => finish(one, params.turn));
      case 'serverRequest/resolved':
        return one === undefined ? undefined : close(one.base, keyOf(params.threadId, params.requestId));
    }
  });
  server.onRequest((request) => {
    const one = conversations.get(request.params.threadId);
    if (one !== undefined) ask(one, request);
  });
  void server
    .call('thread/loaded/list', {})
    .then((result) => Promise.all(readLoaded(result).map(meetById)))
    .catch(() => {}); // the connection has ended

  return {
    /** The agent in the pane has ended. Resolves when everything is written. */
    async end() {
      if (current !== undefined) {
        for (const key of [...asks.keys()]) close(current, key);
        reporter.drop({ ...current, event: 'ended' });
      }
      await reporter.finish();
    },
  };
}

function keyOf(thread: string, request: string | number): string {
  return `${thread}/${request}`;
}

function readDecision(printed: string): PromptDecision | undefined {
  return decisionSchema.safeParse(parsedJson(printed)).data;
}

// Translates what OpenCode tells its plugins into the events of agents/event.ts. Pure: it runs inside
// OpenCode, on any host. A text is held back until it is clear whether it is the last one of its turn.

import type { AgentEvent } from '../event.ts';
import { type Fields, fieldsOf, listField, textField } from '../loose-fields.ts';
import { callOf, hold, LONGEST_TEXT, newPart, newTurn, type OpencodeTurn } from './held-texts.ts';
import { failureInOurWords, inOurWords, permissionInOurWords, promptInOurWords, questionInOurWords } from './words.ts';

/** The input of events has optional fields that `parseAgentEvent` fills in. */
type Sent<E extends AgentEvent['event']> = { readonly event: E; readonly session: string } & Readonly<
  Record<string, unknown>
>;

export type OpencodeStep =
  | { readonly do: 'drop'; readonly event: Sent<AgentEvent['event']> }
  /** It waits for a person; `ask` is OpenCode's id of the request. */
  | {
      readonly do: 'ask';
      readonly ask: string;
      readonly kind: 'permission' | 'question';
      readonly event: Sent<'asked'>;
    }
  /** It was answered or is over. */
  | { readonly do: 'close'; readonly ask: string; readonly event: Sent<'resolved'> };

/** OpenCode has no conversation before the first prompt. */
export const NO_CONVERSATION = 'new';
/** A conversation that never ends must not fill the memory of OpenCode. */
const MOST_SESSIONS = 1_000;

/** `resumed`: the conversation that OpenCode was started with; empty if it is not known. */
export function openTranslator(cwd: string, resumed = '') {
  const parents = new Map<string, string>();
  const turns = new Map<string, OpencodeTurn>();
  const commands = new Map<string, string>();
  let last = resumed || NO_CONVERSATION;

  const base = (session: string) => {
    const parent = parents.get(session);
    return { cwd, ...(parent === undefined ? { session } : { session: rootOf(session), subagent: session }) };
  };
  const rootOf = (session: string): string => {
    let at = session;
    for (let depth = 0; depth < 20 && parents.has(at); depth++) at = parents.get(at) ?? at;
    return at;
  };
  const isSubagent = (session: string) => parents.has(session);
  const drop = <E extends AgentEvent['event']>(event: E, session: string, more: Fields = {}): OpencodeStep => ({
    do: 'drop',
    event: { event, ...base(session), ...more },
  });
  /**
   * More follows in this turn, so the held text is not the last one. With some providers, OpenCode calls a text complete only after the
   * tools that follow it: what is written of it by now is reported, too.
   */
  const flush = (session: string): readonly OpencodeStep[] => {
    const turn = turns.get(session);
    if (turn === undefined) return [];
    const before = turn.held;
    turn.held = undefined;
    hold(turn, turn.open);
    const said = [before, turn.held].flatMap((one) => (one === undefined ? [] : [drop('said', session, one)]));
    turn.held = undefined;
    return said;
  };

  function partUpdated(part: Fields): readonly OpencodeStep[] {
    const session = textField(part.sessionID);
    const turn = turns.get(session);
    if (turn === undefined || !turn.messages.has(textField(part.messageID))) return [];
    if (part.type === 'text') return isSubagent(session) ? [] : textUpdated(turn, session, part);
    const state = fieldsOf(part.state);
    if (part.type !== 'tool' || state.status !== 'running') return [];
    const id = textField(part.callID);
    const key = `${textField(part.id)} ${id}`;
    if (turn.calls.has(key)) return [];
    const call = { id, message: textField(part.messageID), tool: textField(part.tool), input: fieldsOf(state.input) };
    turn.calls.set(key, call);
    if (isSubagent(session)) return []; // it counts only if it asks
    if (call.tool === 'question') return flush(session);
    const { tool: name, input } = inOurWords(call.tool, call.input);
    return [...flush(session), drop('tool', session, { name, input })];
  }

  function textUpdated(turn: OpencodeTurn, session: string, part: Fields): readonly OpencodeStep[] {
    if (part.synthetic === true || part.ignored === true) return [];
    const open = { id: textField(part.id), text: textField(part.text) };
    if (fieldsOf(part.time).end === undefined) {
      turn.open = open;
      return [];
    }
    turn.open = undefined;
    if (newPart(turn, open) === '') return [];
    const before = flush(session);
    hold(turn, open);
    return before;
  }

  function textGrows({ sessionID, partID, field, delta }: Fields): void {
    const turn = turns.get(textField(sessionID));
    if (turn?.open === undefined || field !== 'text' || turn.open.id !== partID) return;
    if (turn.open.text.length < LONGEST_TEXT) turn.open = { ...turn.open, text: turn.open.text + textField(delta) };
  }

  function permissionAsked(asked: Fields): readonly OpencodeStep[] {
    const session = textField(asked.sessionID);
    const { callID, messageID } = fieldsOf(asked.tool);
    const call = callOf(turns.get(session), textField(callID), textField(messageID));
    const always = listField(asked.always).map(textField).filter(Boolean);
    const event = {
      event: 'asked' as const,
      ...base(session),
      kind: 'permission',
      ask: textField(asked.id),
      ...permissionInOurWords(asked, call),
      ...(always.length === 0 ? {} : { always }),
    };
    return [...flush(session), { do: 'ask', kind: 'permission', ask: event.ask, event }];
  }

  function questionAsked(asked: Fields): readonly OpencodeStep[] {
    const session = textField(asked.sessionID);
    const questions = listField(asked.questions).map(fieldsOf).map(questionInOurWords);
    const event = {
      event: 'asked' as const,
      ...base(session),
      kind: 'question',
      ask: textField(asked.id),
      tool: 'question',
      questions,
    };
    return [...flush(session), { do: 'ask', kind: 'question', ask: event.ask, event }];
  }

  function answered({ sessionID, requestID }: Fields): readonly OpencodeStep[] {
    const ask = textField(requestID);
    return [{ do: 'close', ask, event: { event: 'resolved', ...base(textField(sessionID)), ask } }];
  }

  /** OpenCode may report the end of a turn twice. */
  function idle(session: string): readonly OpencodeStep[] {
    const turn = turns.get(session);
    turns.delete(session);
    if (turn === undefined || isSubagent(session)) return [];
    if (turn.held === undefined) hold(turn, turn.open);
    const { held, error } = turn;
    const isInterrupted = error === undefined ? turn.waits : error.name === 'MessageAbortedError';
    if (error !== undefined && !isInterrupted) {
      const said = held === undefined ? [] : [drop('said', session, { ...held })];
      return [...said, drop('failed', session, failureInOurWords(error))];
    }
    return [drop('idle', session, { ...(held ?? {}), interrupted: isInterrupted })];
  }

  function learn(info: Fields): void {
    const parent = textField(info.parentID);
    if (parent === '' || parents.size > MOST_SESSIONS) return;
    parents.set(textField(info.id), parent);
  }

  return {
    started: () => [drop('started', last)],
    ended: () => [drop('ended', last, { reason: 'exit' })],
    /** A slash command of the user's is about to become a prompt. */
    command: (session: string, name: string, args: string) => void commands.set(session, `/${name} ${args}`.trim()),
    /** A prompt was entered. */
    prompt(session: string, parts: readonly Fields[]): readonly OpencodeStep[] {
      const prompt = commands.get(session) ?? promptInOurWords(parts);
      commands.delete(session);
      if (!turns.has(session)) turns.set(session, newTurn());
      if (isSubagent(session)) return [];
      last = session;
      return [...flush(session), drop('submitted', session, { prompt })];
    },
    event(type: string, properties: Fields): readonly OpencodeStep[] {
      switch (type) {
        case 'session.created':
        case 'session.updated':
          learn(fieldsOf(properties.info));
          return [];
        case 'message.updated': {
          const info = fieldsOf(properties.info);
          if (info.role === 'assistant' && info.summary !== true)
            turns.get(textField(info.sessionID))?.messages.add(textField(info.id));
          return [];
        }
        case 'message.part.delta':
          textGrows(properties);
          return [];
        case 'message.part.updated':
          return partUpdated(fieldsOf(properties.part));
        case 'permission.asked':
          return permissionAsked(properties);
        case 'question.asked':
          return questionAsked(properties);
        case 'permission.replied':
        case 'question.replied':
        case 'question.rejected':
          return answered(properties);
        case 'session.status': {
          const turn = turns.get(textField(properties.sessionID));
          const { type: now } = fieldsOf(properties.status);
          if (turn !== undefined && now !== 'idle') turn.waits = now === 'retry';
          return [];
        }
        case 'session.error': {
          const turn = turns.get(textField(properties.sessionID));
          if (turn !== undefined) turn.error = fieldsOf(properties.error);
          return [];
        }
        case 'session.idle':
          return idle(textField(properties.sessionID));
        default:
          return [];
      }
    },
  };
}

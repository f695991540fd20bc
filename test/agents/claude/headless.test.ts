// Lines as Claude Code 2.1.197 printed them, shortened, and lines that it should never print.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { denialLine, parseStreamLine, promptLine } from '../../../agents/claude/headless.ts';

const read = (value: unknown) => parseStreamLine(JSON.stringify(value));
const main = { parent_tool_use_id: null, session_id: 's1' };
const assistant = (...content: unknown[]) => ({ type: 'assistant', ...main, message: { content } });
const user = (...content: unknown[]) => ({ type: 'user', ...main, message: { content } });

describe('a line of a headless Claude', () => {
  it('reports the session as soon as it is known', () => {
    expect(read({ type: 'system', subtype: 'init', session_id: 's1', tools: [] })).toEqual([
      { kind: 'init', sessionId: 's1' },
    ]);
    expect(read({ type: 'system', subtype: 'status', session_id: 's1' })).toEqual([]);
  });

  it('streams text, and then reports the whole text', () => {
    const event = (event: unknown) => read({ type: 'stream_event', ...main, event });
    const delta = { type: 'text_delta', text: 'Echo: ' };
    expect(event({ type: 'message_start', message: {} })).toEqual([{ kind: 'begin' }]);
    expect(event({ type: 'content_block_delta', index: 0, delta })).toEqual([{ kind: 'delta', text: 'Echo: ' }]);
    const json = { type: 'input_json_delta', partial_json: '{' };
    expect(event({ type: 'content_block_delta', index: 1, delta: json })).toEqual([]);
    expect(event({ type: 'message_delta', delta: { stop_reason: 'end_turn' } })).toEqual([]);
    expect(read(assistant({ type: 'text', text: 'Echo: hello' }))).toEqual([{ kind: 'text', text: 'Echo: hello' }]);
  });

  it('names a tool and the important part of its input, in one line', () => {
    const tool = (name: string, input: unknown) => read(assistant({ type: 'tool_use', id: 't', name, input }));
    expect(tool('Bash', { command: 'npm\n test', description: 'Run the tests' })).toEqual([
      { kind: 'tool', label: 'Bash · npm test' },
    ]);
    expect(tool('Read', { file_path: '/a/b.ts' })).toEqual([{ kind: 'tool', label: 'Read · /a/b.ts' }]);
    expect(tool('Task', { description: 'Look around', prompt: 'long' })).toEqual([
      { kind: 'tool', label: 'Task · Look around' },
    ]);
    expect(tool('TaskList', undefined)).toEqual([{ kind: 'tool', label: 'TaskList' }]);
  });

  it('reports a tool that failed, and not one that succeeded', () => {
    const result = (is_error: boolean, content: unknown) =>
      read(user({ type: 'tool_result', tool_use_id: 't', is_error, content }));
    expect(result(true, 'no such file')).toEqual([{ kind: 'tool failed', text: 'no such file' }]);
    expect(result(true, [{ type: 'text', text: 'a' }, { type: 'image' }, null])).toEqual([
      { kind: 'tool failed', text: 'a' },
    ]);
    expect(result(false, 'fine')).toEqual([]);
  });

  it('reports a permission request, and its answer', () => {
    const request = { subtype: 'can_use_tool', tool_name: 'Bash', input: {} };
    expect(read({ type: 'control_request', request_id: 'r', request })).toEqual([{ kind: 'asks', requestId: 'r' }]);
    expect(read({ type: 'control_cancel_request', request_id: 'r' })).toEqual([{ kind: 'answered', requestId: 'r' }]);
    const other = { subtype: 'something_new' };
    expect(read({ type: 'control_request', request_id: 'r', request: other })).toEqual([]);
  });

  it('reports how the turn ended, expected or not', () => {
    const ended = { num_turns: 3, duration_ms: 12_345, total_cost_usd: 0.0421, session_id: 's1' };
    const result = {
      kind: 'result',
      turns: 3,
      durationMs: 12_345,
      costUsd: 0.0421,
      ownCostUsd: undefined,
    };
    expect(read({ type: 'result', is_error: false, result: 'Done.', ...ended })).toEqual([
      { ...result, isError: false, text: 'Done.' },
    ]);
    expect(read({ type: 'result', is_error: true, errors: ['gone'], ...ended })).toEqual([
      { ...result, isError: true, text: 'gone' },
    ]);
    const usage = { a: { costUSD: 0.25, inputTokens: 7 }, b: { costUSD: 0.5 } };
    expect(read({ type: 'result', model_usage_since_last_result: usage })).toMatchObject([{ ownCostUsd: 0.75 }]);
    expect(read({ type: 'result' })).toMatchObject([{ turns: 0, costUsd: 0, text: '' }]);
  });

  it('is ignored if it is about a subagent, or an error that the result repeats', () => {
    const mine = assistant({ type: 'text', text: 'x' });
    expect(read({ ...mine, parent_tool_use_id: 'toolu_1' })).toEqual([]);
    expect(read({ ...mine, error: 'unknown' })).toEqual([]);
    expect(read({ ...mine, error: null })).toHaveLength(1);
  });

  it.each(['', 'welcome', '{', '{"type":"result"', '[]', 'null', '{"type":7}', '{"type":"new"}'])(
    'is ignored when it is %j',
    (line) => expect(parseStreamLine(line)).toEqual([]),
  );

  it('never makes the reader throw', () => {
    const type = fc.constantFrom('system', 'stream_event', 'assistant', 'user', 'result', 'control_request');
    const line = fc.record({ type, message: fc.anything(), event: fc.anything(), request: fc.anything() });
    fc.assert(fc.property(fc.string(), (text) => void parseStreamLine(text)));
    fc.assert(fc.property(line, (value) => void parseStreamLine(JSON.stringify(value))));
  });

  it('may be 10 MB long', () => {
    const text = 'word '.repeat(2_000_000);
    const [event] = read(assistant({ type: 'text', text }));
    expect(event?.kind === 'text' && event.text === text).toBe(true);
  });
});

describe('a line for a headless Claude', () => {
  it('is one line, whatever the prompt contains', () => {
    const line = promptLine('one\n"two"\u2028');
    expect(line.split('\n')).toEqual([expect.any(String), '']);
    expect(JSON.parse(line).message).toEqual({ role: 'user', content: 'one\n"two"\u2028' });
  });

  it('denies with a reason that Claude reads', () => {
    expect(JSON.parse(denialLine('r', 'no'))).toEqual({
      type: 'control_response',
      response: { subtype: 'success', request_id: 'r', response: { behavior: 'deny', message: 'no' } },
    });
  });
});

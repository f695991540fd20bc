import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseAgentEvent } from '../../../agents/event.ts';
import { openPiTranslator } from '../../../agents/pi/translate.ts';

// Recorded from pi 0.73.1.
const FIXTURES = join(import.meta.dirname, '../../fixtures/pi');
const recorded = (name: string) => JSON.parse(readFileSync(join(FIXTURES, `${name}.json`), 'utf8'));
const PLACE = { session: '01a1', cwd: '/work' };

function open() {
  const translator = openPiTranslator();
  return (event: Record<string, unknown>) =>
    translator
      .read(event, PLACE)
      .map((step) => (step.do === 'goes on' ? step : { do: step.do, ...parseAgentEvent(step.event) }));
}

const ended = (stopReason: string, more = {}) => {
  const { messages } = recorded('agent_end');
  return { type: 'agent_end', messages: [messages[0], { ...messages[1], stopReason, ...more }] };
};
const says = (text: string) => ({
  type: 'message_end',
  message: { role: 'assistant', content: [{ type: 'text', text }], timestamp: text.length },
});

describe("pi's events", () => {
  it('are its start, a prompt, texts between tools, and the last text at the end', () => {
    const read = open();
    expect(read(recorded('session_start'))).toMatchObject([{ event: 'started', session: '01a1', source: 'startup' }]);
    expect(read(recorded('input'))).toMatchObject([{ event: 'submitted', prompt: 'hello there' }]);
    expect(read(recorded('message_end'))).toEqual([]); // the user's own
    expect(read(says('First I look.'))).toEqual([]);
    const call = { type: 'tool_execution_start', toolName: 'read', args: { path: 'a.txt' } };
    expect(read(call)).toMatchObject([
      { event: 'said', text: 'First I look.' },
      { event: 'tool', name: 'Read', input: { file_path: 'a.txt' } },
    ]);
    read(says('Done.'));
    expect(read(recorded('agent_end'))).toMatchObject([{ event: 'idle', text: 'Done.', interrupted: false }]);
  });

  it('tell an interruption from a failure, which counts only if pi does not try again', () => {
    const read = open();
    read(recorded('input'));
    expect(read(ended('aborted'))).toMatchObject([{ event: 'idle', interrupted: true }]);
    expect(read(ended('error', { errorMessage: '529 Overloaded' }))).toMatchObject([
      { do: 'unless it goes on', event: 'failed', details: '529 Overloaded' },
    ]);
    expect(read(recorded('agent_start'))).toEqual([{ do: 'goes on' }]);
  });

  it('end when pi exits, and not when another conversation begins', () => {
    const read = open();
    expect(read({ type: 'session_shutdown', reason: 'new' })).toEqual([]);
    expect(read({ type: 'session_shutdown', reason: 'quit' })).toMatchObject([{ event: 'ended' }]);
  });

  it('do no harm in another form', () => {
    const read = open();
    for (const type of ['input', 'message_end', 'tool_execution_start', 'agent_end', 'session_start', 'unknown'])
      expect(() => read({ type, message: null, messages: 1, args: 'x' })).not.toThrow();
  });
});

// Lines as `opencode run --format json` of OpenCode 1.18.33 printed them, shortened.

import { expect, it } from 'vitest';
import { headlessOpencode } from '../../../agents/opencode/headless.ts';

const line = (type: string, part: unknown, more = {}) =>
  JSON.stringify({ type, timestamp: 1, sessionID: 'ses_1', part, ...more });
const finish = (reason: string) => line('step_finish', { type: 'step-finish', reason, cost: 0.25 });
const text = (said: string) => line('text', { type: 'text', text: said });
const tool = (state: Record<string, unknown>) => line('tool_use', { type: 'tool', tool: 'bash', state });
const input = { command: 'npm test', description: 'Run the tests' };

function read(status: number | undefined, ...lines: readonly string[]) {
  const reader = headlessOpencode.reader();
  return [...lines.flatMap((one) => reader.line(one)), ...(reader.end?.(status) ?? [])];
}

it('reports the conversation once, texts, tools, and the result at the end of the process', () => {
  const start = line('step_start', { type: 'step-start' });
  const ok = tool({ status: 'completed', input, output: 'fine' });
  expect(read(0, start, text('Running it.'), ok, finish('tool-calls'), start, text('Done.'), finish('stop'))).toEqual([
    { kind: 'init', sessionId: 'ses_1' },
    { kind: 'text', text: 'Running it.' },
    { kind: 'tool', label: 'Bash · npm test' },
    { kind: 'text', text: 'Done.' },
    { kind: 'result', isError: false, text: 'Done.', turns: 2, costUsd: 0.5 },
  ]);
});

it('says that a permission was denied because nobody could be asked', () => {
  const error = 'The user rejected permission to use this specific tool call.';
  const events = read(0, tool({ status: 'error', input, error }), finish('tool-calls'));
  expect(events).toContainEqual({ kind: 'tool', label: 'Bash · npm test' });
  expect(events).toContainEqual({ kind: 'tool failed', text: expect.stringContaining('cannot ask for one') });
  expect(events.at(-1)).toMatchObject({ kind: 'result', isError: false });
});

it('reports a failure of the model, and none of its own if it never began', () => {
  const error = { name: 'APIError', data: { message: 'scripted failure', statusCode: 401 } };
  expect(read(1, line('error', undefined, { error })).at(-1)).toMatchObject({
    kind: 'result',
    isError: true,
    text: 'the model failed (status 401): scripted failure',
  });
  expect(read(1)).toEqual([]);
  expect(read(undefined, text('half'))).toMatchObject([{ kind: 'init' }, { kind: 'text' }]);
});

it('ignores everything else', () => {
  expect(read(1, '', 'no JSON', '{', 'null', '{"type":"new","sessionID":"s"}', '{"type":"text"}')).toEqual([]);
});

it('starts with the options of the configured command after the subcommand, and skips permissions only if wanted', () => {
  const usual = { hookSettings: '/s', skipPermissions: false, session: undefined };
  expect(headlessOpencode.argv({ ...usual, command: ['opencode', '--model', 'a/b'] })).toEqual(
    ['opencode', 'run', '--model', 'a/b', '--format', 'json'], //
  );
  const skipping = headlessOpencode.argv({ ...usual, command: ['opencode'], skipPermissions: true, session: 'ses_1' });
  expect(skipping.slice(4)).toEqual(['--auto', '--session', 'ses_1']);
});

it('knows a conversation that does not exist any longer', () => {
  expect(headlessOpencode.isLost('OpenCode ended with exit code 1\nError: Session not found')).toBe(true);
  expect(headlessOpencode.isLost('the model failed')).toBe(false);
});

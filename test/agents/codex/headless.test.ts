// Lines as `codex exec --json` of Codex 0.166.0 printed them, shortened.

import { expect, it } from 'vitest';
import { headlessCodex } from '../../../agents/codex/headless.ts';

const item = (type: string, more: Record<string, unknown>) => ({ id: 'item_1', type, ...more });
const command = { command: "/bin/bash -lc 'npm test'", aggregated_output: '', exit_code: null };

function read(...lines: unknown[]) {
  const reader = headlessCodex.reader();
  return lines.flatMap((line) => reader.line(typeof line === 'string' ? line : JSON.stringify(line)));
}

it('reports the conversation, texts, tools and the result', () => {
  expect(
    read(
      { type: 'thread.started', thread_id: 't1' },
      { type: 'turn.started' },
      { type: 'item.completed', item: item('agent_message', { text: 'Running it.' }) },
      { type: 'item.started', item: item('command_execution', { ...command, status: 'in_progress' }) },
      { type: 'item.completed', item: item('command_execution', { ...command, exit_code: 0, status: 'completed' }) },
      { type: 'item.started', item: item('file_change', { changes: [{ path: '/a.ts', kind: 'add' }, { path: 'b' }] }) },
      { type: 'item.completed', item: item('file_change', { changes: [], status: 'completed' }) },
      { type: 'item.completed', item: item('agent_message', { text: 'Done.' }) },
      { type: 'turn.completed', usage: { input_tokens: 1 } },
    ),
  ).toEqual([
    { kind: 'init', sessionId: 't1' },
    { kind: 'text', text: 'Running it.' },
    { kind: 'tool', label: 'Bash · npm test' },
    { kind: 'tool', label: 'Edit · /a.ts, b' },
    { kind: 'text', text: 'Done.' },
    { kind: 'result', isError: false, text: 'Done.' },
  ]);
});

it('reports what failed: a command, a denial, the turn', () => {
  const failed = { ...command, aggregated_output: 'one\ntwo\n', exit_code: 2, status: 'failed' };
  expect(
    read(
      { type: 'item.completed', item: item('command_execution', failed) },
      { type: 'item.completed', item: item('command_execution', { ...command, status: 'declined' }) },
      { type: 'item.completed', item: item('error', { message: 'odd' }) },
      { type: 'error', message: 'Reconnecting... 1/1' },
      { type: 'turn.failed', error: { message: 'status 401' } },
    ),
  ).toEqual([
    { kind: 'tool failed', text: 'exit code 2: two' },
    { kind: 'tool failed', text: 'it was denied' },
    { kind: 'tool failed', text: 'odd' },
    { kind: 'result', isError: true, text: 'status 401' },
  ]);
});

it('ignores everything else', () => {
  const odd = [{ type: 'turn.new' }, { type: 'item.started', item: 7 }, { type: 'thread.started' }];
  expect(read('', 'WARNING: x', '{', 'null', ...odd)).toEqual([]);
  expect(read({ type: 'item.started', item: item('todo_list', { items: [] }) })).toEqual([]);
});

it('starts with the options of the configured command after the subcommand, and skips permissions only if wanted', () => {
  const usual = { hookSettings: '/s', skipPermissions: false, session: undefined };
  expect(headlessCodex.argv({ ...usual, command: ['npx', 'codex', '-m', 'x'] })).toEqual(
    ['npx', 'codex', 'exec', '-m', 'x', '--json', '--skip-git-repo-check', '-'], //
  );
  const skipping = headlessCodex.argv({ ...usual, command: ['codex'], skipPermissions: true, session: 't1' });
  expect(skipping.slice(4)).toEqual(['--dangerously-bypass-approvals-and-sandbox', 'resume', 't1', '-']);
});

it('knows a conversation that does not exist any longer', () => {
  expect(headlessCodex.isLost('Error: thread/resume failed: no rollout found for thread id 01a1 (code -32600)')).toBe(
    true,
  );
  expect(headlessCodex.isLost('status 401')).toBe(false);
});

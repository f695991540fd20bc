import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { codex } from '../../../agents/codex/driver.ts';
import type { AskedEvent } from '../../../agents/event.ts';

const FOLDER = join(import.meta.dirname, '../../fixtures/hooks/codex-0.166.0');
const read = (name: string) => codex.readEvent(JSON.parse(readFileSync(join(FOLDER, `${name}.json`), 'utf8')));
const session = '01a1e3dd-8132-7b30-bf1d-3cfb6bd34be7';

describe('the input of a hook of Codex', () => {
  it.each([
    ['SessionStart', { event: 'started', source: 'startup', model: 'gpt-6.1-sol' }],
    ['UserPromptSubmit', { event: 'submitted', prompt: 'hello there' }],
    ['PreToolUse.Bash', { event: 'tool', name: 'Bash', input: { command: 'curl http://127.0.0.1:1/' } }],
    ['PreToolUse.apply_patch', { event: 'tool', name: 'Edit', input: { file_path: '/nonexistent-agent-lab/x.txt' } }],
    ['PermissionRequest.Bash', { event: 'asked', kind: 'permission', tool: 'Bash' }],
    ['Stop', { event: 'idle', text: 'Echo: hello there', interrupted: false }],
    ['SessionEnd', { event: 'ended', reason: 'other' }],
  ])('%s', (name, event) => {
    expect(read(name)).toMatchObject({ ...event, session, cwd: '/home/user/project' });
  });

  it('shows a whole patch before it is allowed', () => {
    expect(read('PermissionRequest.apply_patch')).toMatchObject({
      event: 'asked',
      tool: 'Edit',
      input: { diff: expect.stringContaining('+hello') },
    });
  });

  it.each([
    ['a text', 'rm -rf ~', { input: 'rm -rf ~' }],
    ['a list', ['rm', '-rf'], { input: ['rm', '-rf'] }],
    ['nothing', null, {}],
    ['missing', undefined, {}],
  ])('shows what a tool gets before it is allowed, also if that is %s', (_, given, input) => {
    const recorded = JSON.parse(readFileSync(join(FOLDER, 'PermissionRequest.Bash.json'), 'utf8'));
    const asked = codex.readEvent({ ...recorded, tool_name: 'notes', tool_input: given });
    expect(asked).toMatchObject({ event: 'asked', tool: 'notes' });
    expect((asked as AskedEvent).input).toEqual(input);
  });

  it('of a question is not used: the screen shows it', () => {
    expect(read('PreToolUse.request_user_input')).toBeUndefined();
  });

  it('of an unknown event is not used, and one without its fields is refused', () => {
    expect(codex.readEvent({ hook_event_name: 'Later' })).toBeUndefined();
    expect(() => codex.readEvent({ hook_event_name: 'Stop' })).toThrow();
    expect(() => codex.readEvent('Stop')).toThrow();
  });
});

describe('an answer', () => {
  const byHook = read('PermissionRequest.Bash') as AskedEvent;
  const bySever = { ...byHook, byHook: false, ask: 'turn/item/0' };
  const output = (decision: object) =>
    JSON.stringify({ hookSpecificOutput: { hookEventName: 'PermissionRequest', decision } });

  it('to a hook is its output', () => {
    expect(codex.answer(byHook, { kind: 'allow', always: false })).toBe(output({ behavior: 'allow' }));
    expect(codex.answer(byHook, { kind: 'deny', reason: 'no' })).toBe(output({ behavior: 'deny', message: 'no' }));
    expect(codex.answer(byHook, { kind: 'deny', reason: '' })).toContain('The user denied it.');
  });

  it('to the companion is the decision', () => {
    const decision = { kind: 'answers', answers: ['a, b'] } as const;
    expect(JSON.parse(codex.answer(bySever, decision) ?? '')).toEqual(decision);
  });
});

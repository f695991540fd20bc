import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseHookInput } from '../../../agents/claude/hook-event.ts';

const folder = join(import.meta.dirname, '../../fixtures/claude/hooks');
const read = (name: string): Record<string, unknown> => JSON.parse(readFileSync(join(folder, name), 'utf8'));

describe('parseHookInput', () => {
  it.each(readdirSync(folder))('reads %s and keeps every field', (name) => {
    expect(parseHookInput(read(name))).toMatchObject(read(name));
  });

  it('returns nothing for an event that threadmux does not use', () => {
    expect(parseHookInput({ ...read('Stop.json'), hook_event_name: 'PostToolUse' })).toBeUndefined();
    expect(parseHookInput({ hook_event_name: 'toString' })).toBeUndefined();
  });

  it('reads a Stop from a version that did not send the message yet', () => {
    const { last_assistant_message: _, prompt_id: __, ...older } = read('Stop.json');
    expect(parseHookInput(older)).toMatchObject({ hook_event_name: 'Stop' });
  });

  it('reads a StopFailure whatever its error looks like', () => {
    const odd = { ...read('StopFailure.json'), error: { type: 'x' }, error_details: 5 };
    expect(parseHookInput(odd)).toMatchObject({ hook_event_name: 'StopFailure', error: undefined });
  });

  it.each([[null], ['x'], [{}], [{ hook_event_name: 5 }]])('says that %j has no event name', (json) => {
    expect(() => parseHookInput(json)).toThrow('Reading a hook input: it has no event name.');
  });

  it('names the wrong field without quoting its value', () => {
    const broken = { ...read('UserPromptSubmit.json'), prompt: ['my secret'] };
    expect(() => parseHookInput(broken)).toThrow('Reading the input of UserPromptSubmit: "prompt" is not as expected.');
  });
});

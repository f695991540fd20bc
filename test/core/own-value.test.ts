import { describe, expect, it } from 'vitest';
import { readHookEvent } from '../../agents/claude/hook-event.ts';
import { headlessCodex } from '../../agents/codex/headless.ts';
import { ownValue } from '../../core/own-value.ts';
import { parseEvery } from '../../core/schedule.ts';
import { settingFor } from '../../core/session-settings.ts';
import { openHostList } from '../../tmux/host-list.ts';
import { tempHome } from '../support/temp-home.ts';

describe.each(['constructor', 'toString', '__proto__', 'hasOwnProperty'])('"%s", which every object knows', (word) => {
  it('is in no table', () => {
    expect(ownValue({ a: 1 }, word)).toBeUndefined();
  });

  it('is no known error of an agent', () => {
    const base = { session_id: 'a', transcript_path: '/t', cwd: '/' };
    const failed = readHookEvent({ ...base, hook_event_name: 'StopFailure', error: word });
    expect(failed).toMatchObject({ event: 'failed', error: 'the turn ended with an error' });
    const item = { type: 'command_execution', status: word };
    const line = JSON.stringify({ type: 'item.completed', item });
    expect(headlessCodex.reader().line(line)).toEqual([]);
  });

  it('is no word of a command', () => {
    expect(parseEvery(`${word} 9:00 x`, { now: 0, zone: 'UTC' })).toMatchObject({ kind: 'problem' });
    expect(() => settingFor('mode', word)).toThrow('is not a mode');
  });

  it('is no host', () => {
    const hosts = openHostList({ config: { hosts: {} } as never, home: tempHome(), env: {} });
    expect(() => hosts.get(word)).toThrow('there is no host');
  });
});

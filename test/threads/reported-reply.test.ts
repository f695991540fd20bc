import { existsSync, readdirSync } from 'node:fs';
import { expect, it } from 'vitest';
import type { AgentEvent } from '../../agents/event.ts';
import { parseAgentEvent } from '../../agents/event.ts';
import { openRegistry, threadRecordSchema } from '../../threads/registry.ts';
import { loadReportedReply, noteReportedReply, type ReportedReply, replyAfter } from '../../threads/reported-reply.ts';
import { tempHome } from '../support/temp-home.ts';

const event = (name: string, more = {}) =>
  parseAgentEvent({ event: name, session: 's', cwd: '/', ...more }) as AgentEvent;
const said: ReportedReply = { text: 'before', at: 1, ended: false };

it.each([
  ['a prompt begins a turn without a text', event('submitted', { prompt: 'x' }), { text: '', at: 9, ended: false }],
  ['a text is the last one', event('said', { id: '1', text: 'new' }), { text: 'new', at: 9, ended: false }],
  ['an empty text is none', event('said', { id: '1', text: ' \n' }), undefined],
  ['the end brings the last text', event('idle', { text: 'end' }), { text: 'end', at: 9, ended: true }],
  ['an end without a text keeps the last one', event('idle'), { text: 'before', at: 1, ended: true }],
  ['a failure keeps the last text', event('failed', { error: 'x' }), { text: 'before', at: 1, ended: true }],
  ['the exit keeps the last text', event('ended'), { text: 'before', at: 1, ended: true }],
  ['a tool changes nothing', event('tool', { name: 'Read' }), undefined],
])('%s', (_, reported, after) => {
  expect(replyAfter(said, reported, 9)).toEqual(after);
});

it('cuts a text that is longer than a reply can be', () => {
  expect(replyAfter(undefined, event('idle', { text: 'x'.repeat(2_000_000) }), 9)?.text).toHaveLength(1_000_000);
});

it('is removed with the record of its thread', () => {
  const home = tempHome();
  const registry = openRegistry(home);
  const pane = {
    host: 'here',
    socket: '',
    serverPid: 1,
    paneId: '%1',
    panePid: 2,
    sessionId: '$1',
    sessionName: 'pet',
  };
  const agent = { command: 'node', cwd: '/', claudeSession: 's', transcript: '', state: 'idle', at: 1 };
  registry.put(threadRecordSchema.parse({ thread: '7', ...pane, ...agent }));
  noteReportedReply(home, '7', event('idle', { text: 'end' }), 9);
  expect(loadReportedReply(home, '7')).toEqual({ text: 'end', at: 9, ended: true });
  expect(openRegistry(home).all()).toHaveLength(1);
  registry.forget('7');
  expect(readdirSync(home.folder('threads'))).toEqual([]);
  expect(existsSync(home.path('threads', '7.reply.json'))).toBe(false);
});

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseAgentEvent } from '../../../agents/event.ts';
import { type OpencodeStep, openTranslator } from '../../../agents/opencode/translate.ts';

// Recorded from OpenCode 1.18.33.
const FIXTURES = join(import.meta.dirname, '../../fixtures/opencode');
const recorded = (name: string) => JSON.parse(readFileSync(join(FIXTURES, `${name}.json`), 'utf8'));

const SESSION: string = recorded('event.session.created').sessionID;
const MESSAGE = 'msg_1';

function open() {
  const translator = openTranslator('/work');
  const steps: OpencodeStep[] = [];
  const keep = (more: readonly OpencodeStep[]) => void steps.push(...more);
  const event = (type: string, properties: Record<string, unknown>) => keep(translator.event(type, properties));
  const one = {
    translator,
    event,
    replay: (type: string, more: string, change: Record<string, unknown> = {}) =>
      event(type, { ...recorded(`event.${more}`), ...change }),
    prompt: (text: string, session = SESSION) => keep(translator.prompt(session, [{ type: 'text', text }])),
    /** The assistant writes a text and has finished it. */
    says(text: string, id = `prt_${text}`, message = MESSAGE) {
      event('message.updated', { info: { ...recorded('event.message.updated.assistant').info, id: message } });
      const part = { id, type: 'text', text, messageID: message, sessionID: SESSION };
      event('message.part.updated', { part: { ...part, text: text.slice(0, 2) } });
      event('message.part.updated', { part: { ...part, time: { start: 1, end: 2 } } });
    },
    tool(tool: string, input: Record<string, unknown>, callID = 'call_1', more: Record<string, unknown> = {}) {
      const { part } = recorded('event.message.part.updated.tool');
      const call = { ...part, tool, callID, messageID: MESSAGE, ...more };
      event('message.part.updated', { part: call });
      event('message.part.updated', { part: { ...call, state: { status: 'running', input } } });
      event('message.part.updated', { part: { ...call, state: { status: 'completed', input } } });
    },
    idle: () => one.replay('session.idle', 'session.idle'),
    /** What was decided since the last call, in short. */
    taken: () => steps.splice(0).map(({ do: what, event: sent }) => ({ do: what, ...parseAgentEvent(sent) })),
  };
  return one;
}

describe("OpenCode's events", () => {
  it('are a prompt, texts between tools at once, and the last text at the end', () => {
    const one = open();
    one.prompt('look around');
    one.says('First I look.');
    expect(one.taken()).toMatchObject([{ event: 'submitted', session: SESSION, prompt: 'look around', cwd: '/work' }]);
    one.tool('bash', { command: 'ls', description: 'List' });
    expect(one.taken()).toMatchObject([
      { event: 'said', text: 'First I look.' },
      { event: 'tool', name: 'Bash', input: { command: 'ls' } },
    ]);
    one.says('Done.', 'prt_2');
    expect(one.taken()).toEqual([]);
    one.idle();
    expect(one.taken()).toMatchObject([{ event: 'idle', text: 'Done.', id: 'prt_2', interrupted: false }]);
    one.idle(); // OpenCode repeats it
    expect(one.taken()).toEqual([]);
  });

  it('have one end for two prompts, and lose no text', () => {
    const one = open();
    one.prompt('first');
    one.says('Answer one.');
    one.prompt('second');
    one.says('Answer two.');
    one.idle();
    expect(one.taken()).toMatchObject([
      { event: 'submitted', prompt: 'first' },
      { event: 'said', text: 'Answer one.' },
      { event: 'submitted', prompt: 'second' },
      { event: 'idle', text: 'Answer two.' },
    ]);
  });

  it('report a text before a tool also if OpenCode completes it later, and once', () => {
    const one = open();
    one.prompt('a');
    one.taken();
    one.event('message.updated', { info: { ...recorded('event.message.updated.assistant').info, id: MESSAGE } });
    const part = { id: 'prt_1', type: 'text', text: '', messageID: MESSAGE, sessionID: SESSION };
    const grows = (delta: string) =>
      one.event('message.part.delta', {
        sessionID: SESSION,
        messageID: MESSAGE,
        partID: 'prt_1',
        field: 'text',
        delta,
      });
    one.event('message.part.updated', { part });
    for (const delta of ['First I ', 'look.']) grows(delta);
    one.replay('permission.asked', 'permission.asked');
    expect(one.taken()).toMatchObject([{ event: 'said', text: 'First I look.' }, { event: 'asked' }]);
    one.event('message.part.updated', { part: { ...part, text: 'First I look.', time: { end: 1 } } });
    one.tool('bash', { command: 'ls' });
    expect(one.taken()).toMatchObject([{ event: 'tool' }]);
    // What it still adds to the same text is not lost.
    one.event('message.part.updated', { part: { ...part, text: 'First I look. Then more.', time: { end: 2 } } });
    one.idle();
    expect(one.taken()).toMatchObject([{ event: 'idle', text: 'Then more.' }]);
  });

  it('bring what was written before an interruption', () => {
    const one = open();
    one.prompt('a');
    one.event('message.updated', { info: { ...recorded('event.message.updated.assistant').info, id: MESSAGE } });
    one.event('message.part.updated', {
      part: { id: 'prt_1', type: 'text', text: 'I beg', messageID: MESSAGE, sessionID: SESSION },
    });
    one.replay('session.error', 'session.error');
    one.idle();
    expect(one.taken().at(-1)).toMatchObject({ event: 'idle', interrupted: true, text: 'I beg' });
  });

  it('tell an interruption from a failure', () => {
    const one = open();
    one.prompt('a');
    one.replay('session.error', 'session.error');
    one.idle();
    expect(one.taken()).toMatchObject([{ event: 'submitted' }, { event: 'idle', interrupted: true }]);
    for (const [types, interrupted] of [
      [['busy', 'retry', 'idle'], true],
      [['busy', 'retry', 'busy', 'idle'], false],
    ] as const) {
      one.prompt('again');
      for (const type of types) one.event('session.status', { sessionID: SESSION, status: { type } });
      one.idle();
      expect(one.taken().at(-1)).toMatchObject({ event: 'idle', interrupted });
    }
    one.prompt('b');
    one.says('I begin.');
    const error = { name: 'APIError', data: { message: 'Overloaded', statusCode: 529 } };
    one.replay('session.error', 'session.error', { error });
    one.idle();
    expect(one.taken()).toMatchObject([
      { event: 'submitted' },
      { event: 'said', text: 'I begin.' },
      { event: 'failed', details: 'Overloaded' },
    ]);
  });

  it('ask for a permission in our words, and end it with the same id', () => {
    const one = open();
    one.prompt('a');
    one.says('I write.');
    one.tool('write', { filePath: 'a.txt', content: 'hello' }, 'call_7');
    one.taken();
    const asked = {
      permission: 'edit',
      tool: { callID: 'call_7' },
      metadata: { filepath: '/shop/a.txt', diff: '+hello' },
    };
    one.replay('permission.asked', 'permission.asked', asked);
    const [ask] = one.taken();
    expect(ask).toMatchObject({ do: 'ask', event: 'asked', kind: 'permission', tool: 'Write', always: ['curl *'] });
    expect(ask).toMatchObject({ input: { file_path: 'a.txt', content: 'hello' } });
    one.replay('permission.replied', 'permission.replied');
    expect(one.taken()).toMatchObject([
      { do: 'close', event: 'resolved', ask: recorded('event.permission.replied').requestID },
    ]);
  });

  it('never show an earlier call of the same id in place of the one that is asked about', () => {
    const asks = (messageID: string, command: string) => ({
      permission: 'bash',
      patterns: [command],
      metadata: { command },
      tool: { messageID, callID: 'call_0' },
    });
    const one = open();
    one.prompt('a');
    one.says('I look.');
    one.tool('bash', { command: 'ls' }, 'call_0');
    one.says('I clean up.', 'prt_2', 'msg_2');
    // Some providers begin to count again with every message.
    one.tool('bash', { command: 'rm -rf /' }, 'call_0', { id: 'prt_3', messageID: 'msg_2' });
    one.taken();
    one.replay('permission.asked', 'permission.asked', asks('msg_2', 'rm -rf /'));
    expect(one.taken().at(-1)).toMatchObject({ tool: 'Bash', input: { command: 'rm -rf /' } });
    // Twice in one message: only the request itself tells which one it is.
    one.tool('bash', { command: 'rm -rf ~' }, 'call_0', { id: 'prt_4', messageID: 'msg_2' });
    one.replay('permission.asked', 'permission.asked', asks('msg_2', 'rm -rf ~'));
    expect(one.taken().at(-1)).toMatchObject({ tool: 'Bash', input: { command: 'rm -rf ~' } });
  });

  it('show the file that OpenCode would change, whatever other fields the agent adds', () => {
    const one = open();
    one.prompt('a');
    one.says('I write.');
    one.tool('write', { filePath: '/etc/passwd', content: 'x', file_path: 'notes.txt', constructor: 'y' }, 'call_7');
    one.taken();
    one.replay('permission.asked', 'permission.asked', { permission: 'edit', tool: { callID: 'call_7' } });
    expect(one.taken()).toMatchObject([
      { event: 'asked', input: { file_path: '/etc/passwd', 'file_path (ignored)': 'notes.txt', constructor: 'y' } },
    ]);
  });

  it('show everything of a request that is not about its tool', () => {
    const one = open();
    one.prompt('a');
    one.says('I look.');
    one.tool('bash', { command: 'cat /etc/hosts' }, 'call_8');
    one.taken();
    const outside = { permission: 'external_directory', patterns: ['/etc/*'], metadata: {}, always: [] };
    one.replay('permission.asked', 'permission.asked', { ...outside, tool: { callID: 'call_8' } });
    const [ask] = one.taken();
    expect(ask).toMatchObject({
      event: 'asked',
      tool: 'external_directory',
      input: { patterns: ['/etc/*'], tool: 'bash', input: { command: 'cat /etc/hosts' } },
    });
    expect(ask).not.toHaveProperty('always');
  });

  it('ask questions with their options', () => {
    const one = open();
    one.prompt('a');
    one.replay('question.asked', 'question.asked');
    expect(one.taken().at(-1)).toMatchObject({
      do: 'ask',
      event: 'asked',
      kind: 'question',
      questions: [{ header: 'Database', multiSelect: false, options: [{ label: 'SQLite' }, {}, { label: 'DuckDB' }] }],
    });
    one.replay('question.rejected', 'question.rejected');
    expect(one.taken()).toMatchObject([{ do: 'close', event: 'resolved' }]);
  });

  it('of a subagent count only if it asks', () => {
    const one = open();
    one.prompt('a');
    one.taken();
    one.event('session.created', { info: { id: 'ses_child', parentID: SESSION } });
    one.prompt('do it', 'ses_child');
    one.event('session.idle', { sessionID: 'ses_child' });
    expect(one.taken()).toEqual([]);
    one.replay('permission.asked', 'permission.asked', { sessionID: 'ses_child' });
    expect(one.taken()).toMatchObject([{ event: 'asked', session: SESSION, subagent: 'ses_child' }]);
    one.idle();
    expect(one.taken()).toMatchObject([{ event: 'idle', session: SESSION }]);
  });

  it('of a subagent show all of the call that needs a permission', () => {
    const one = open();
    const child = 'ses_child';
    one.event('session.created', { info: { id: child, parentID: SESSION } });
    one.prompt('do it', child);
    const { info } = recorded('event.message.updated.assistant');
    one.event('message.updated', { info: { ...info, id: MESSAGE, sessionID: child } });
    const ask = (permission: string, callID: string, metadata: object) =>
      one.replay('permission.asked', 'permission.asked', {
        sessionID: child,
        permission,
        metadata,
        patterns: ['*'],
        tool: { messageID: MESSAGE, callID },
      });
    const bash = { command: 'rm -rf *', workdir: '/srv/precious', description: 'Clean up' };
    one.tool('bash', bash, 'call_1', { id: 'prt_1', sessionID: child });
    ask('bash', 'call_1', { command: 'rm -rf *' });
    one.tool('bank_pay', { to: 'mallory', amount: 100 }, 'call_2', { id: 'prt_2', sessionID: child });
    ask('bank_pay', 'call_2', {});
    expect(one.taken()).toMatchObject([
      { event: 'asked', subagent: child, tool: 'Bash', input: bash },
      { event: 'asked', subagent: child, tool: 'bank_pay', input: { to: 'mallory', amount: 100 } },
    ]);
  });

  it('say so if the call that needs a permission is not known', () => {
    const one = open();
    one.prompt('a');
    one.taken();
    for (const [permission, metadata] of [
      ['bash', { command: 'rm -rf *' }],
      ['bank_pay', {}],
    ] as const)
      one.replay('permission.asked', 'permission.asked', { permission, metadata });
    const unknown = { '⚠️': expect.stringMatching(/not known here/) };
    expect(one.taken()).toMatchObject([{ input: { command: 'rm -rf *', ...unknown } }, { input: unknown }]);
  });

  it('name a slash command as it was written', () => {
    const one = open();
    one.translator.command(SESSION, 'review', 'the last commit');
    one.prompt('You are a reviewer. Look at the last commit …');
    one.prompt('thanks');
    expect(one.taken()).toMatchObject([{ prompt: '/review the last commit' }, { prompt: 'thanks' }]);
  });

  it('name the file whose path was pasted', () => {
    const one = open();
    const source = { type: 'file', path: '/files/$&.png', text: { start: 0, end: 9, value: '[Image 1]' } };
    const parts = [
      { type: 'text', text: '[Image 1] what is this?' },
      { type: 'file', mime: 'image/png', source },
    ];
    expect(one.translator.prompt(SESSION, parts)).toMatchObject([{ event: { prompt: '/files/$&.png what is this?' } }]);
  });

  it('ignore texts that nobody wrote, summaries and turns that nobody began', () => {
    const one = open();
    one.idle();
    one.says('nobody asked');
    expect(one.taken()).toEqual([]);
    const written = [
      { type: 'text', text: 'mine' },
      { type: 'text', text: 'of a tool', synthetic: true },
      { type: 'file', url: 'x' },
    ];
    expect(one.translator.prompt(SESSION, written)).toMatchObject([{ event: { prompt: 'mine' } }]);
    const summary = { ...recorded('event.message.updated.assistant').info, id: 'msg_s', summary: true };
    one.event('message.updated', { info: summary });
    const part = { id: 'p', type: 'text', text: 'Summary', messageID: 'msg_s', sessionID: SESSION, time: { end: 1 } };
    one.event('message.part.updated', { part });
    one.idle();
    const [idle] = one.taken();
    expect(idle).toMatchObject({ event: 'idle' });
    expect(idle).not.toHaveProperty('text');
  });

  it('do no harm in another form', () => {
    const one = open();
    for (const type of [
      'message.updated',
      'message.part.updated',
      'permission.asked',
      'question.asked',
      'session.error',
    ])
      for (const broken of [{}, { info: null, part: [], questions: 'x', tool: 1, always: {} }]) one.event(type, broken);
    expect(one.taken().every((step) => 'event' in step && step.event === 'asked')).toBe(true);
  });
});

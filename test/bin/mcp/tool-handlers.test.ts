// The tools of `threadmux mcp`, called by the SDK's own client, with the whole program running beside it.

import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { TOOLS } from '../../../bin/mcp/tool-definitions.ts';
import { shareAmongTests } from '../../support/at-end.ts';
import { startAgent, startRunningUp } from '../../support/running-up.ts';
import { WAIT } from '../cli.ts';
import { connectMcp } from './mcp-client.ts';

/** A client in the pane of session `lead`, one outside tmux, and the program. */
const shared = shareAmongTests(async () => {
  const up = await startRunningUp();
  await startAgent(up, 'lead');
  return { up, mcp: await connectMcp(up, 'lead'), outside: await connectMcp(up) };
});

/** An agent that the clients share; it is idle at the end of every test. */
async function startWorker() {
  const claude = await startAgent(shared().up, 'worker');
  const before = claude.noted().length;
  const noted = () => claude.noted().slice(before);
  return { ...claude, noted, prompts: () => noted().map(({ text }) => text) };
}

describe('the schemas', () => {
  it('are valid, describe every field, and are what the server lists', async () => {
    const { client } = shared().outside;
    const { tools } = await client.listTools();
    expect(tools).toEqual(TOOLS);
    for (const { inputSchema, outputSchema, description } of tools) {
      expect(description?.length).toBeGreaterThan(20);
      for (const schema of [inputSchema, outputSchema])
        expect(() => new Ajv({ strict: false }).compile(schema ?? {})).not.toThrow();
      for (const field of Object.values(inputSchema.properties ?? {})) expect(field).toHaveProperty('description');
    }
    expect(client.getServerVersion()?.name).toBe('threadmux');
  });

  it('refuse every wrong input', async () => {
    const { outside } = shared();
    for (const [name, input] of WRONG) {
      const { code, message, hint } = await outside.error(name, input);
      expect([code, hint]).toEqual(['bad_usage', 'See the input schema of the tool.']);
      expect(message).toContain(`the input of ${name} is not valid`);
    }
    expect(new Set(WRONG.map(([name]) => name))).toEqual(new Set(TOOLS.map(({ name }) => name)));
  });
});

const WRONG: readonly (readonly [string, object])[] = [
  ['list_sessions', { prefix: 5 }],
  ['list_sessions', { hosts: 'mini' }],
  ['start_session', {}],
  ['start_session', { name: '' }],
  ['start_session', { name: 'a', worktree: 'yes' }],
  ['send_message', { session: 'a' }],
  ['send_message', { session: 'a', text: '' }],
  ['wait', { session: 'a', timeout_seconds: 0 }],
  ['wait', { session: 'a', timeout_seconds: 1.5 }],
  ['read_reply', {}],
  ['read_screen', { session: 'a', lines: 20_000 }],
  ['interrupt_session', { session: ['a'] }],
  ['stop_session', { session: 'x'.repeat(301) }],
  ['send_file', { file: 'a' }],
  ['notify', { text: 'x'.repeat(1_501) }],
  ['ask_person', { question: 'a', options: Array(26).fill('a') }],
  ['ask_person', { question: 'a', options: ['ok', 5] }],
];

describe('other sessions', () => {
  it('are started, prompted, waited for, read and stopped', async () => {
    const { up, mcp } = shared();
    const started = await mcp.call('start_session', { name: 'counter', prompt: 'count to three' });
    expect(started).toEqual({ session: 'counter', created: true, state: 'up', branch: null, prompt: 'submitted' });
    const waited = await mcp.call('wait', { session: 'counter', timeout_seconds: 30 });
    expect(waited).toEqual({ state: 'idle', about: null, reply: 'Echo: count to three' });
    const again = await mcp.call('start_session', { name: 'counter', prompt: 'count to three' });
    expect(again).toEqual({ session: 'counter', created: false, state: 'there', branch: null, prompt: 'not_sent' });
    expect(await mcp.call('send_message', { session: 'counter', text: 'and on' })).toEqual({ outcome: 'submitted' });
    await mcp.call('wait', { session: 'counter', timeout_seconds: 30 });
    expect(await mcp.call('read_reply', { session: 'counter' })).toEqual({ reply: 'Echo: and on', finished: true });
    const screen = await mcp.call('read_screen', { session: 'counter', lines: 40 });
    expect(screen).toMatchObject({ text: expect.stringContaining('count to three'), dead: false, exit_status: null });
    const { sessions } = (await mcp.call('list_sessions', { prefix: 'c' })) as { sessions: object[] };
    expect(sessions).toMatchObject([{ session: 'counter', state: 'idle', own: false, directory: up.project }]);
    const claude = await up.claude('counter');
    expect(claude.prompts()).toEqual(['count to three', 'and on']);
    expect(await mcp.call('interrupt_session', { session: 'counter' })).toEqual({ interrupted: false });
    await claude.tell('busy');
    await vi.waitFor(async () => {
      expect(await mcp.call('interrupt_session', { session: 'counter' })).toEqual({ interrupted: true });
    }, WAIT);
    const keys = () => claude.noted().filter(({ kind }) => kind === 'key');
    await vi.waitFor(() => expect(keys()).toEqual([{ kind: 'key', text: '\x1b' }]), WAIT);
    await vi.waitFor(async () => {
      const waited = await mcp.call('wait', { session: 'counter', timeout_seconds: 1 });
      expect(waited).toEqual({ state: 'timeout', about: 'working', reply: null });
    }, WAIT);
    expect(await mcp.call('stop_session', { session: 'counter' })).toEqual({ stopped: true });
    expect(await mcp.call('stop_session', { session: 'counter' })).toEqual({ stopped: false });
    expect(up.cli.tmux.call('list-sessions', '-F', '#S').split('\n')).not.toContain('counter');
  });

  it('with an "@" in their names are listed by names that mean them', async () => {
    const { up, mcp } = shared();
    const [own] = (await mcp.call('list_sessions')).sessions as { host: string }[];
    const name = `at@${own?.host}`;
    for (const session of ['at', name]) {
      up.cli.tmux.call('new-session', '-d', '-s', session, '-c', up.project, `echo this is ${session}; exec cat`);
      onTestFinished(() => void up.cli.tmux.call('kill-session', '-t', `=${session}`));
    }
    const { sessions } = (await mcp.call('list_sessions', { prefix: 'at' })) as {
      sessions: { session: string; name: string }[];
    };
    const listed = sessions.find((one) => one.name === name)?.session;
    await vi.waitFor(async () => {
      expect((await mcp.call('read_screen', { session: listed })).text).toContain(`this is ${name}`);
    }, WAIT);
  });

  it('are limited by maxThreads, also if they are started at the same time', async () => {
    const up = await startRunningUp({ maxThreads: 2 });
    up.cli.tmux.call('new-session', '-d', '-s', 'tool', '-c', up.project, 'cat');
    const mcp = await connectMcp(up, 'tool');
    const calls = Array.from({ length: 6 }, (_, at) =>
      mcp.client.callTool({ name: 'start_session', arguments: { name: `w${at}` } }, undefined, { timeout: 90_000 }),
    );
    const started = await Promise.all(calls);
    expect(started.filter(({ isError }) => isError)).toHaveLength(4);
    expect(JSON.stringify(started)).toContain('and the limit is 2');
    expect(up.cli.tmux.call('list-sessions', '-F', '#S').split('\n')).toHaveLength(3);
    const { code, hint } = await mcp.error('start_session', { name: 'w6' });
    expect([code, hint]).toEqual(['busy', expect.stringContaining('maxThreads')]);
  });

  it('that work take a message for later, and the answer does not wait for its turn', async () => {
    const { mcp } = shared();
    const claude = await startWorker();
    await claude.tell('busy');
    const later = { name: 'send_message', arguments: { session: 'worker', text: 'and then' } };
    // The receipt would be waited for longer than this.
    const { structuredContent } = await mcp.client.callTool(later, undefined, { timeout: 20_000 });
    expect(structuredContent).toEqual({ outcome: 'queued' });
    expect(claude.prompts()).toEqual([]);
    const waiting = mcp.call('wait', { session: 'worker', timeout_seconds: 60 });
    await claude.tell('idle');
    expect(await waiting).toEqual({ state: 'idle', about: null, reply: 'Echo: and then' });
    expect(claude.prompts()).toEqual(['and then']);
  });

  it('with a dialog need a person: no tool answers it', async () => {
    const { mcp } = shared();
    const claude = await startWorker();
    await claude.tell('dialog', 'rm -rf /');
    expect((await mcp.error('send_message', { session: 'worker', text: 'yes' })).code).toBe('needs_person');
    expect((await mcp.error('interrupt_session', { session: 'worker' })).code).toBe('needs_person');
    expect(await mcp.call('wait', { session: 'worker', timeout_seconds: 30 })).toMatchObject({ state: 'needs_person' });
    expect(claude.noted()).toEqual([]);
    await claude.tell('close');
  });

  it('that do not exist, or are the own one, are errors', async () => {
    const { mcp } = shared();
    for (const tool of ['send_message', 'wait', 'read_reply', 'read_screen', 'interrupt_session']) {
      const input = tool === 'send_message' ? { text: 'x' } : {};
      expect([tool, (await mcp.error(tool, { session: 'nobody', ...input })).code]).toEqual([
        tool,
        'session_not_found',
      ]);
    }
    for (const tool of ['send_message', 'wait', 'interrupt_session', 'stop_session']) {
      const input = tool === 'send_message' ? { text: 'x' } : {};
      const { code, message } = await mcp.error(tool, { session: 'lead', ...input });
      expect([tool, code, message]).toEqual([tool, 'bad_usage', 'this is your own session']);
    }
    expect((await mcp.error('read_sessions')).code).toBe('not_found');
  });

  it('start only in the own directory, in projects and in roots, with allowed names', async () => {
    const { up, mcp } = shared();
    const sessions = () => up.cli.tmux.call('list-sessions', '-F', '#S');
    const before = sessions();
    const outside = join(up.cli.dir, 'outside');
    mkdirSync(outside);
    symlinkSync(outside, join(up.project, 'way-out'));
    const start = (more: object) => mcp.error('start_session', { name: 'w1', ...more });
    for (const directory of [outside, '/', '~', join(up.project, '..'), join(up.project, 'way-out')])
      expect([directory, (await start({ directory })).code]).toEqual([directory, 'bad_usage']);
    expect((await start({ directory: 'shop' })).message).toContain('not an absolute path');
    expect((await start({ name: 'a b;c' })).code).toBe('name_refused');
    expect((await start({ host: 'mars' })).code).toBe('not_found');
    expect((await start({ agent: 'nonsense' })).code).toBe('bad_usage');
    expect(sessions()).toBe(before);
  });

  it('does not type into a plain shell, unless messages may', async () => {
    const { up, mcp } = shared();
    up.cli.tmux.call('new-session', '-d', '-s', 'sh', '-c', up.project, 'sh');
    await vi.waitFor(async () => {
      const { code, message } = await mcp.error('send_message', { session: 'sh', text: 'touch typed' });
      expect([code, message]).toEqual(['not_submitted', expect.stringContaining('plain shell')]);
    }, WAIT);
  });
});

describe('the own thread', () => {
  it('gets a file, a line that notifies, and a question that a tap answers', async () => {
    const { up, mcp } = shared();
    writeFileSync(join(up.project, 'plan.md'), '# Plan\n');
    expect(await mcp.call('send_file', { path: 'plan.md', text: 'Here it is' })).toEqual({ sent: true });
    const message = await up.message('lead', /^Here it is$/);
    expect(message.attachments.map(({ filename }) => filename)).toEqual(['plan.md']);
    expect(await mcp.call('notify', { text: 'half done @everyone' })).toEqual({ posted: true });
    const line = await up.message('lead', /half done/);
    expect([line.flags & (1 << 12), line.mention_everyone]).toEqual([0, false]);
    const asking = mcp.call('ask_person', { question: 'Which colour?', options: ['red', 'blue'] });
    const card = await up.message('lead', /Which colour\?/);
    await up.tap('lead', card, '2. blue');
    expect(await asking).toEqual({ answer: 'blue' });
    const late = await mcp.call('ask_person', { question: 'Anybody?', timeout_seconds: 1 });
    expect(late).toEqual({ answer: null });
  });

  it('does not exist outside tmux, and gets no files from elsewhere', async () => {
    const { up, mcp, outside } = shared();
    for (const [tool, input] of [
      ['notify', { text: 'x' }],
      ['ask_person', { question: 'x' }],
    ] as const)
      expect([tool, (await outside.error(tool, input)).code]).toEqual([tool, 'bad_usage']);
    writeFileSync(join(up.cli.dir, 'secret'), 'x');
    writeFileSync(join(up.project, '.env'), 'x');
    expect((await mcp.error('send_file', { path: join(up.cli.dir, 'secret') })).message).toContain(
      'outside the project',
    );
    expect((await mcp.error('send_file', { path: join(up.home.root, 'config.json') })).code).toBe('bad_usage');
    expect((await mcp.error('send_file', { path: '.env' })).message).toContain('hidden');
    expect((await mcp.error('send_file', { path: 'nothing' })).code).toBe('not_found');
    expect((await mcp.error('ask_person', { question: 'x', options: ['a', 'A'] })).code).toBe('bad_usage');
  });

  it('has at most ten open questions of programs; more are refused', async () => {
    const { up } = shared();
    await startAgent(up, 'other');
    const mcp = await connectMcp(up, 'other');
    const ask = (at: number) => ({
      name: 'ask_person',
      arguments: { question: `Question ${at}?`, timeout_seconds: 60 },
    });
    const all = Array.from({ length: 12 }, (_, at) => mcp.client.callTool(ask(at), undefined, { timeout: 90_000 }));
    const refused = await Promise.race(all);
    expect([refused.isError, JSON.stringify(refused.content)]).toEqual([
      true,
      expect.stringContaining('10 questions are already open'),
    ]);
    const cards = (await up.messages('other')).filter(({ content }) => /Question \d+\?/.test(content));
    expect(cards).toHaveLength(10);
    for (const one of all) one.catch(() => {}); // the client is closed
  });

  it('a call that the client cancels closes the question', async () => {
    const { up, mcp } = shared();
    const cancel = new AbortController();
    const asking = mcp.client.callTool({ name: 'ask_person', arguments: { question: 'Never mind?' } }, undefined, {
      signal: cancel.signal,
    });
    await up.message('lead', /Never mind\?/);
    cancel.abort();
    await expect(asking).rejects.toThrow();
    await up.message('lead', /no longer waits for an answer/);
  });
});

describe('a client that asks its user by itself', () => {
  const isOver = (signal: AbortSignal) =>
    new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(new Error('cancelled'))));

  it('is asked at the same time: the first answer counts, and closes the question in the other place', async () => {
    const { up } = shared();
    expect((await up.runHere(['start', 'tool', '--', 'cat'])).status).toBe(0);
    const asked: unknown[] = [];
    const mcp = await connectMcp(up, 'tool', async (question, options, signal) => {
      asked.push([question, options]);
      return question === 'Here?' ? 'b' : isOver(signal).finally(() => asked.push('over'));
    });
    expect(await mcp.call('ask_person', { question: 'Here?', options: ['a', 'b'] })).toEqual({ answer: 'b' });
    await vi.waitFor(async () => {
      const cards = (await up.messages('tool')).filter(({ content }) => content.includes('Here?'));
      expect(cards.filter(({ components }) => components.length > 0)).toEqual([]);
    }, WAIT);
    const asking = mcp.call('ask_person', { question: 'There?', options: ['yes', 'no'] });
    const card = await up.message('tool', /There\?/);
    await vi.waitFor(() => expect(asked.at(-1)).toEqual(['There?', ['yes', 'no']]), WAIT);
    await up.tap('tool', card, '2. no');
    expect(await asking).toEqual({ answer: 'no' });
    await vi.waitFor(() => expect(asked.at(-1)).toBe('over'), WAIT);
  });

  it('is not asked in the pane of an agent: its dialog would hold up the messages of the thread', async () => {
    const { up } = shared();
    const asked: string[] = [];
    const mcp = await connectMcp(up, 'lead', async (question) => {
      asked.push(question);
      return 'yes';
    });
    const asking = mcp.call('ask_person', { question: 'Which?', options: ['yes', 'no'] });
    await up.tap('lead', await up.message('lead', /Which\?/), '2. no');
    expect([await asking, asked]).toEqual([{ answer: 'no' }, []]);
  });
});

describe('two clients', () => {
  it('work at the same time, and each gets its own answers', async () => {
    const { up, mcp } = shared();
    const other = await startAgent(up, 'other');
    const second = await connectMcp(up, 'other');
    const worker = await startWorker();
    const first = mcp.call('ask_person', { question: 'One?', options: ['yes', 'no'] });
    const asked = second.call('ask_person', { question: 'Two?', options: ['yes', 'no'] });
    const [one, two] = [await up.message('lead', /One\?/), await up.message('other', /Two\?/)];
    const texts = ['from the first', 'from the second'];
    const sent = await Promise.all([
      mcp.call('send_message', { session: 'worker', text: texts[0] }),
      second.call('send_message', { session: 'worker', text: texts[1] }),
    ]);
    expect(sent).toEqual([{ outcome: 'submitted' }, { outcome: 'submitted' }]);
    expect(worker.prompts().toSorted()).toEqual(texts);
    await up.tap('other', two, '2. no');
    await up.tap('lead', one, '1. yes');
    expect([await first, await asked]).toEqual([{ answer: 'yes' }, { answer: 'no' }]);
    expect(other.prompts()).toEqual([]);
  });
});

describe('threadmux is killed', () => {
  it('during wait and ask_person: nothing is lost, and meanwhile sessions can be read but not started', async () => {
    const { up, mcp } = shared();
    const worker = await startWorker();
    await startAgent(up, 'other');
    await worker.tell('busy');
    await vi.waitFor(async () => {
      const { sessions } = (await mcp.call('list_sessions', { prefix: 'worker' })) as { sessions: { state: string }[] };
      expect(sessions[0]?.state).toBe('working');
    }, WAIT);
    const waiting = mcp.call('wait', { session: 'worker', timeout_seconds: 80 });
    const asking = mcp.call('ask_person', { question: 'Go on?', options: ['yes', 'no'] });
    await up.message('lead', /Go on\?/);
    await up.kill();
    const { code, hint } = await mcp.error('start_session', { name: 'w1' });
    expect([code, hint]).toEqual(['not_running', 'Start it with `threadmux up`.']);
    const running = up.cli.tmux.call('list-sessions', '-F', '#S').split('\n');
    const listed = (await mcp.call('list_sessions')).sessions as { session: string }[];
    expect(listed.map(({ session }) => session).toSorted()).toEqual(running.toSorted());
    expect((await mcp.call('read_screen', { session: 'worker' })).text).toContain('Stand-in');
    expect(await mcp.call('wait', { session: 'other', timeout_seconds: 30 })).toMatchObject({ state: 'idle' });
    expect(await mcp.call('send_message', { session: 'worker', text: 'while it is down' })).toEqual({
      outcome: 'queued',
    });
    await up.start();
    const card = await up.message('lead', /Go on\?/);
    // A tap is lost if the bridge has not connected yet.
    const again = setInterval(() => void up.tap('lead', card, '1. yes').catch(() => {}), 2_000);
    onTestFinished(() => clearInterval(again));
    expect(await asking).toEqual({ answer: 'yes' });
    await worker.tell('idle');
    expect(await waiting).toEqual({ state: 'idle', about: null, reply: 'Echo: while it is down' });
    expect((await up.messages('lead')).filter(({ content }) => content.includes('Go on?'))).toHaveLength(1);
  });
});

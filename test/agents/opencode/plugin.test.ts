// Our plugin for OpenCode as it is installed, with the real `drop` and `ask`, in a process that calls its hooks as OpenCode does.

import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type AskedEvent, parseAgentEvent } from '../../../agents/event.ts';
import { opencode } from '../../../agents/opencode/driver.ts';
import { tempFolder } from '../../support/temp-home.ts';

const HOST = fileURLToPath(new URL('../../support/opencode-host.mjs', import.meta.url));
const SCRIPTS = fileURLToPath(new URL('../../../dist/hooks', import.meta.url));
const ASKED = { id: 'per_1', sessionID: 'ses_1', permission: 'bash', patterns: ['ls'], metadata: { command: 'ls' } };

function startPlugin({ nested = false, options = {}, knowsHome = false } = {}) {
  const home = tempFolder();
  mkdirSync(join(home, 'state'));
  writeFileSync(join(home, 'state/courier.pid'), String(process.pid)); // a courier seems to run
  const env = {
    PATH: process.env.PATH,
    HOME: '/nowhere',
    TMUX: `${home}/none,1,0`,
    TMUX_PANE: '%7',
    ...(knowsHome ? {} : { THREADMUX_HOME: home }),
    ...(nested ? { THREADMUX_NESTED: '1' } : {}),
  };
  const child = spawn(
    process.execPath,
    [HOST, join(SCRIPTS, 'opencode/plugin.js'), JSON.stringify({ ...options, ...(knowsHome ? { home } : {}) })],
    { env, stdio: ['pipe', 'pipe', 'inherit'] },
  );
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
  onTestFinished(() => void child.kill('SIGKILL'));
  const posted: unknown[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => posted.push(JSON.parse(line)));
  const box = join(home, 'outbox/1.7');
  const letters = () =>
    (existsSync(box) ? readdirSync(box) : [])
      .filter((name) => /^\d/.test(name))
      .sort()
      .map((name) => {
        const whole = readFileSync(join(box, name), 'utf8');
        const [head = '', body = ''] = whole.split('\n\n');
        return { head: head.split('\n'), event: parseAgentEvent(JSON.parse(body)) };
      });
  return {
    posted,
    letters,
    events: () => letters().map(({ event }) => event?.event),
    call: (hook: string, ...args: unknown[]) => child.stdin.write(`${JSON.stringify([hook, ...args])}\n`),
    event: (type: string, properties: unknown) =>
      child.stdin.write(`${JSON.stringify(['event', { event: { type, properties } }])}\n`),
    prompt: (text: string) =>
      child.stdin.write(
        `${JSON.stringify(['chat.message', { sessionID: 'ses_1' }, { parts: [{ type: 'text', text }] }])}\n`,
      ),
    /** What people decide about the prompt in this letter. */
    answer(letter: { head: readonly string[] }, text: string) {
      const id = letter.head.find((line) => line.startsWith('ask '))?.slice(4) ?? '';
      writeFileSync(join(home, 'answers/.tmp'), text);
      renameSync(join(home, 'answers/.tmp'), join(home, 'answers', id));
      writeFileSync(join(home, 'answers', `${id}.bell`), '\n');
    },
    async exit() {
      child.stdin.end();
      return exited;
    },
  };
}

describe('the plugin for OpenCode', () => {
  it('writes letters in order, under the name of its agent', async () => {
    const plugin = startPlugin({ options: { session: 'ses_before' } });
    for (const text of ['one', 'two', 'three', 'four']) plugin.prompt(text);
    await vi.waitFor(() => expect(plugin.letters()).toHaveLength(5));
    expect(plugin.letters().map(({ event }) => event)).toMatchObject([
      { event: 'started', session: 'ses_before', cwd: '/work' },
      ...['one', 'two', 'three', 'four'].map((prompt) => ({ event: 'submitted', session: 'ses_1', prompt })),
    ]);
    for (const { head } of plugin.letters())
      expect(head).toEqual(expect.arrayContaining(['agent opencode', 'pane %7']));
    expect(await plugin.exit()).toBe(0);
    expect(plugin.events().at(-1)).toBe('ended');
  });

  it('passes an answer on, and says nothing more about it', async () => {
    const plugin = startPlugin();
    plugin.prompt('go');
    plugin.event('permission.asked', ASKED);
    await vi.waitFor(() => expect(plugin.events()).toEqual(['started', 'submitted', 'asked']));
    const [, , asked] = plugin.letters();
    const decision = { kind: 'deny', reason: 'Not "here".' } as const;
    plugin.answer({ head: asked?.head ?? [] }, opencode.answer(asked?.event as AskedEvent, decision) ?? '');
    await vi.waitFor(() =>
      expect(plugin.posted).toEqual([
        { url: '/permission/{id}/reply', id: 'per_1', body: { reply: 'reject', message: 'Not "here".' } },
      ]),
    );
    plugin.event('permission.replied', { sessionID: 'ses_1', requestID: 'per_1', reply: 'reject' });
    expect(await plugin.exit()).toBe(0);
    expect(plugin.events()).toEqual(['started', 'submitted', 'asked', 'ended']);
  });

  it('ends the wait when somebody answers in the terminal', async () => {
    const plugin = startPlugin();
    plugin.event('permission.asked', ASKED);
    plugin.event('permission.replied', { sessionID: 'ses_1', requestID: 'per_1', reply: 'once' });
    await vi.waitFor(() => expect(plugin.events().at(-1)).toBe('resolved'));
    expect(plugin.letters().at(-1)?.event).toMatchObject({ ask: 'per_1' });
    expect(await plugin.exit()).toBe(0); // no `ask` is left that would keep it
    expect(plugin.posted).toEqual([]);
  });

  it('answers questions and rejects them', async () => {
    const plugin = startPlugin();
    for (const id of ['que_1', 'que_2'])
      plugin.event('question.asked', { id, sessionID: 'ses_1', questions: [{ question: 'Which?', options: [] }] });
    await vi.waitFor(() => expect(plugin.letters()).toHaveLength(3));
    const [first, second] = ['que_1', 'que_2'].map((id) =>
      plugin.letters().find(({ event }) => (event as { ask?: string }).ask === id),
    );
    const answers = { kind: 'answers', answers: ['my own words, with a comma'] } as const;
    plugin.answer({ head: first?.head ?? [] }, opencode.answer(first?.event as AskedEvent, answers) ?? '');
    const deny = { kind: 'deny', reason: '' } as const;
    plugin.answer({ head: second?.head ?? [] }, opencode.answer(second?.event as AskedEvent, deny) ?? '');
    await vi.waitFor(() => expect(plugin.posted).toHaveLength(2));
    expect(plugin.posted).toEqual(
      expect.arrayContaining([
        { url: '/question/{id}/reply', id: 'que_1', body: { answers: [['my own words, with a comma']] } },
        { url: '/question/{id}/reject', id: 'que_2', body: {} },
      ]),
    );
    expect(await plugin.exit()).toBe(0);
  });

  it('finds the home that it was installed for', async () => {
    const plugin = startPlugin({ knowsHome: true });
    expect(await plugin.exit()).toBe(0);
    expect(plugin.events()).toEqual(['started', 'ended']);
  });

  it('survives events of another form', async () => {
    const plugin = startPlugin();
    plugin.call('event', {});
    plugin.call('event', { event: { type: 'session.idle' } });
    plugin.call('chat.message', {}, {});
    plugin.prompt('still here');
    expect(await plugin.exit()).toBe(0);
    expect(plugin.events()).toEqual(['started', 'submitted', 'ended']);
  });

  it('is silent in an agent that OpenCode itself started in its shell', async () => {
    const plugin = startPlugin({ nested: true });
    plugin.prompt('from another agent');
    expect(await plugin.exit()).toBe(0);
    expect(plugin.letters()).toEqual([]);
  });

  it('imports nothing that a host without threadmux lacks', () => {
    const files = readdirSync(SCRIPTS, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.js'));
    expect(files).toContain('opencode/plugin.js');
    for (const file of files.filter((one) => /^(?:opencode|pi)\/|^reporter|^loose/.test(one)))
      for (const [, from = ''] of readFileSync(join(SCRIPTS, file), 'utf8').matchAll(/ from '([^']+)'/g))
        expect(from.startsWith('node:') || existsSync(join(SCRIPTS, file, '..', from)), `${file}: ${from}`).toBe(true);
  });
});

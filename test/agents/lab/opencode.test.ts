// The real OpenCode with our plugin, without the rest of threadmux: what it reports, and what our answers do.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { opencode } from '../../../agents/opencode/driver.ts';
import { type AgentPane, startAgentPane } from './agent-pane.ts';

const start = async (options = {}) => {
  const pane = await startAgentPane('opencode', opencode, options);
  const started = await pane.next('started');
  await ready(pane);
  return { pane, started };
};
const ready = (pane: AgentPane) => pane.waitFor((now) => now.kind === 'empty' && !now.busy);
const eventsSince = (pane: AgentPane, at: number) => pane.events().slice(at);

describe('OpenCode', () => {
  it('reports its start, a prompt at once, its text and tools, and every end', async () => {
    const { pane, started } = await start();
    expect(started.headers).toMatchObject({ agent: 'opencode', pane: '%0' });
    expect(started.event).toMatchObject({ session: 'new', cwd: pane.project });

    await pane.paste('hello there');
    const { event: submitted } = await pane.next('submitted');
    expect(submitted.prompt).toBe('hello there');
    expect(submitted.session).toMatch(/^ses_/);
    const { event: idle } = await pane.next('idle');
    expect(idle).toMatchObject({ session: submitted.session, text: 'Echo: hello there', interrupted: false });

    const hostile =
      '  first $(touch hacked) `touch hacked`\n"quoted" \'text\' \\ \u00e4\u{1f600}\n\tthird line; rm -rf /\n';
    await ready(pane);
    await pane.paste(hostile);
    expect((await pane.next('submitted')).event.prompt).toBe(hostile.trim());
    expect((await pane.next('idle')).event.text).toContain('third line; rm -rf /');
    expect(existsSync(join(pane.project, 'hacked'))).toBe(false);

    await ready(pane);
    await pane.paste('slow 30');
    await pane.next('submitted');
    await pane.waitFor((now) => now.kind === 'empty' && now.busy);
    await pane.paste('entered while it works');
    expect((await pane.next('submitted')).event.prompt).toBe('entered while it works');
    for (const key of opencode.typing.interrupt) pane.press(key);
    expect((await pane.next('idle')).event).toMatchObject({ interrupted: true });
  });

  it('asks for a permission while its dialog stays live, and takes the answer', async () => {
    const { pane } = await start();
    await pane.paste('run echo allowed > allowed.txt');
    const once = await pane.next('asked');
    expect(once.event).toMatchObject({
      ...{ kind: 'permission', tool: 'Bash', input: { command: 'echo allowed > allowed.txt' } },
      always: ['echo *'],
    });
    expect(eventsSince(pane, 0).map(({ event }) => event)).toEqual([
      ...['started', 'submitted', 'said', 'tool', 'asked'],
    ]);
    await pane.waitFor((now) => now.kind === 'dialog' && now.which === 'permission');
    pane.answer(once, opencode.answer(once.event, { kind: 'allow', always: false }) ?? '');
    expect((await pane.next('idle')).event.text).toContain('Done.');
    expect(existsSync(join(pane.project, 'allowed.txt'))).toBe(true);
    expect(pane.events().some(({ event }) => event === 'resolved')).toBe(false);

    await ready(pane);
    await pane.paste('write refused.txt');
    const edit = await pane.next('asked');
    expect(edit.event).toMatchObject({ tool: 'Write', input: { file_path: 'refused.txt', content: 'hello\n' } });
    pane.answer(edit, opencode.answer(edit.event, { kind: 'deny', reason: 'Use another name.' }) ?? '');
    // With a reason, the model hears it and goes on.
    expect((await pane.next('idle')).event.text).toContain('Use another name.');
    expect(existsSync(join(pane.project, 'refused.txt'))).toBe(false);

    await ready(pane);
    await pane.paste('run touch denied.txt');
    const denied = await pane.next('asked');
    pane.answer(denied, opencode.answer(denied.event, { kind: 'deny', reason: '' }) ?? '');
    await pane.next('idle');
    expect(existsSync(join(pane.project, 'denied.txt'))).toBe(false);

    await ready(pane);
    await pane.paste('run touch terminal.txt');
    const there = await pane.next('asked');
    await pane.waitFor((now) => now.kind === 'dialog' && now.which === 'permission');
    pane.press('Enter');
    expect((await pane.next('resolved')).event.ask).toBe(there.event.ask);
    await pane.next('idle');
    expect(existsSync(join(pane.project, 'terminal.txt'))).toBe(true);
    await vi.waitFor(() => expect(() => pane.answer(there, '{}')).toThrow()); // nobody waits any more
  });

  it('asks questions, and takes options and own words', async () => {
    const { pane } = await start();
    await pane.paste('ask2');
    const two = await pane.next('asked');
    expect(two.event).toMatchObject({
      kind: 'question',
      questions: [
        { header: 'Database', question: 'Which database should we use?', multiSelect: false },
        { header: 'Extras', multiSelect: true, options: [{ label: 'Cache' }, { label: 'Queue' }, { label: 'Search' }] },
      ],
    });
    const answers = ['something, of my own', 'Cache, Queue'];
    pane.answer(two, opencode.answer(two.event, { kind: 'answers', answers }) ?? '');
    const said = (await pane.next('idle')).event.text ?? '';
    expect(said).toContain('something, of my own');
    expect(said).toMatch(/Cache.*Queue/);

    await ready(pane);
    await pane.paste('ask');
    const one = await pane.next('asked');
    await pane.waitFor((now) => now.kind === 'dialog' && now.which === 'question');
    pane.press('Escape');
    expect((await pane.next('resolved')).event.ask).toBe(one.event.ask);
    await pane.next('idle');
  });

  it('reports what a subagent asks, and not what it says', async () => {
    const { pane } = await start();
    await pane.paste('delegate run touch by-subagent.txt');
    const asked = await pane.next('asked');
    expect(asked.event).toMatchObject({ tool: 'Bash', subagent: expect.stringMatching(/^ses_/) });
    const submitted = pane.events().filter(({ event }) => event === 'submitted');
    expect(submitted).toHaveLength(1);
    expect(asked.event.session).toBe(submitted[0]?.session);
    pane.answer(asked, opencode.answer(asked.event, { kind: 'allow', always: false }) ?? '');
    expect((await pane.next('idle')).event.session).toBe(asked.event.session);
    expect(existsSync(join(pane.project, 'by-subagent.txt'))).toBe(true);
    expect(pane.events().filter(({ event }) => event === 'idle')).toHaveLength(1);
  });

  it('reports a model that fails, and its own exit', async () => {
    const { pane } = await start();
    await pane.paste('fail 401');
    expect((await pane.next('failed')).event).toMatchObject({ details: expect.stringContaining('401') });
    await ready(pane);
    await pane.paste('fail 500');
    await pane.next('submitted');
    await pane.waitFor((now) => now.kind === 'empty' && now.busy);
    for (const key of opencode.typing.interrupt) pane.press(key);
    expect((await pane.next('idle')).event).toMatchObject({ interrupted: true });
    await ready(pane);
    pane.press('C-c');
    expect((await pane.next('ended')).event.session).toMatch(/^ses_/);
    await pane.waitFor((now) => now.kind === 'shell');
  });

  it.each([
    ['none', {}],
    ['its content', { OPENCODE_CONFIG_CONTENT: '{ "username": "of-the-user", "plugin": [] }' }],
    ['both', { OPENCODE_CONFIG_CONTENT: '{ "username": "of-the-user" }', OPENCODE_CONFIG: '/nowhere/opencode.json' }],
  ])('loads our plugin beside a configuration in variables of the user: %s', async (_, environment) => {
    const { pane } = await start({ environment });
    await pane.paste('hello');
    await pane.next('submitted');
    await pane.next('idle');
  });

  it('goes on with a conversation, and never mistakes a text for a command', async () => {
    const { pane } = await start();
    for (const text of ['!touch hacked', '/exit', '/status', '@nobody', '/xyz is not a command']) {
      await pane.paste(opencode.typing.guard?.(text) ?? text);
      expect((await pane.next('submitted')).event.prompt).toBe(text);
      await pane.next('idle');
      await ready(pane);
    }
    expect(existsSync(join(pane.project, 'hacked'))).toBe(false);
    expect(opencode.typing.refuse(' exit ')).toContain('exit');
    expect(opencode.typing.refuse('exit now')).toBeUndefined();
  });
});

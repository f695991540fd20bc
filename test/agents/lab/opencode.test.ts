// The real OpenCode with our plugin, without the rest of threadmux: what it reports, and what our answers do.

import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { AskedEvent } from '../../../agents/event.ts';
import { opencode } from '../../../agents/opencode/driver.ts';
import type { PromptDecision } from '../../../core/prompt.ts';
import { type AgentPane, type Letter, openAgentPane, startAgentPane } from './agent-pane.ts';

let pane: AgentPane & { stop(): Promise<void> };

beforeAll(async () => {
  pane = await openAgentPane('opencode', opencode);
});
afterAll(() => pane.stop());

/** A picture of one pixel. */
const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

const allow = { kind: 'allow', always: false } as const;
const answer = (letter: Letter & { event: AskedEvent }, decision: PromptDecision) =>
  pane.answer(letter, opencode.answer(letter.event, decision) ?? '');
const wrote = (file: string) => existsSync(join(pane.project, file));
const dialog = (which: string) => pane.waitFor((now) => now.kind === 'dialog' && now.which === which);

describe('OpenCode', () => {
  it('reports its start, a prompt and its reply', async () => {
    const started = await pane.next('started');
    expect(started.headers).toMatchObject({ agent: 'opencode', pane: '%0' });
    expect(started.event).toMatchObject({ session: 'new', cwd: pane.project });
    await pane.ready();
    await pane.paste('hello there');
    const { event: submitted } = await pane.next('submitted');
    expect(submitted.prompt).toBe('hello there');
    expect(submitted.session).toMatch(/^ses_/);
    const { event: idle } = await pane.next('idle');
    expect(idle).toMatchObject({ session: submitted.session, text: 'Echo: hello there', interrupted: false });
  });

  it('takes many lines and hostile characters as they are', async () => {
    const hostile =
      '  first $(touch hacked) `touch hacked`\n"quoted" \'text\' \\ \u00e4\u{1f600}\n\tthird line; rm -rf /\n';
    await pane.ready();
    await pane.paste(hostile);
    expect((await pane.next('submitted')).event.prompt).toBe(hostile.trim());
    expect((await pane.next('idle')).event.text).toContain('third line; rm -rf /');
    expect(wrote('hacked')).toBe(false);
  });

  it('attaches an image whose path is pasted, and reports the path', async () => {
    const picture = join(pane.project, 'picture.png');
    writeFileSync(picture, Buffer.from(PIXEL, 'base64'));
    await pane.ready();
    await pane.paste(opencode.typing.guard?.(picture) ?? '');
    expect((await pane.next('submitted')).event.prompt).toBe(picture);
    await pane.next('idle');
    expect(pane.model.requests.some(({ body }) => body.includes(PIXEL))).toBe(true);
  });

  it('reports a prompt that waits at once, and an interruption', async () => {
    await pane.ready();
    await pane.paste('slow 60');
    await pane.next('submitted');
    await pane.waitFor((now) => now.kind === 'empty' && now.busy);
    await pane.paste('entered while it works');
    expect((await pane.next('submitted')).event.prompt).toBe('entered while it works');
    await pane.interrupt();
    expect((await pane.next('idle')).event).toMatchObject({ interrupted: true });
  });

  it('asks for a permission while its dialog stays live, and takes an answer from outside', async () => {
    await pane.ready();
    await pane.paste('run echo allowed > allowed.txt');
    const asked = await pane.next('asked');
    expect(asked.event).toMatchObject({
      kind: 'permission',
      tool: 'Bash',
      input: { command: 'echo allowed > allowed.txt' },
      always: ['echo *'],
    });
    const before = pane.events().slice(-4, -1);
    expect(before.map(({ event }) => event).sort()).toEqual(['said', 'submitted', 'tool']);
    await dialog('permission');
    answer(asked, allow);
    expect((await pane.next('idle')).event.text).toContain('Done.');
    expect(wrote('allowed.txt')).toBe(true);
    expect(pane.events().some(({ event }) => event === 'resolved')).toBe(false);
  });

  it('passes the reason of a denial to the model, and stops without one', async () => {
    await pane.ready();
    await pane.paste('write refused.txt');
    const edit = await pane.next('asked');
    expect(edit.event).toMatchObject({ tool: 'Write', input: { file_path: 'refused.txt', content: 'hello\n' } });
    answer(edit, { kind: 'deny', reason: 'Use another name.' });
    expect((await pane.next('idle')).event.text).toContain('Use another name.');
    await pane.ready();
    await pane.paste('run touch denied.txt');
    answer(await pane.next('asked'), { kind: 'deny', reason: '' });
    await pane.next('idle');
    expect(wrote('refused.txt') || wrote('denied.txt')).toBe(false);
  });

  it('ends our wait when a permission is answered in the terminal', async () => {
    await pane.ready();
    await pane.paste('run touch terminal.txt');
    const asked = await pane.next('asked');
    await dialog('permission');
    pane.press('Enter');
    expect((await pane.next('resolved')).event.ask).toBe(asked.event.ask);
    await pane.next('idle');
    expect(wrote('terminal.txt')).toBe(true);
    await vi.waitFor(() => expect(() => pane.answer(asked, '{}')).toThrow()); // nobody waits any more
  });

  it('asks questions, and takes options and own words', async () => {
    await pane.ready();
    await pane.paste('ask2');
    const two = await pane.next('asked');
    expect(two.event).toMatchObject({
      kind: 'question',
      questions: [
        { header: 'Database', question: 'Which database should we use?', multiSelect: false },
        { header: 'Extras', multiSelect: true, options: [{ label: 'Cache' }, { label: 'Queue' }, { label: 'Search' }] },
      ],
    });
    answer(two, { kind: 'answers', answers: ['something, of my own', 'Cache, Queue'] });
    const said = (await pane.next('idle')).event.text ?? '';
    expect(said).toContain('something, of my own');
    expect(said).toMatch(/Cache.*Queue/);
    await pane.ready();
    await pane.paste('ask');
    const one = await pane.next('asked');
    await dialog('question');
    pane.press('Escape');
    expect((await pane.next('resolved')).event.ask).toBe(one.event.ask);
    await pane.next('idle');
  });

  it('reports what a subagent asks, and not what it says', async () => {
    await pane.ready();
    const before = pane.events().length;
    await pane.paste('delegate run touch by-subagent.txt');
    const asked = await pane.next('asked');
    expect(asked.event).toMatchObject({ tool: 'Bash', subagent: expect.stringMatching(/^ses_/) });
    answer(asked, allow);
    const { event: idle } = await pane.next('idle');
    expect(wrote('by-subagent.txt')).toBe(true);
    const since = pane.events().slice(before);
    expect(since.filter(({ event }) => event === 'submitted' || event === 'idle')).toHaveLength(2);
    expect(new Set(since.map(({ session }) => session))).toEqual(new Set([idle.session]));
  });

  it('never mistakes a text for a command', async () => {
    for (const text of ['!touch hacked', '/exit', '/status', '@nobody', '/xyz is not a command']) {
      await pane.ready();
      await pane.paste(opencode.typing.guard?.(text) ?? text);
      expect((await pane.next('submitted')).event.prompt).toBe(text);
      await pane.next('idle');
    }
    expect(wrote('hacked')).toBe(false);
    expect(opencode.typing.refuse(' exit ')).toContain('exit');
    expect(opencode.typing.refuse('exit now')).toBeUndefined();
  });

  it('reports a model that fails, and an interruption while it tries again', async () => {
    await pane.ready();
    await pane.paste('fail 401');
    expect((await pane.next('failed')).event).toMatchObject({ details: expect.stringContaining('401') });
    await pane.ready();
    await pane.paste('fail 500');
    await pane.waitFor((now) => now.kind === 'empty' && now.busy);
    await pane.interrupt();
    expect((await pane.next('idle')).event).toMatchObject({ interrupted: true });
  });

  it('reports its exit', async () => {
    await pane.ready();
    pane.press('C-c');
    expect((await pane.next('ended')).event.session).toMatch(/^ses_/);
    await pane.waitFor((now) => now.kind === 'shell');
  });

  it('loads our plugin beside a configuration in a variable of the user', async () => {
    const environment = { OPENCODE_CONFIG_CONTENT: '{ "username": "of-the-user", "plugin": [] }' };
    const other = await startAgentPane('opencode', opencode, { environment });
    await other.next('started');
    await other.ready();
    await other.paste('hello');
    await other.next('idle');
  });

  it('reports also if a person starts it, once its extension is installed', async () => {
    const other = await startAgentPane('opencode', opencode, { byHand: true });
    await other.next('started');
    await other.ready();
    await other.paste('hello');
    expect((await other.next('idle')).event.text).toBe('Echo: hello');
  });
});

// The real pi with our extension, without the rest of threadmux: what it reports.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pi } from '../../../agents/pi/driver.ts';
import { type AgentPane, openAgentPane, startAgentPane } from './agent-pane.ts';

let pane: AgentPane & { stop(): Promise<void> };

beforeAll(async () => {
  pane = await openAgentPane('pi', pi);
});
afterAll(() => pane.stop());

describe('pi', () => {
  it('reports its start, a prompt, its texts and tools, and its reply', async () => {
    const started = await pane.next('started');
    expect(started.headers).toMatchObject({ agent: 'pi', pane: '%0' });
    expect(started.event.session).toMatch(/^[\w-]{8,}$/);
    await pane.ready();
    await pane.paste('steps 1');
    expect((await pane.next('submitted')).event).toMatchObject({ prompt: 'steps 1', session: started.event.session });
    expect((await pane.next('idle')).event.text).toContain('Done. The tool said: step 1');
    expect(pane.events().map(({ event }) => event)).toEqual(['started', 'submitted', 'said', 'tool', 'idle']);
  });

  it('reports a prompt that is entered while it works at once, and an interruption', async () => {
    await pane.ready();
    await pane.paste('slow 60');
    await pane.waitFor((now) => now.kind === 'empty' && now.busy);
    await pane.paste('entered while it works');
    await pane.next('submitted');
    expect((await pane.next('submitted')).event.prompt).toBe('entered while it works');
    await pane.interrupt();
    expect((await pane.next('idle')).event).toMatchObject({ interrupted: true });
    pane.press('C-u');
  });

  it('reports a failure once, when it has stopped trying again', async () => {
    await pane.ready();
    await pane.paste('fail 500');
    expect((await pane.next('failed')).event).toMatchObject({ details: expect.stringContaining('500') });
    expect(pane.events().filter(({ event }) => event === 'failed')).toHaveLength(1);
  });

  it('would run a text that begins with "!" even after a blank, so it is refused', async () => {
    await pane.ready();
    await pane.paste(' !touch by-shell.txt');
    await pane.waitFor(() => existsSync(join(pane.project, 'by-shell.txt')));
    expect(pi.typing.refuse(' !touch by-shell.txt')).toBeDefined();
  });

  it('reports another conversation, and its exit', async () => {
    await pane.ready();
    const before = pane.events().length;
    await pane.paste('/new');
    const { session } = (await pane.next('started')).event;
    expect(session).not.toBe(pane.events()[0]?.session);
    expect(
      pane
        .events()
        .slice(before)
        .map(({ event }) => event),
    ).toEqual(['started']);
    await pane.ready();
    pane.press('C-d');
    expect((await pane.next('ended')).event.session).toBe(session);
    await pane.waitFor((now) => now.kind === 'shell');
  });

  it('reports also if a person starts it, once its extension is installed', async () => {
    const other = await startAgentPane('pi', pi, { byHand: true });
    await other.next('started');
    await other.ready();
    await other.paste('hello');
    expect((await other.next('idle')).event.text).toBe('Echo: hello');
    expect(other.events().filter(({ event }) => event === 'idle')).toHaveLength(1);
  });
});

// Agents that do not report to us: started by hand, or without the extension that they need. They are read and typed into by their screens
// alone, and the thread says what is missing.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { driverOf } from '../../../agents/list.ts';
import { type LabAgentName, labAgents } from './packages.ts';
import { LAB_PATIENCE, startThreadmuxLab } from './threadmux-lab.ts';

/** `--no-daemon`: the server that Codex shares between its panes would outlive the test. */
const ARGUMENTS: Readonly<Partial<Record<LabAgentName, readonly string[]>>> = { codex: ['--no-daemon'] };

/** The keys that allow a command in the terminal. pi never asks. */
const ALLOW: Readonly<Partial<Record<LabAgentName, string>>> = { codex: 'y', gemini: '1', opencode: 'Enter' };

it.each(labAgents())('%s that a user has started is typed into by its screen', { timeout: 400_000 }, async (name) => {
  const lab = await startThreadmuxLab([name], false);
  onTestFinished(() => lab.stop());
  const thread = await lab.startByHand(name, ...(ARGUMENTS[name] ?? []));
  const shows = (text: string) => thread.shows((now) => now.kind === 'empty' && thread.screen().includes(text));
  const message = await thread.say('hello by the screen');
  await thread.marked(message, '✅');
  await shows('Echo: hello by the screen');
  await thread.posted(message, `This ${driverOf(name).title} runs without our hooks`);
  await thread.ready();

  // What would run in a shell is refused, or arrives as text.
  const { sessionName } = thread.record();
  const sent = lab.command('send', sessionName, '!touch hacked', '--wait', '30');
  if (driverOf(name).typing.refuse('!touch hacked') === undefined) {
    await sent;
    await shows('Echo: !touch hacked');
  } else {
    await expect(sent).rejects.toMatchObject({ code: 1 });
    expect(await thread.read()).toMatchObject({ kind: 'empty' });
  }
  await thread.ready();

  thread.type('half written');
  await thread.shows((now) => now.kind === 'draft');
  const waiting = await thread.say('not into the draft');
  await thread.marked(waiting, '📨');
  thread.press('C-u');
  await thread.marked(waiting, '✅');
  await shows('Echo: not into the draft');
  await thread.ready();

  const allow = ALLOW[name];
  if (allow !== undefined) {
    const asking = await thread.say('run touch by-hand.txt');
    await thread.shows((now) => now.kind === 'dialog');
    const later = await thread.say('not into the dialog');
    await thread.marked(later, '📨');
    await thread.posted(asking, 'touch by-hand.txt');
    expect(existsSync(join(thread.project, 'by-hand.txt'))).toBe(false);
    thread.press(allow);
    await thread.marked(later, '✅');
    await vi.waitFor(() => expect(existsSync(join(thread.project, 'by-hand.txt'))).toBe(true), LAB_PATIENCE);
  }
  expect(existsSync(join(thread.project, 'hacked'))).toBe(false);
  expect(lab.model.requests.some(({ body }) => body.includes('half writtennot'))).toBe(false);
});

// AGENT_LAB_ONLY may leave it out.
it.each(labAgents().filter((name) => driverOf(name).extension?.isNeeded))(
  '%s that `!new` starts without our extension is typed into, and the thread says what is missing',
  async (name) => {
    const lab = await startThreadmuxLab([name], false);
    onTestFinished(() => lab.stop());
    const thread = await lab.start(name);
    const welcome = (await lab.person.messages(lab.channelId)).find(({ id }) => id === thread.thread);
    expect(welcome?.content).toContain('\n-# The extension of threadmux is not installed');
    expect(welcome?.content).toContain(`Run "threadmux install --agent ${name}" to add it.\n`);
    const message = await thread.say('hello by the screen');
    await thread.marked(message, '✅');
    await thread.shows((now) => now.kind === 'empty' && thread.screen().includes('Echo: hello by the screen'));
    await thread.posted(message, /This Gemini runs without our hooks.*`threadmux install --agent gemini`/);
    const asking = await thread.say('run touch by-card.txt');
    const card = await thread.card(asking, 'Allow once');
    await thread.tap(card, 'Allow once');
    await thread.shows((now) => now.kind === 'empty' && !now.busy && thread.screen().includes('Done. The tool said'));
  },
);

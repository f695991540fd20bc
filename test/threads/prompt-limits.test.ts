// What prompts may keep in memory and on disk: a hostile host sends as many and as large ones as it likes.

import { randomBytes } from 'node:crypto';
import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { inputOf, keptInput, loadPromptRecords } from '../../threads/prompts/prompt-record.ts';
import { askedBy } from '../support/asked.ts';
import { startMachine } from '../support/hook-process.ts';
import { startPromptPane } from '../support/prompt-pane.ts';
import { startPromptCourier } from '../support/prompt-setup.ts';
import { tempFolder, tempHome } from '../support/temp-home.ts';
import { startTestWorkspace } from '../support/workspace.ts';

describe('the input that a prompt keeps', () => {
  it('has the fields that we use, and nothing else', () => {
    const { input, tooLarge } = keptInput(askedBy({ junk: 'x'.repeat(2 ** 21) }));
    expect(tooLarge).toBe(false);
    expect(input).toMatchObject({ tool: 'Bash', input: askedBy().input });
    expect(input).not.toHaveProperty('junk');
  });

  it.each([
    ['of the tool', { tool_input: { command: 'x'.repeat(2 ** 20) } }],
    ['of the rules', { permission_suggestions: [{ type: 'addRules', directories: ['x'.repeat(2 ** 20)] }] }],
  ])('is left out if the input %s is too large', (_, more) => {
    const { input, tooLarge } = keptInput(askedBy(more));
    expect(tooLarge).toBe(true);
    expect(input).toMatchObject({ tool: 'Bash', input: {} });
    expect(input).not.toHaveProperty('suggestions');
  });
});

it('records above 4 MiB are not read', () => {
  const home = tempHome();
  const [small, large] = [1, 2 ** 23].map((size) => {
    const id = randomBytes(16).toString('hex');
    const record = { id, thread: '1', host: 'far', headless: false, input: { x: 'x'.repeat(size) }, at: 1 };
    writeFileSync(join(home.folder('prompts'), `${id}.json`), JSON.stringify(record));
    return id;
  });
  expect(loadPromptRecords(home).map(({ id }) => id)).toEqual([small]);
  expect(small).not.toBe(large);
});

it('at most 50 prompts of another host are open, and large ones can only be denied', async () => {
  const workspace = await startTestWorkspace();
  const sshConfig = join(tempFolder(), 'config');
  writeFileSync(sshConfig, 'Host far\n  ProxyCommand false\n');
  const machine = startMachine(workspace, { config: { hosts: { far: { ssh: 'far' } } } });
  Object.assign(machine.env, { THREADMUX_SSH_CONFIG: sshConfig });
  const pane = await startPromptPane(machine);
  const { prompts, shared, by } = await startPromptCourier(machine);
  const { TMUX: tmux, TMUX_PANE: id } = pane.env;
  // The session counts as one of the other host: nothing has to be asked there.
  shared.threads.registry.change(pane.thread, { host: 'far' });
  const ask = (more: object = {}) => {
    const letter = {
      ask: randomBytes(16).toString('hex'),
      tmux,
      pane: id,
      project: '',
      writtenAt: Date.now(),
      ...{ asker: 1, agent: 'claude' },
    };
    return prompts.open(letter, askedBy({ tool_input: { command: 'true' }, ...more }), 'far');
  };
  await ask({ junk: 'x'.repeat(2 ** 20), tool_input: { command: 'x'.repeat(2 ** 20) } });
  const [record] = loadPromptRecords(machine.home);
  expect(record && inputOf(record)?.input).toEqual({});
  const [name = ''] = readdirSync(machine.home.folder('prompts'));
  expect(statSync(join(machine.home.folder('prompts'), name)).size).toBeLessThan(10_000);
  const shown = (await workspace.person.messages(pane.thread)).find(({ content }) => content.includes('too large'));
  expect(JSON.stringify(shown?.components)).not.toContain(':allow');
  for (let more = 0; more < 52; more++) await ask();
  expect(prompts.inThread(pane.thread)).toHaveLength(50);

  const warnings: string[] = [];
  const warned = ({ name }: Error) => warnings.push(name);
  process.on('warning', warned);
  onTestFinished(() => void process.off('warning', warned));
  const waiting = loadPromptRecords(machine.home).slice(0, 12);
  const given = waiting.map(({ id, thread, message }, order) =>
    prompts.answer({
      ...{ prompt: id, on: { thread, message }, by, order: `${order}` },
      answer: { action: 'deny', values: [], text: '' },
    }),
  );
  expect(await Promise.all(given)).toEqual(waiting.map(() => 'waits'));
  await nextTurn(); // Node.js emits a warning in the next tick
  expect(warnings).toEqual([]); // each waits for the host and listens to the same signal
});

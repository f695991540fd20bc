// What prompts may keep in memory and on disk: a hostile host sends as many and as large ones as it likes.

import { randomBytes } from 'node:crypto';
import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { silentLog } from '../../core/log.ts';
import { type Host, localHost } from '../../hosts/host.ts';
import { createHookAnswers, withRemoteAnswers } from '../../threads/prompts/hand-answer-to-hook.ts';
import { openLookBudget } from '../../threads/prompts/look-budget.ts';
import { inputOf, keptInput, loadPromptRecords, sweepPrompts } from '../../threads/prompts/prompt-record.ts';
import { createPromptWatch } from '../../threads/prompts/watch-prompt.ts';
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
      asker: 1,
      agent: 'claude',
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
      prompt: id,
      on: { thread, message },
      by,
      order: `${order}`,
      answer: { action: 'deny', values: [], text: '' },
    }),
  );
  expect(await Promise.all(given)).toEqual(waiting.map(() => 'waits'));
  await nextTurn(); // Node.js emits a warning in the next tick
  expect(warnings).toEqual([]); // each waits for the host and listens to the same signal
});

describe('what the open prompts of a host cost', () => {
  const local = localHost({ name: 'far', env: process.env });
  const pane = { socket: '/nowhere', serverPid: 1, paneId: '%1', panePid: 2 };
  const newId = () => randomBytes(16).toString('hex');
  const hostsOf = (host: Host) => ({ get: () => host, isLocal: () => false }) as never;

  it('does not grow with their number: long transcripts are read one after the other, with pauses', async () => {
    const transcript = join(tempFolder(), 'transcript.jsonl');
    writeFileSync(transcript, `${JSON.stringify({ type: 'x', text: 'x'.repeat(1_000) })}\n`.repeat(4_000));
    let reads = 0;
    const host: Host = {
      ...local,
      async sh(script, args, options) {
        if (!script.includes('dd if=')) throw new Error('its screen cannot be seen');
        reads++;
        return local.sh(script, args, options);
      },
    };
    const watch = createPromptWatch(hostsOf(host), { get: () => undefined } as never, { lookMs: 100 });
    const answers = { ...createHookAnswers(tempHome()), isWaiting: () => true };
    const stops = Array.from({ length: 20 }, () => {
      const record = { id: newId(), thread: '1', host: 'far', headless: false, at: Date.now(), pane, agent: 'claude' };
      const input = askedBy({ transcript_path: transcript });
      return watch(record as never, input).follow(answers, () => {});
    });
    await sleep(4_000);
    for (const stop of stops) stop();
    // 4 MB are five reads, and take their second.
    expect(reads).toBeGreaterThan(0);
    expect(reads).toBeLessThan(30);
  });

  it('is that of four which are looked at regularly', () => {
    const budget = openLookBudget();
    const all = Array.from({ length: 20 }, () => budget.follow());
    const due = Array.from({ length: 10 }, () => all.filter((one) => one.isDue()).length);
    expect(due.reduce((sum, one) => sum + one, 0)).toBe(40);
    for (const one of all.slice(4)) one.stop();
    expect(Array.from({ length: 10 }, () => all.slice(0, 4).every((one) => one.isDue()))).toEqual(Array(10).fill(true));
  });

  it('is no process for each prompt that is refused', async () => {
    let calls = 0;
    const host: Host = {
      ...local,
      sh: () => {
        calls++;
        return new Promise(() => {});
      },
    };
    const parts = { hosts: hostsOf(host), remote: { home: async () => '/h' } as never, log: silentLog };
    const answers = withRemoteAnswers(createHookAnswers(tempHome()), parts);
    for (const id of Array.from({ length: 1_000 }, newId)) {
      answers.from(id, 'far', 1);
      answers.forget(id);
    }
    await nextTurn();
    expect(calls).toBe(100);
  });

  it('is a thousand records on the disk', () => {
    const home = tempHome();
    const ids = Array.from({ length: 1_010 }, newId);
    for (const id of ids) writeFileSync(join(home.folder('prompts'), `${id}.json`), '{}');
    const isOpen = (id: string) => ids.slice(0, 5).includes(id);
    sweepPrompts(home, isOpen, createHookAnswers(home), silentLog);
    const left = readdirSync(home.folder('prompts'));
    expect(left).toHaveLength(1_005);
    expect(left).toEqual(expect.arrayContaining(ids.slice(0, 5).map((id) => `${id}.json`)));
  });
});

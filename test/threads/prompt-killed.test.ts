// `ask` and the courier or bridge that serves it are killed at every step of a prompt: nothing is decided without a user,
// and the message in the thread never claims what did not happen.

import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { loadPromptRecords } from '../../threads/prompts/prompt-record.ts';
import { type Machine, messagesIn, startMachine } from '../support/hook-process.ts';
import {
  buttonsOf,
  decisionIn,
  messageNow,
  promptIn,
  startHook,
  startPromptPane,
  verdictOf,
} from '../support/prompt-pane.ts';
import { type PromptCourierOptions, startPromptCourier } from '../support/prompt-setup.ts';
import { tempFolder } from '../support/temp-home.ts';
import { startTestWorkspace, type TestWorkspace, type WireMessage } from '../support/workspace.ts';

const WAIT = { timeout: 20_000, interval: 50 };
const NOT_DELIVERED = '⚠️ Your answer did not reach the agent. Answer in the terminal.';
const ABANDONED = /^⚠️ The agent still asks, .*Answer in the terminal\.$/;
const LOOK = ['Screen'];

async function start() {
  const workspace = await startTestWorkspace();
  const machine = startMachine(workspace);
  const pane = await startPromptPane(machine);
  await pane.show('dialog-permission-bash');
  const begin = (times: PromptCourierOptions = {}) => startPromptCourier(machine, { checkAfterMs: 500, ...times });
  return { workspace, machine, pane, begin };
}

async function lastLine(workspace: TestWorkspace, message: WireMessage) {
  const now = await messageNow(workspace, message);
  const labels = buttonsOf(now).map(({ label }) => label);
  return { line: now.content.split('\n').at(-1), labels };
}

const answersIn = ({ home }: Machine) => readdirSync(home.folder('answers'));

/** Tools with a `cat` that never prints an answer. */
function stuckCat(machine: Machine): string {
  const folder = tempFolder();
  for (const tool of readdirSync(machine.pathWithoutNode))
    if (tool !== 'cat') symlinkSync(join(machine.pathWithoutNode, tool), join(folder, tool));
  const script = '#!/bin/sh\ncase $1 in *.taken) exec sleep 600 ;; esac\nexec /bin/cat "$@"\n';
  writeFileSync(join(folder, 'cat'), script, { mode: 0o755 });
  return folder;
}

describe('when ask is killed', () => {
  it('at any moment before its letter, nobody is asked for long, and nothing is decided', async () => {
    const { machine, pane, begin } = await start();
    const courier = await begin();
    for (const afterMs of [0, 3, 6, 10, 20, 40, 80]) {
      const hook = startHook(machine, pane, pane.input('Bash'));
      await sleep(afterMs);
      hook.child.kill('SIGKILL');
      expect(await hook.printed).toBe('');
    }
    await vi.waitFor(() => {
      expect(machine.letters()).toEqual([]);
      expect(courier.open()).toEqual([]);
    }, WAIT);
  });

  it('after its letter and before the post, no prompt appears', async () => {
    const { workspace, machine, pane, begin } = await start();
    const first = await begin();
    await first.stop();
    const hook = startHook(machine, pane, pane.input('Bash'), { PATH: machine.pathWithoutNode });
    await vi.waitFor(() => expect(machine.letters()).toHaveLength(1), WAIT);
    hook.child.kill('SIGKILL');
    expect(await hook.printed).toBe('');
    const courier = await begin();
    await vi.waitFor(() => expect(machine.letters()).toEqual([]), WAIT);
    const said = await messagesIn(workspace, '[agent] web');
    expect(said.flatMap(({ components }) => components)).toEqual([]);
    expect(courier.prompts.isBusy()).toBe(false);
  });

  it('while it waits, the message says where to answer, and shows the screen', async () => {
    const { workspace, machine, pane, begin } = await start();
    const courier = await begin();
    const hook = startHook(machine, pane, pane.input('Bash'));
    const message = await promptIn(workspace, pane.thread);
    hook.child.kill('SIGKILL');
    await vi.waitFor(async () => {
      const { line, labels } = await lastLine(workspace, message);
      expect(line).toMatch(ABANDONED);
      expect(labels).toEqual(LOOK);
    }, WAIT);
    await vi.waitFor(() => expect(courier.prompts.isBusy()).toBe(false), WAIT);
    expect(answersIn(machine)).toEqual([]);
  });

  it('while it waits, by an agent that closed its dialog, the prompt stays cancelled', async () => {
    const { workspace, machine, pane, begin } = await start();
    const courier = await begin();
    await pane.show('view-transcript'); // a screen without information
    const hook = startHook(machine, pane, pane.input('Bash'));
    const message = await promptIn(workspace, pane.thread);
    hook.child.kill('SIGKILL');
    expect(await verdictOf(workspace, message)).toBe('⏹️ Cancelled in the terminal.');
    await vi.waitFor(() => expect(courier.prompts.isBusy()).toBe(false), WAIT);
    expect(await verdictOf(workspace, message)).toBe('⏹️ Cancelled in the terminal.');
  });

  it.each([
    ['and the dialog is still open, the message does not claim the answer', true],
    ['and the dialog is gone, the message keeps the answer', false],
  ])('after it took the answer, %s', async (_, stays) => {
    const { workspace, machine, pane, begin } = await start();
    const courier = await begin();
    const hook = startHook(machine, pane, pane.input('Bash'), { PATH: stuckCat(machine) });
    const message = await promptIn(workspace, pane.thread);
    await vi.waitFor(() => expect(courier.open()[0]?.message).toBe(message.id), WAIT);
    expect(await courier.answer(message, 'allow')).toBe('taken');
    hook.child.kill('SIGKILL');
    if (!stays) await pane.show('busy-status-line');
    expect(await verdictOf(workspace, message)).toBe('✅ **Allowed** — someone');
    await vi.waitFor(() => expect(courier.prompts.isBusy()).toBe(false), WAIT);
    const { line, labels } = await lastLine(workspace, message);
    expect(line).toBe(stays ? NOT_DELIVERED : '✅ **Allowed** — someone');
    expect(labels).toEqual(stays ? LOOK : []);
    expect(answersIn(machine)).toEqual([]);
  });

  it('after it took the answer, together with the bridge, the thread says so after the restart', async () => {
    const { workspace, machine, pane, begin } = await start();
    const first = await begin({ checkAfterMs: 60_000 });
    const hook = startHook(machine, pane, pane.input('Bash'), { PATH: stuckCat(machine) });
    const message = await promptIn(workspace, pane.thread);
    await vi.waitFor(() => expect(first.open()[0]?.message).toBe(message.id), WAIT);
    expect(await first.answer(message, 'allow')).toBe('taken');
    hook.child.kill('SIGKILL');
    await first.stop();
    await begin();
    await vi.waitFor(async () => expect((await lastLine(workspace, message)).line).toBe(NOT_DELIVERED), WAIT);
  });

  it('too late, and the agent asks the same again, the first answer is not reported as lost', async () => {
    const { workspace, machine, pane, begin } = await start();
    const courier = await begin();
    const hook = startHook(machine, pane, pane.input('Bash'));
    const message = await promptIn(workspace, pane.thread);
    await vi.waitFor(() => expect(courier.open()[0]?.message).toBe(message.id), WAIT);
    await courier.answer(message, 'allow');
    expect(decisionIn(await hook.printed)).toEqual({ behavior: 'allow' });
    pane.result();
    await verdictOf(workspace, message);
    startHook(machine, pane, pane.input('Bash'));
    await vi.waitFor(() => expect(courier.open()).toHaveLength(1), WAIT);
    const [{ id = '' } = {}] = loadPromptRecords(machine.home).filter((one) => one.ended);
    await vi.waitFor(
      () => expect(loadPromptRecords(machine.home).find((one) => one.id === id)?.shown).toBe(true),
      WAIT,
    );
    expect(await verdictOf(workspace, message)).toBe('✅ **Allowed** — someone');
  });
});

describe('when the courier is killed', () => {
  it('while a prompt is open, the next one answers it in the same message', async () => {
    const { workspace, machine, pane, begin } = await start();
    const killed = machine.courier();
    await vi.waitFor(() => expect(machine.courierPid()).toBe(killed.pid), WAIT);
    const hook = startHook(machine, pane, pane.input('Bash'));
    const message = await promptIn(workspace, pane.thread);
    await killed.kill();
    const courier = await begin();
    await vi.waitFor(() => expect(courier.open()[0]?.message).toBe(message.id), WAIT);
    expect(await courier.answer(message, 'deny')).toBe('taken');
    expect(decisionIn(await hook.printed).behavior).toBe('deny');
    const cards = (await messagesIn(workspace, '[agent] web')).filter(({ content }) =>
      content.includes('wants to use'),
    );
    expect(cards).toHaveLength(1);
  });
});

describe('files that a prompt left on the disk', () => {
  it('are removed when they are old, but never while a hook waits', async () => {
    const { workspace, machine, pane, begin } = await start();
    const { home } = machine;
    const old = (folder: 'answers' | 'prompts', name: string) => {
      const path = join(home.folder(folder), name);
      if (!existsSync(path) && name.endsWith('.bell')) execFileSync('mkfifo', [path]);
      if (!existsSync(path)) writeFileSync(path, '{}');
      utimesSync(path, 1, 1);
    };
    const id = 'a'.repeat(32);
    const courier = await begin({ sweepMs: 200 });
    const hook = startHook(machine, pane, pane.input('Bash'));
    await promptIn(workspace, pane.thread);
    const bell = answersIn(machine).find((name) => name.endsWith('.bell')) ?? '';
    old('answers', bell);
    for (const suffix of ['', '.bell', '.taken']) old('answers', `${id}${suffix}`);
    old('prompts', `${id}.json`);
    writeFileSync(join(home.folder('answers'), `${'b'.repeat(32)}.taken`), '');
    await vi.waitFor(() => {
      expect(answersIn(machine).toSorted()).toEqual([bell, `${'b'.repeat(32)}.taken`].toSorted());
      expect(existsSync(home.path('prompts', `${id}.json`))).toBe(false);
    }, WAIT);
    expect(courier.open()).toHaveLength(1);
    expect(hook.hasEnded()).toBe(false);
  });
});

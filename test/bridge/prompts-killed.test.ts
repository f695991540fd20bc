// The whole program, or the courier that runs without it, is killed with SIGKILL at every step of a prompt, and the next
// process continues: there is one card, the hook gets one decision, and nothing is typed.

import { existsSync } from 'node:fs';
import { describe, expect, it, vi } from 'vitest';
import { loadPromptRecords } from '../../threads/prompts/prompt-record.ts';
import type { Faults } from '../support/as-discord.mjs';
import { type Courier, messagesIn, startMachine } from '../support/hook-process.ts';
import { buttonOf, decisionIn, promptIn, startHook, startPromptPane, verdictOf } from '../support/prompt-pane.ts';
import { startTestWorkspace, type TestWorkspace } from '../support/workspace.ts';
import { screenOf, WAIT } from './bridge-setup.ts';
import { startKillable } from './killed-program.ts';

const cardsIn = async (workspace: TestWorkspace, about: string) =>
  (await messagesIn(workspace, '[agent] web')).filter(({ content }) => content.includes(about));

async function startBridge() {
  const program = await startKillable();
  const { machine } = program;
  const report = (env: Parameters<typeof machine.write>[0], input: object) => machine.write(env, input);
  const pane = await startPromptPane(machine, 'web', { report });
  await pane.show('dialog-permission-bash');
  return { ...program, pane };
}

/** Each asks for another command, so that its card is recognised. */
function ask({ machine, pane }: Awaited<ReturnType<typeof startBridge>>, command: string) {
  const input = pane.input('Bash', { tool_input: { command, description: 'build' } });
  return startHook(machine, pane, input);
}

describe('threadmux up, killed', { timeout: 300_000 }, () => {
  it('before or after it posts a prompt, posts one card, and a tap decides', async () => {
    const program = await startBridge();
    const { workspace, up, again, killAtRequest, pane, machine } = program;
    const before = screenOf(machine, 'web');
    for (const when of ['before', 'after'] as const) {
      killAtRequest('POST', '/messages', when);
      const hook = ask(program, `make ${when}`);
      await up().ended;
      await again();
      const message = await promptIn(workspace, pane.thread, new RegExp(`make ${when}`));
      await vi.waitFor(() => expect(loadPromptRecords(machine.home).some((one) => one.message === message.id)), WAIT);
      await workspace.person.tap(pane.thread, message.id, buttonOf(message, 'Allow'));
      expect(decisionIn(await hook.printed)).toEqual({ behavior: 'allow' });
      expect(await verdictOf(workspace, message)).toContain('Allowed');
      expect(await cardsIn(workspace, `make ${when}`)).toHaveLength(1);
    }
    expect(screenOf(machine, 'web')).toBe(before);
  });

  it.each([
    ['before it answers the tap', 'POST', '/callback', 'before'],
    ['after it answered the tap', 'POST', '/callback', 'after'],
    ['before it shows the decision', 'PATCH', '/messages/', 'before'],
    ['after it showed the decision', 'PATCH', '/messages/', 'after'],
    ['when the decision is saved', 'file', 'prompts', 'after'],
    ['when the answer is written', 'file', 'answers', 'after'],
  ] as const)('%s, the hook gets one decision and the card shows it', async (step, method, part, when) => {
    const program = await startBridge();
    const { workspace, up, again, killAtRequest, killAtChange, pane, machine } = program;
    const before = screenOf(machine, 'web');
    const hook = ask(program, `make ${step}`);
    const message = await promptIn(workspace, pane.thread, new RegExp(`make ${step}`));
    await vi.waitFor(() => expect(loadPromptRecords(machine.home)[0]?.message).toBe(message.id), WAIT);
    const id = loadPromptRecords(machine.home)[0]?.id ?? '';
    if (method !== 'file') killAtRequest(method, part, when);
    else if (part === 'answers') killAtChange(machine.home.folder('answers'), () => isAnswered(machine.home.root, id));
    else killAtChange(machine.home.folder('prompts'), () => loadPromptRecords(machine.home)[0]?.ended !== undefined);
    const deny = buttonOf(message, 'Deny');
    await workspace.person.tap(pane.thread, message.id, deny);
    await up().ended;
    await again();
    // A tap that was lost with the process is repeated by the user; one that was taken is over.
    await vi.waitFor(async () => {
      if (!hook.hasEnded() && loadPromptRecords(machine.home)[0]?.ended === undefined)
        await workspace.person.tap(pane.thread, message.id, deny).catch(() => {});
      expect(hook.hasEnded()).toBe(true);
    }, WAIT);
    expect(decisionIn(await hook.printed).behavior).toBe('deny');
    expect(await verdictOf(workspace, message)).toContain('Denied');
    expect(await cardsIn(workspace, `make ${step}`)).toHaveLength(1);
    expect(screenOf(machine, 'web')).toBe(before);
  });
});

it('killed while the hook has not taken its answer, threadmux up knows the decision after its restart', async () => {
  const program = await startBridge();
  const { workspace, up, again, killAtChange, pane, machine } = program;
  const hook = ask(program, 'make slowly');
  const message = await promptIn(workspace, pane.thread, /make slowly/);
  await vi.waitFor(() => expect(loadPromptRecords(machine.home)[0]?.message).toBe(message.id), WAIT);
  const id = loadPromptRecords(machine.home)[0]?.id ?? '';
  hook.child.kill('SIGSTOP');
  killAtChange(machine.home.folder('answers'), () => isAnswered(machine.home.root, id));
  await workspace.person.tap(pane.thread, message.id, buttonOf(message, 'Deny'));
  await up().ended;
  expect(loadPromptRecords(machine.home)[0]?.ended).toMatchObject({ kind: 'decided' });
  hook.child.kill('SIGCONT');
  await again();
  expect(decisionIn(await hook.printed).behavior).toBe('deny');
  expect(await verdictOf(workspace, message)).toContain('Denied');
});

function isAnswered(root: string, id: string): boolean {
  return existsSync(`${root}/answers/${id}`) || existsSync(`${root}/answers/${id}.taken`);
}

describe('a courier without a bridge, killed', { timeout: 120_000 }, () => {
  async function startCourier() {
    let trap: { method: string; when: 'before' | 'after' } | undefined;
    let victim: Courier | undefined;
    const onRequest: Faults['onRequest'] = ({ method, path }) => {
      const set = trap;
      if (set === undefined || method !== set.method || !path.includes('/messages')) return undefined;
      trap = undefined;
      victim?.child.kill('SIGKILL');
      return { kind: set.when === 'before' ? 'reset' : 'apply-then-reset' };
    };
    const workspace = await startTestWorkspace({ faults: { onRequest } });
    const machine = startMachine(workspace);
    const pane = await startPromptPane(machine);
    await pane.show('dialog-permission-bash');
    const begin = async () => {
      victim = machine.courier();
      const { pid } = victim;
      await vi.waitFor(() => expect(machine.courierPid()).toBe(pid), WAIT);
      return victim;
    };
    const killAt = (to: NonNullable<typeof trap>) => {
      trap = to;
    };
    return { workspace, machine, pane, begin, killAt };
  }

  it.each(['before', 'after'] as const)('%s it posts a prompt, leaves one card that is closed once', async (when) => {
    const { workspace, machine, pane, begin, killAt } = await startCourier();
    const first = await begin();
    killAt({ method: 'POST', when });
    const hook = startHook(machine, pane, pane.input('Bash'));
    await first.ended;
    await begin();
    const message = await promptIn(workspace, pane.thread);
    await pane.show('busy-status-line');
    expect(await hook.printed).toBe('');
    expect(await verdictOf(workspace, message)).toContain('in the terminal');
    expect(await cardsIn(workspace, 'wants to use')).toHaveLength(1);
  });

  it.each(['before', 'after'] as const)('%s it shows that the terminal was faster, shows it once', async (when) => {
    const { workspace, machine, pane, begin, killAt } = await startCourier();
    const first = await begin();
    const hook = startHook(machine, pane, pane.input('Bash'));
    const message = await promptIn(workspace, pane.thread);
    await vi.waitFor(() => expect(loadPromptRecords(machine.home)[0]?.message).toBe(message.id), WAIT);
    killAt({ method: 'PATCH', when });
    await pane.show('busy-status-line');
    await first.ended;
    await begin();
    expect(await hook.printed).toBe('');
    expect(await verdictOf(workspace, message)).toContain('in the terminal');
    expect(await cardsIn(workspace, 'wants to use')).toHaveLength(1);
  });
});

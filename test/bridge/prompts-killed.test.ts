// The whole program, or the courier that runs without it, is killed with SIGKILL at every step of a prompt, and the next
// process continues: there is one card, the hook gets one decision, and nothing is typed.

import { existsSync } from 'node:fs';
import { describe, expect, it, vi } from 'vitest';
import { loadPromptRecords } from '../../threads/prompts/prompt-record.ts';
import type { Faults } from '../support/as-discord.mjs';
import { type Courier, type Machine, messagesIn, startMachine } from '../support/hook-process.ts';
import { buttonOf, decisionIn, promptIn, startHook, startPromptPane, verdictOf } from '../support/prompt-pane.ts';
import { startTestWorkspace, type TestWorkspace, type WireMessage } from '../support/workspace.ts';
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
function ask({ machine, pane }: Pick<Awaited<ReturnType<typeof startBridge>>, 'machine' | 'pane'>, command: string) {
  const input = pane.input('Bash', { tool_input: { command, description: 'build' } });
  return startHook(machine, pane, input);
}

/** The record of the prompt in this message. */
const recordOf = ({ home }: Machine, message: WireMessage) =>
  loadPromptRecords(home).find((one) => one.message === message.id);

it('threadmux up, killed at a step of a prompt, posts one card, and the hook gets one decision that the card shows', {
  timeout: 600_000,
}, async () => {
  const program = await startBridge();
  const { workspace, up, again, killAtRequest, killAtChange, pane, machine } = program;
  const before = screenOf(machine, 'web');
  for (const when of ['before', 'after'] as const) {
    killAtRequest('POST', '/messages', when);
    const hook = ask(program, `make ${when}`);
    await up().ended;
    await again();
    const message = await promptIn(workspace, pane.thread, new RegExp(`make ${when}`));
    await vi.waitFor(() => expect(recordOf(machine, message)).toBeDefined(), WAIT);
    // A tap before the program is connected again is lost, and repeated by the user.
    await vi.waitFor(async () => {
      if (recordOf(machine, message)?.ended === undefined)
        await workspace.person.tap(pane.thread, message.id, buttonOf(message, 'Allow')).catch(() => {});
      expect(hook.hasEnded()).toBe(true);
    }, WAIT);
    expect(decisionIn(await hook.printed)).toEqual({ behavior: 'allow' });
    expect(await verdictOf(workspace, message)).toContain('Allowed');
    expect(await cardsIn(workspace, `make ${when}`)).toHaveLength(1);
  }

  for (const [step, method, part, when] of [
    ['before it answers the tap', 'POST', '/callback', 'before'],
    ['after it answered the tap', 'POST', '/callback', 'after'],
    ['before it shows the decision', 'PATCH', '/messages/', 'before'],
    ['after it showed the decision', 'PATCH', '/messages/', 'after'],
    ['when the decision is saved', 'file', 'prompts', 'after'],
    ['when the answer is written', 'file', 'answers', 'after'],
    ['while the hook has not taken its answer', 'file', 'answers', 'after'],
  ] as const) {
    const hook = ask(program, `make ${step}`);
    const message = await promptIn(workspace, pane.thread, new RegExp(`make ${step}`));
    await vi.waitFor(() => expect(recordOf(machine, message)).toBeDefined(), WAIT);
    const id = recordOf(machine, message)?.id ?? '';
    const isEnded = () => recordOf(machine, message)?.ended !== undefined;
    const isStuck = step.startsWith('while the hook');
    if (isStuck) hook.child.kill('SIGSTOP');
    if (method !== 'file') killAtRequest(method, part, when);
    else if (part === 'answers') killAtChange(machine.home.folder('answers'), () => isAnswered(machine.home.root, id));
    else killAtChange(machine.home.folder('prompts'), isEnded);
    const deny = buttonOf(message, 'Deny');
    await workspace.person.tap(pane.thread, message.id, deny);
    await up().ended;
    if (isStuck) {
      expect(recordOf(machine, message)?.ended).toMatchObject({ kind: 'decided' });
      hook.child.kill('SIGCONT');
    }
    await again();
    // A tap that was lost with the process is repeated by the user; one that was taken is over.
    await vi.waitFor(async () => {
      if (!isStuck && !hook.hasEnded() && !isEnded())
        await workspace.person.tap(pane.thread, message.id, deny).catch(() => {});
      expect(hook.hasEnded()).toBe(true);
    }, WAIT);
    expect(decisionIn(await hook.printed).behavior, step).toBe('deny');
    expect(await verdictOf(workspace, message), step).toContain('Denied');
    expect(await cardsIn(workspace, `make ${step}`)).toHaveLength(1);
  }
  expect(screenOf(machine, 'web')).toBe(before);
});

function isAnswered(root: string, id: string): boolean {
  return existsSync(`${root}/answers/${id}`) || existsSync(`${root}/answers/${id}.taken`);
}

describe('a courier without a bridge, killed', () => {
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

  it('before or after it posts a prompt or shows that the terminal was faster, leaves one card that is closed once', async () => {
    const { workspace, machine, pane, begin, killAt } = await startCourier();
    let first = await begin();
    for (const method of ['POST', 'PATCH'])
      for (const when of ['before', 'after'] as const) {
        const about = `make ${method} ${when}`;
        await pane.show('dialog-permission-bash');
        if (method === 'POST') killAt({ method, when });
        const hook = ask({ machine, pane }, about);
        if (method === 'PATCH') {
          const shown = await promptIn(workspace, pane.thread, new RegExp(about));
          await vi.waitFor(() => expect(recordOf(machine, shown)).toBeDefined(), WAIT);
          killAt({ method, when });
          await pane.show('busy-status-line');
        }
        await first.ended;
        const [posted] = await cardsIn(workspace, about);
        first = await begin();
        const message = posted ?? (await promptIn(workspace, pane.thread, new RegExp(about)));
        await pane.show('busy-status-line');
        expect(await hook.printed).toBe('');
        expect(await verdictOf(workspace, message), about).toContain('in the terminal');
        expect(await cardsIn(workspace, about)).toHaveLength(1);
      }
    await first.kill();
  });
});

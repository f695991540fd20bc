// Prompts of a host without Node.js: the hook waits on the host, and is answered from the thread.

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { shareAmongTests } from '../support/at-end.ts';
import {
  buttonOf,
  decisionIn,
  type HookProcess,
  type PromptPane,
  promptIn,
  untilTextCounts,
  verdictOf,
} from '../support/prompt-pane.ts';
import type { WireMessage } from '../support/workspace.ts';
import { aWhile, WAIT } from './bridge-setup.ts';
import { type Far, farHook, farPromptPane, startFar } from './remote-host.ts';

interface Asked {
  readonly far: Far;
  readonly pane: PromptPane;
  readonly hook: HookProcess;
  readonly message: WireMessage;
}

async function ask(far: Far, pane: PromptPane, name = 'Bash', screen = 'dialog-permission-bash'): Promise<Asked> {
  await pane.show(screen);
  const hook = farHook(far, pane, pane.input(name));
  return { far, pane, hook, message: await promptIn(far.workspace, pane.thread) };
}

/** One host for most tests, with a session for each. */
const shared = shareAmongTests(() => startFar());
let sessions = 0;
const paneOn = (far: Far) => farPromptPane(far, far, `web-${++sessions}`);

async function start(name?: string, screen?: string): Promise<Asked> {
  return ask(shared(), await paneOn(shared()), name, screen);
}

/** Where the connection is cut, no file of another test may wait to be removed. */
async function startAlone(): Promise<Asked> {
  const far = await startFar();
  return ask(far, await paneOn(far));
}

const tap = ({ far, message }: Pick<Asked, 'far' | 'message'>, label: string) =>
  far.workspace.person.tap(message.channel_id, message.id, buttonOf(message, label));

/** No file of a prompt stays in our home on the host. */
const untilCleared = ({ far }: Asked) =>
  vi.waitFor(() => expect(readdirSync(join(far.ours, 'answers'))).toEqual([]), WAIT);

describe('a prompt on a host', () => {
  it('is allowed by a tap', async () => {
    const asked = await start();
    await tap(asked, 'Allow');
    expect(decisionIn(await asked.hook.printed)).toEqual({ behavior: 'allow' });
    await asked.pane.show('busy-status-line');
    expect(await verdictOf(asked.far.workspace, asked.message)).toBe('✅ **Allowed** — you');
    await untilCleared(asked);
  });

  it('comes after what Claude wrote before it, which the transcript there gets a moment later', async () => {
    const far = shared();
    const pane = await paneOn(far);
    await pane.show('dialog-question');
    farHook(far, pane, pane.input('AskUserQuestion', {}, { text: 'This is why I ask.', afterMs: 300 }));
    const prompt = await promptIn(far.workspace, pane.thread);
    const messages = (await far.workspace.person.messages(pane.thread)).toReversed();
    const at = messages.findIndex(({ id }) => id === prompt.id);
    expect(messages[at - 1]?.content).toBe('This is why I ask.');
    await tap({ far, message: prompt }, '1. ');
    await verdictOf(far.workspace, prompt);
  });

  it('is denied by a text', async () => {
    const asked = await start();
    const said = await asked.far.say(asked.pane.thread, 'no, use a temp dir');
    expect(decisionIn(await asked.hook.printed)).toEqual({ behavior: 'deny', message: 'no, use a temp dir' });
    await asked.far.untilMarked(said, '✅');
    expect(await verdictOf(asked.far.workspace, asked.message)).toMatch(/^⛔ \*\*Denied\*\*/);
  });

  it('is closed by an answer in the terminal, and the hook exits silently', async () => {
    const asked = await start();
    await aWhile(1_500); // the courier has looked at the dialog
    await asked.pane.show('busy-status-line');
    asked.pane.result();
    expect(await verdictOf(asked.far.workspace, asked.message)).toMatch(/terminal/);
    expect(await asked.hook.printed).toBe('');
    await untilCleared(asked);
  });

  it('whose hook was killed loses its buttons, and the thread says so', async () => {
    const asked = await start();
    asked.hook.child.kill('SIGKILL');
    const told = await asked.far.answer(asked.pane.thread, /Answer in the terminal\.$/);
    expect(told.id).toBe(asked.message.id);
    expect(JSON.stringify(told.components)).not.toContain('"p:');
    await untilCleared(asked);
  });

  it('is a question that is answered by a tap', async () => {
    const asked = await start('AskUserQuestion', 'dialog-question');
    await tap(asked, '2. ');
    const { updatedInput } = decisionIn(await asked.hook.printed);
    expect(Object.values(updatedInput.answers)).toHaveLength(1);
  });
});

describe('a decision that waits for an unreachable host', () => {
  async function waiting() {
    let server: { allow: readonly string[] } | undefined;
    const far = await startFar({
      servers: (own) => {
        server = own;
        return [own];
      },
    });
    const asked = await ask(far, await farPromptPane(far, far));
    const listed = server?.allow ?? [];
    await far.ssh.stop();
    const allow = (now: readonly string[]) => void Object.assign(server ?? {}, { allow: now }); // as a change of config.json does
    return { ...asked, remove: () => allow(['424242424242424242']), add: () => allow(listed) };
  }
  const isOpen = async ({ far, message }: Asked) => {
    const now = (await far.workspace.person.messages(message.channel_id)).find(({ id }) => id === message.id);
    expect(JSON.stringify(now?.components)).toContain('"p:');
  };

  it.each([
    ['a tap', (asked: Asked) => tap(asked, 'Allow')],
    ['a text', ({ far, pane, message }: Asked) => untilTextCounts(message).then(() => far.say(pane.thread, 'yes'))],
  ])('is not given by %s, if the person was removed from the list meanwhile; others can decide', async (_, decide) => {
    const asked = await waiting();
    const said = await decide(asked);
    await vi.waitFor(() => expect(asked.far.log.join('\n')).toContain('an answer waits'), WAIT);
    asked.remove();
    await asked.far.ssh.start();
    await vi.waitFor(() => expect(asked.far.shared.prompts.isAnswered(asked.pane.thread)).toBe(false), WAIT);
    // Until then, the text may still be tried again.
    if (typeof said !== 'string') await asked.far.untilMarked(said, '⚠️');
    await aWhile(1_500);
    expect(asked.hook.child.exitCode).toBeNull();
    await isOpen(asked);
    asked.add();
    await tap(asked, 'Deny');
    expect(decisionIn(await asked.hook.printed)).toMatchObject({ behavior: 'deny' });
  });

  it('is not given after a restart either', async () => {
    const asked = await waiting();
    await tap(asked, 'Allow');
    await vi.waitFor(() => expect(asked.far.log.join('\n')).toContain('an answer waits'), WAIT);
    await asked.far.stop();
    asked.remove();
    await asked.far.ssh.start();
    await asked.far.restart();
    await aWhile(1_500);
    expect(asked.hook.child.exitCode).toBeNull();
    asked.add();
    await tap(asked, 'Deny');
    expect(decisionIn(await asked.hook.printed)).toMatchObject({ behavior: 'deny' });
  });
});

describe('a plan on a host', () => {
  it.each([
    ['approved', 'Approve', 'allow'],
    ['rejected with feedback', 'smaller steps, please', 'deny'],
  ])('is shown and %s', async (_, answer, behavior) => {
    const asked = await start('ExitPlanMode', 'dialog-plan');
    const { plan = '' } = asked.pane.input('ExitPlanMode').tool_input as { plan?: string };
    expect(plan).not.toBe('');
    expect(asked.message.content).toContain(plan.split('\n').at(-1));
    if (behavior === 'allow') await tap(asked, answer);
    else await asked.far.say(asked.pane.thread, answer);
    const decision = decisionIn(await asked.hook.printed);
    expect(decision.behavior).toBe(behavior);
    if (behavior === 'deny') expect(decision.message).toContain(answer);
  });
});

describe('a prompt on a host that is unreachable', () => {
  it.each([
    ['tap', (asked: Asked) => tap(asked, 'Allow'), 'allow'],
    ['text', ({ far, pane }: Asked) => far.say(pane.thread, 'Not like this'), 'deny'],
  ] as const)('keeps the answer of a %s until the host is back', async (_, answer, behavior) => {
    const asked = await startAlone();
    const { far, hook, message } = asked;
    await aWhile(1_500);
    await far.ssh.stop();
    const said = await answer(asked);
    await aWhile(2_000);
    expect(hook.hasEnded()).toBe(false);
    await far.ssh.start();
    expect(decisionIn(await hook.printed).behavior).toBe(behavior);
    await asked.pane.show('busy-status-line');
    expect(await verdictOf(far.workspace, message)).toMatch(/Allowed|Denied/);
    if (typeof said !== 'string') await far.untilMarked(said, '✅');
    await untilCleared(asked);
  });

  it('gets an answer that was decided before the bridge restarted', async () => {
    const asked = await startAlone();
    const { far, hook, message } = asked;
    await aWhile(1_500);
    await far.ssh.stop();
    await tap(asked, 'Allow');
    await aWhile(1_000);
    await far.restart();
    await aWhile(1_500);
    expect(hook.hasEnded()).toBe(false);
    await far.ssh.start();
    expect(decisionIn(await hook.printed).behavior).toBe('allow');
    await asked.pane.show('busy-status-line');
    expect(await verdictOf(far.workspace, message)).toMatch(/Allowed/);
  });

  it('is posted once when the host is back', async () => {
    const far = await startFar();
    const pane = await paneOn(far);
    await far.ssh.stop();
    await pane.show('dialog-permission-bash');
    const hook = farHook(far, pane, pane.input('Bash'));
    await aWhile(1_500);
    await far.ssh.start();
    const asked = { far, pane, hook, message: await promptIn(far.workspace, pane.thread) };
    await tap(asked, 'Allow');
    expect(decisionIn(await hook.printed).behavior).toBe('allow');
    const all = await far.answers(pane.thread);
    expect(all.filter(({ content }) => content.includes('curl'))).toHaveLength(1);
  });
});

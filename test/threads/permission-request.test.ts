// The hook that waits beside the dialog, as a real process, with a real pane that shows recorded screens.

import { chmodSync, readdirSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { answersValue } from '../../core/prompt.ts';
import { openCourierContexts } from '../../hooks/courier-context.ts';
import { postLetter } from '../../hooks/post-letter.ts';
import { LOOK_MS, patienceMs } from '../../threads/prompts/watch-prompt.ts';
import { letterOf } from '../support/courier-setup.ts';
import { fixture, type Machine, messagesIn, startMachine } from '../support/hook-process.ts';
import {
  decisionIn,
  messageNow,
  type PromptPane,
  promptIn,
  startHook,
  startPromptPane,
  verdictOf,
} from '../support/prompt-pane.ts';
import { type PromptCourier, type PromptCourierOptions, startPromptCourier } from '../support/prompt-setup.ts';
import { startTestWorkspace, type TestWorkspace, type WireMessage } from '../support/workspace.ts';

const IN_TERMINAL = '🖥️ Answered in the terminal.';
const EXITED = '⏹️ Claude has exited.';
const CALLED_OFF = '⏹️ Cancelled in the terminal.';

interface Options extends PromptCourierOptions {
  readonly faults?: object;
  readonly inShell?: boolean;
  readonly config?: Readonly<Record<string, unknown>>;
}

interface Parts {
  readonly workspace: TestWorkspace;
  readonly machine: Machine;
  readonly pane: PromptPane;
  readonly courier: PromptCourier;
}

async function start({ faults = {}, inShell, config, ...times }: Options = {}): Promise<Parts> {
  const workspace = await startTestWorkspace({ faults });
  const machine = startMachine(workspace, config === undefined ? {} : { config });
  const pane = await startPromptPane(machine, 'web', inShell ? { inShell } : {});
  return { workspace, machine, pane, courier: await startPromptCourier(machine, times) };
}

/** Starts the hook beside a dialog, and waits until its prompt is in the thread. */
async function ask({ workspace, machine, pane, courier }: Parts, name = 'Bash', screen = 'dialog-permission-bash') {
  await pane.show(screen);
  const hook = startHook(machine, pane, pane.input(name));
  const message = await promptIn(workspace, pane.thread);
  await vi.waitFor(() => expect(courier.open()).toMatchObject([{ message: message.id }]));
  return { hook, message };
}

const silent = async (hook: ReturnType<typeof startHook>) => {
  expect(await hook.printed).toBe('');
  expect(await hook.ended).toBe(0);
};

describe('the hook beside a dialog', () => {
  it('prints the decision from the thread, closes its pipes at once, and then shows who decided', async () => {
    const parts = await start({
      faults: {
        onRequest: ({ method }: { method: string }) => (method === 'PATCH' ? { kind: 'delay', ms: 4_000 } : undefined),
      },
    });
    const { hook, message } = await ask(parts);
    expect(await parts.courier.answer(message, 'allow')).toBe('taken');
    expect(decisionIn(await hook.printed)).toEqual({ behavior: 'allow' });
    expect(await hook.ended).toBe(0);
    expect((await messageNow(parts.workspace, message)).components).not.toEqual([]); // the hook did not wait for the edit
    expect(await verdictOf(parts.workspace, message)).toBe('✅ **Allowed** — someone');
    expect(parts.courier.open()).toEqual([]);
    expect((await messageNow(parts.workspace, message)).content).not.toContain('-# ');
  });

  it('exits within two seconds when the screen shows an answer in the terminal, and says so', async () => {
    expect(2 * LOOK_MS).toBeLessThan(2_000);
    const parts = await start();
    const { hook, message } = await ask(parts);
    await parts.courier.looked();
    await parts.pane.show('busy-status-line');
    expect(await verdictOf(parts.workspace, message)).toBe(IN_TERMINAL);
    expect(await hook.printed).toBe('');
    expect(await hook.ended).toBe(0);
  });

  it('reads the answer from the transcript alone, where the screen shows nothing', async () => {
    const parts = await start();
    const { hook, message } = await ask(parts, 'Bash', 'view-transcript');
    await parts.courier.looked();
    expect(hook.hasEnded()).toBe(false);
    parts.pane.result();
    expect(await verdictOf(parts.workspace, message)).toBe(IN_TERMINAL);
    expect(await hook.printed).toBe('');
  });

  it('exits when the dialog was answered before the first look', async () => {
    const parts = await start();
    const { hook, message } = await ask(parts, 'Bash', 'busy-status-line');
    expect(await verdictOf(parts.workspace, message)).toBe(IN_TERMINAL);
    expect(await hook.printed).toBe('');
  });

  it('exits when the next dialog is another one', async () => {
    const parts = await start();
    const { hook, message } = await ask(parts);
    await parts.courier.looked();
    await parts.pane.show('dialog-trust');
    expect(await verdictOf(parts.workspace, message)).toBe(IN_TERMINAL);
    expect(await hook.printed).toBe('');
  });

  it('stays while the user reads the second question in the terminal', async () => {
    const parts = await start();
    const { hook, message } = await ask(parts, 'AskUserQuestion.two-questions', 'dialog-question-first');
    await parts.courier.looked();
    await parts.pane.show('dialog-question-second');
    await parts.courier.looked();
    expect((await messageNow(parts.workspace, message)).components).not.toEqual([]);
    await parts.pane.show('dialog-question-review');
    await parts.courier.looked();
    expect((await messageNow(parts.workspace, message)).components).not.toEqual([]);
    await parts.pane.show('busy-status-line');
    expect(await verdictOf(parts.workspace, message)).toBe(IN_TERMINAL);
    expect(await hook.printed).toBe('');
  });

  it.each([
    ['cancelled', true, '⏹️ Cancelled in the terminal.'],
    ['answered', false, IN_TERMINAL],
  ])('shows no answer that was not submitted when a question is %s in the terminal', async (_, isError, verdict) => {
    const parts = await start();
    const { message } = await ask(parts, 'AskUserQuestion.two-questions', 'dialog-question-first');
    await parts.courier.looked();
    await parts.courier.answer(message, 'pick', ['1.1']);
    await parts.courier.answer(message, 'choose', ['2.1', '2.3']);
    await parts.pane.show('busy-status-line');
    parts.pane.result(isError);
    expect(await verdictOf(parts.workspace, message)).toBe(verdict);
    const { content } = await messageNow(parts.workspace, message);
    expect(content).toMatch(/^❓ \*\*Database\*\* \(1 of 2\)/);
    expect(content).not.toMatch(/✔|Your answers/);
  });

  it('claims no decision if the terminal was faster', async () => {
    const parts = await start();
    const { hook, message } = await ask(parts);
    await parts.courier.looked();
    await parts.pane.show('busy-status-line');
    expect(await parts.courier.answer(message, 'allow')).toBe('over');
    expect(await verdictOf(parts.workspace, message)).toBe(IN_TERMINAL);
    expect(await hook.printed).toBe('');
  });

  it('exits when Claude has exited to its shell', async () => {
    const parts = await start({ inShell: true });
    const { hook, message } = await ask(parts);
    await parts.courier.looked();
    await parts.pane.exit();
    expect(await verdictOf(parts.workspace, message)).toBe(EXITED);
    expect(await hook.printed).toBe('');
  });

  it.each([
    ['the session is closed', ['kill-session', '-t', '=web']],
    ['another program takes the pane', ['respawn-pane', '-k', '-t', '=web:', 'cat']],
    ['tmux ends', ['kill-server']],
  ])('exits when %s', async (_, command) => {
    const parts = await start();
    const { hook, message } = await ask(parts);
    await parts.courier.looked();
    parts.machine.tmux.call(...command);
    expect(await verdictOf(parts.workspace, message)).toBe(EXITED);
    expect(await hook.printed).toBe('');
  });

  it.each(['SIGTERM', 'SIGHUP'] as const)(
    'exits on %s, which Claude Code sends after Esc, and removes its buttons',
    async (signal) => {
      const parts = await start();
      const { hook, message } = await ask(parts);
      hook.child.kill(signal);
      expect(await verdictOf(parts.workspace, message)).toBe(CALLED_OFF);
      expect(await hook.printed).toBe('');
      expect(parts.courier.open()).toEqual([]);
    },
  );

  it('exits when its time is up, and says that the dialog is still open', async () => {
    const parts = await start({ patienceMs: 1_000 });
    await parts.pane.show('dialog-permission-bash');
    const hook = startHook(parts.machine, parts.pane, parts.pane.input('Bash'));
    const message = await promptIn(parts.workspace, parts.pane.thread);
    expect(await verdictOf(parts.workspace, message)).toContain('the dialog is still open');
    await silent(hook);
  });

  it('waits half a day, but only a minute for an agent in the background', () => {
    const [here, headless] = [{ headless: false }, { headless: true }];
    expect(patienceMs(here, {})).toBe(12 * 3_600_000);
    expect(patienceMs(here, { subagent: 'a1' })).toBe(60_000);
    expect(patienceMs(headless, { subagent: 'a1' })).toBe(12 * 3_600_000);
  });

  it('continues with the next question even if the server does not answer', async () => {
    const parts = await start({
      faults: {
        onRequest: ({ method }: { method: string }) =>
          method === 'PATCH' ? { kind: 'answer', status: 503 } : undefined,
      },
    });
    const { hook, message } = await ask(parts, 'AskUserQuestion.two-questions', 'dialog-question-first');
    await parts.courier.answer(message, 'pick', ['1.1']);
    await parts.courier.answer(message, 'choose', ['2.1', '2.3']);
    await parts.courier.answer(message, 'submit', [answersValue(['SQLite', 'Cache, Search'])]);
    expect(Object.values(decisionIn(await hook.printed).updatedInput.answers)).toEqual(['SQLite', 'Cache, Search']);
  });

  it('shows its end when the server is back', async () => {
    let away = false;
    const onRequest = ({ method }: { method: string }) =>
      away && method === 'PATCH' ? { kind: 'answer', status: 500 } : undefined;
    const parts = await start({ faults: { onRequest } });
    const { hook, message } = await ask(parts);
    away = true;
    await parts.courier.answer(message, 'deny');
    expect(decisionIn(await hook.printed).behavior).toBe('deny');
    await parts.pane.show('busy-status-line');
    await vi.waitFor(() => expect(parts.courier.log.join('\n')).toContain('trying again'), 20_000);
    expect(parts.courier.prompts.isBusy()).toBe(true);
    away = false;
    expect(await verdictOf(parts.workspace, message)).toBe('⛔ **Denied** — someone');
  });
});

describe('an invalid answer', () => {
  it('decides nothing', async () => {
    const parts = await start();
    const { hook, message } = await ask(parts);
    const { prompts } = parts.courier;
    const [{ id = '', thread = '' } = {}] = parts.courier.open();
    const on = { thread, message: message.id };
    const given = { prompt: id, by: parts.courier.by, on, order: '1' };
    const allow = { action: 'allow', values: [], text: '' };
    const say = (more: object) => prompts.answer({ ...given, answer: allow, ...more });
    expect(await say({ on: { ...on, message: '1' } })).toBe('no answer');
    expect(await say({ on: { ...on, thread: '1' } })).toBe('no answer');
    expect(await say({ answer: { ...allow, action: 'approve' } })).toBe('no answer'); // an action for a plan
    expect(await say({ answer: { ...allow, action: 'text' } })).toBe('no answer');
    expect(await say({ prompt: 'X'.repeat(32) })).toBe('over');
    await sleep(500);
    expect(hook.hasEnded()).toBe(false);
    expect(await say({})).toBe('taken');
    expect(decisionIn(await hook.printed)).toEqual({ behavior: 'allow' });
  });

  it('that comes second decides nothing, and its sender is told', async () => {
    const parts = await start();
    const { hook, message } = await ask(parts);
    const both = ['deny', 'allow'].map((action) => parts.courier.answer(message, action));
    expect(await Promise.all(both)).toEqual(['taken', 'over']);
    expect(decisionIn(await hook.printed).behavior).toBe('deny');
    expect(await verdictOf(parts.workspace, message)).toBe('⛔ **Denied** — someone');
  });
});

describe('the hook prints nothing', () => {
  it('when the server is down, and posts nothing when it is back but the hook is gone', async () => {
    const down = { now: false };
    const onRequest = () => (down.now ? ({ kind: 'reset' } as const) : undefined);
    const { machine, pane, courier, workspace } = await start({ faults: { onRequest } });
    down.now = true;
    const hook = startHook(machine, pane, pane.input('Bash'));
    await vi.waitFor(() => expect(courier.log.join('\n')).toContain('trying again'), 20_000);
    hook.child.kill('SIGTERM');
    await silent(hook);
    await courier.stop();
    down.now = false;
    const next = await startPromptCourier(machine);
    await vi.waitFor(() => expect(next.log.join('\n')).toContain('its hook is gone'), 20_000);
    const said = await messagesIn(workspace, '[agent] web');
    expect(said.flatMap(({ components }) => components)).toEqual([]);
    await vi.waitFor(() => expect(machine.letters()).toEqual([]), 20_000);
    expect(next.open()).toEqual([]);
  });

  it('when its thread is deleted while it waits', async () => {
    const parts = await start();
    const { hook } = await ask(parts);
    parts.courier.shared.threads.registry.change(parts.pane.thread, { deleted: true });
    await parts.workspace.bot('DELETE', `/channels/${parts.pane.thread}`);
    await silent(hook);
    await vi.waitFor(() => expect(parts.courier.prompts.isBusy()).toBe(false), 15_000);
  });

  it('when its session belongs nowhere', async () => {
    const parts = await start();
    const { hook, message } = await ask(parts);
    await parts.courier.answer(message, 'deny');
    await hook.ended;
    const { connections, threads } = parts.courier.shared;
    const [server] = connections.all().map((one) => one.server);
    Object.assign(server as object, { onlyProjects: true });
    expect(threads.destinationOf({ host: 'here', directory: parts.machine.tmux.dir })).toBeUndefined();
    await silent(startHook(parts.machine, parts.pane, parts.pane.input('Bash')));
    expect(parts.courier.open()).toEqual([]);
  });

  it('for anything except a request of an interactive Claude', async () => {
    const { machine, pane, courier } = await start();
    const input = pane.input('Bash');
    const outside = [
      startHook(machine, pane, input, { TMUX: '', TMUX_PANE: '' }),
      startHook(machine, pane, input, { CLAUDE_CODE_ENTRYPOINT: 'sdk-cli' }),
    ];
    for (const hook of outside) await silent(hook);
    expect(machine.letters()).toEqual([]);
    const odd = ['', '{', '{"hook_event_name":"Stop"}', '{"hook_event_name":"PermissionRequest"}'];
    for (const text of odd) {
      const hook = startHook(machine, pane, text);
      const bells = () => readdirSync(machine.home.folder('answers'));
      await vi.waitFor(() => expect(bells()).toHaveLength(1), 20_000);
      await sleep(300);
      await vi.waitFor(() => expect(machine.letters()).toEqual([]), 20_000);
      hook.child.kill('SIGTERM');
      await silent(hook);
    }
    expect(courier.open()).toEqual([]);
  });

  it('when the configuration is broken, or readable by others', async () => {
    const { machine, pane, courier } = await start();
    await courier.stop();
    const path = machine.home.path('config.json');
    for (const [text, mode] of [
      ['{ "host": ', 0o600],
      ['{ "hots": "x" }', 0o600],
      ['{}', 0o644],
    ] as const) {
      writeFileSync(path, text);
      chmodSync(path, mode);
      const hook = startHook(machine, pane, pane.input('Bash'));
      await vi.waitFor(() => expect(machine.letters()).not.toEqual([]), 20_000);
      await sleep(1_500); // the courier that it starts cannot work
      hook.child.kill('SIGTERM');
      await silent(hook);
    }
  });
});

describe('the notification that Claude is waiting', () => {
  const notify = (pane: PromptPane) => ({
    ...fixture('Notification.permission_prompt'),
    session_id: pane.record().claudeSession,
    transcript_path: pane.record().transcript,
  });

  const handleLetter = ({ courier, pane }: Parts, input: unknown) =>
    postLetter(letterOf(pane.env, input), openCourierContexts(courier.shared).of(courier.shared.config.host));

  it('adds nothing while the prompt is in the thread', async () => {
    const parts = await start();
    await ask(parts);
    const before = (await messagesIn(parts.workspace, '[agent] web')).length;
    await handleLetter(parts, notify(parts.pane));
    expect(await messagesIn(parts.workspace, '[agent] web')).toHaveLength(before);
    expect(parts.pane.record().state).toBe('waiting');
  });

  it('shows the screen, and a button for its keys, when nobody was asked in the thread', async () => {
    const parts = await start();
    const { workspace, pane } = parts;
    await pane.show('dialog-permission-bash');
    await handleLetter(parts, notify(pane));
    const said = (await messagesIn(workspace, '[agent] web')).at(-1) as WireMessage;
    expect(said.content).toContain('Do you want to proceed?');
    expect(said.content).toContain('curl http://127.0.0.1:1/');
    expect(JSON.stringify(said.components)).toContain('key:look');
    // Only the bridge knows which screen the thread showed last.
    expect(JSON.stringify(said.components)).not.toContain('key:Enter');
  });

  it('shows the screen also when the hook that asked was killed', async () => {
    const parts = await start();
    const { hook } = await ask(parts);
    hook.child.kill('SIGKILL');
    await hook.ended;
    await handleLetter(parts, notify(parts.pane));
    const said = (await messagesIn(parts.workspace, '[agent] web')).at(-1) as WireMessage;
    expect(said.content).toContain('Do you want to proceed?');
  });
});

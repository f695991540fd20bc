// The hook that waits beside the dialog, as a real process, with a real pane that shows recorded screens.

import { chmodSync, existsSync, readdirSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import type { PermissionRequestInput } from '../../claude/hook-input.ts';
import { createLog, silentLog } from '../../core/log.ts';
import { parseCustomId } from '../../core/prompt-id.ts';
import { putAnswer } from '../../home/answer-file.ts';
import { openPrompts } from '../../home/open-prompt.ts';
import { patienceMs, permissionRequest } from '../../hooks/permission-request.ts';
import { restOf } from '../support/client.ts';
import { openTestDesk } from '../support/desk.ts';
import { fixture, type Machine, messagesIn, startMachine } from '../support/hook-process.ts';
import {
  buttonOf,
  decisionIn,
  messageNow,
  type PromptPane,
  promptIn,
  startHook,
  startPromptPane,
  verdictOf,
} from '../support/prompt-pane.ts';
import { startTestWorkspace, type TestWorkspace, type WireMessage } from '../support/workspace.ts';

const IN_TERMINAL = '🖥️ Answered in the terminal.';
const EXITED = '⏹️ Claude has exited.';
const you = { id: '1', name: 'someone' };

async function start(options: { faults?: object; inShell?: boolean } = {}) {
  const { inShell, ...more } = options;
  const workspace = await startTestWorkspace(more);
  const machine = startMachine(workspace);
  const pane = await startPromptPane(machine, 'web', inShell ? { inShell } : {});
  return { workspace, machine, pane };
}

/** The hook beside a dialog, until its prompt stands in the thread. */
async function ask(
  { workspace, machine, pane }: { workspace: TestWorkspace; machine: Machine; pane: PromptPane },
  name = 'Bash',
  screen = 'dialog-permission-bash',
) {
  await pane.show(screen);
  const hook = startHook(machine, pane, pane.input(name));
  const message = await promptIn(workspace, pane.thread);
  const id = parseCustomId(buttonOf(message, ''))?.prompt ?? '';
  await vi.waitFor(() => expect(openPrompts(machine.home).map((one) => one.id)).toEqual([id]));
  return { hook, message, id };
}

const answer = (
  { id, message }: { id: string; message: WireMessage },
  action: string,
  values: readonly string[] = [],
) => ({
  prompt: id,
  action,
  values: [...values],
  text: '',
  by: you,
  on: { thread: message.channel_id, message: message.id },
});

/** The hook has looked at the screen at least once. */
const looked = () => sleep(900);

describe('beside a dialog', () => {
  it('prints the decision of the thread, closes its pipes at once, and then shows who decided', async () => {
    let slow = 0;
    const parts = await start({
      faults: {
        onRequest: ({ method }: { method: string }) =>
          method === 'PATCH' && slow++ >= 0 ? { kind: 'delay', ms: 1_500 } : undefined,
      },
    });
    const { hook, message, id } = await ask(parts);
    const began = Date.now();
    putAnswer(parts.machine.home, '1', answer({ id, message }, 'allow'));
    expect(decisionIn(await hook.printed)).toEqual({ behavior: 'allow' });
    expect(Date.now() - began).toBeLessThan(1_400);
    expect(hook.hasEnded()).toBe(false);
    expect(await verdictOf(parts.workspace, message)).toBe('✅ **Allowed** — someone');
    expect(await hook.ended).toBe(0);
    expect(openPrompts(parts.machine.home)).toEqual([]);
    expect((await messageNow(parts.workspace, message)).content).not.toContain('-# ');
  });

  it('leaves when the dialog was answered in the terminal, and says so within two seconds', async () => {
    const parts = await start();
    const { hook, message } = await ask(parts);
    await looked();
    await parts.pane.show('busy-status-line');
    const began = Date.now();
    expect(await verdictOf(parts.workspace, message)).toBe(IN_TERMINAL);
    expect(Date.now() - began).toBeLessThan(2_000);
    expect(await hook.printed).toBe('');
    expect(await hook.ended).toBe(0);
  });

  it('knows it from the transcript alone, where the screen tells nothing', async () => {
    const parts = await start();
    const { hook, message } = await ask(parts, 'Bash', 'view-transcript');
    await looked();
    expect(hook.hasEnded()).toBe(false);
    parts.pane.result();
    const began = Date.now();
    expect(await verdictOf(parts.workspace, message)).toBe(IN_TERMINAL);
    expect(Date.now() - began).toBeLessThan(2_000);
    expect(await hook.printed).toBe('');
  });

  it('leaves when somebody was so quick that the dialog was gone before the first look', async () => {
    const parts = await start();
    const { hook, message } = await ask(parts, 'Bash', 'busy-status-line');
    expect(await verdictOf(parts.workspace, message)).toBe(IN_TERMINAL);
    expect(await hook.printed).toBe('');
  });

  it('leaves when the next dialog is another one', async () => {
    const parts = await start();
    const { hook, message } = await ask(parts);
    await looked();
    await parts.pane.show('dialog-trust');
    expect(await verdictOf(parts.workspace, message)).toBe(IN_TERMINAL);
    expect(await hook.printed).toBe('');
  });

  it('stays while the person reads the second question in the terminal', async () => {
    const parts = await start();
    const { hook, message } = await ask(
      parts,
      'AskUserQuestion.two-questions',
      'dialog-question-first',
    );
    await looked();
    await parts.pane.show('dialog-question-second');
    await sleep(1_500);
    expect((await messageNow(parts.workspace, message)).components).not.toEqual([]);
    await parts.pane.show('dialog-question-review');
    await sleep(1_500);
    expect((await messageNow(parts.workspace, message)).components).not.toEqual([]);
    await parts.pane.show('busy-status-line');
    expect(await verdictOf(parts.workspace, message)).toBe(IN_TERMINAL);
    expect(await hook.printed).toBe('');
  });

  it('claims no decision if the terminal was quicker', async () => {
    const parts = await start();
    const { hook, message, id } = await ask(parts);
    await looked();
    await parts.pane.show('busy-status-line');
    putAnswer(parts.machine.home, '1', answer({ id, message }, 'allow'));
    expect(await verdictOf(parts.workspace, message)).toBe(IN_TERMINAL);
    expect(await hook.printed).toBe('');
    const [left] = readdirSync(parts.machine.home.folder('answers'));
    expect(left).toMatch(/\.json(\.refused)?$/); // whoever brought it is told
  });

  it('ends when Claude has exited to its shell', async () => {
    const parts = await start({ inShell: true });
    const { hook, message } = await ask(parts);
    await looked();
    await parts.pane.exit();
    expect(await verdictOf(parts.workspace, message)).toBe(EXITED);
    expect(await hook.printed).toBe('');
  });

  it.each([
    ['the session is closed', ['kill-session', '-t', '=web']],
    ['another program takes the pane', ['respawn-pane', '-k', '-t', '=web:', 'cat']],
    ['tmux ends', ['kill-server']],
  ])('ends when %s', async (_, command) => {
    const parts = await start();
    const { hook, message } = await ask(parts);
    await looked();
    parts.machine.tmux.call(...command);
    expect(await verdictOf(parts.workspace, message)).toBe(EXITED);
    expect(await hook.printed).toBe('');
  });

  it.each(['SIGTERM', 'SIGHUP'] as const)(
    'ends on %s, as Claude Code sends it after Esc, and takes its buttons away',
    async (signal) => {
      const parts = await start();
      const { hook, message } = await ask(parts);
      hook.child.kill(signal);
      expect(await verdictOf(parts.workspace, message)).toBe('⏹️ Called off in the terminal.');
      expect(await hook.printed).toBe('');
      expect(openPrompts(parts.machine.home)).toEqual([]);
    },
  );

  it('ends when its time is up, and says that the dialog is still there', async () => {
    const { workspace, machine, pane } = await start();
    await pane.show('dialog-permission-bash');
    const asked = await permissionRequest({
      home: machine.home,
      rest: restOf(workspace),
      tmux: machine.tmux.tmux,
      record: pane.record(),
      input: pane.input('Bash'),
      log: silentLog,
      waitMs: 400,
    });
    expect(asked.output).toBeUndefined();
    const message = await promptIn(workspace, pane.thread);
    await asked.conclude();
    expect(await verdictOf(workspace, message)).toContain(
      'the dialog in the terminal is still open',
    );
  });

  it('waits half a day, but a minute only for an agent in the background', () => {
    const input = fixture('PermissionRequest.Bash') as PermissionRequestInput;
    expect(patienceMs(input)).toBe(12 * 3_600_000);
    expect(patienceMs({ ...input, agent_id: 'a1' })).toBe(60_000);
  });

  it('goes on with the next question although the server does not answer', async () => {
    const parts = await start({
      faults: {
        onRequest: ({ method }: { method: string }) =>
          method === 'PATCH' ? { kind: 'answer', status: 503 } : undefined,
      },
    });
    const { hook, message, id } = await ask(
      parts,
      'AskUserQuestion.two-questions',
      'dialog-question-first',
    );
    const { home } = parts.machine;
    putAnswer(home, '1', answer({ id, message }, 'pick', ['1.1']));
    putAnswer(home, '2', answer({ id, message }, 'choose', ['2.1', '2.3']));
    putAnswer(home, '3', answer({ id, message }, 'submit'));
    expect(Object.values(decisionIn(await hook.printed).updatedInput.answers)).toEqual([
      'SQLite',
      'Cache, Search',
    ]);
  });
});

describe('an answer that is none', () => {
  it('decides nothing, is refused, and is one line in the log', async () => {
    const { workspace, machine, pane } = await start();
    await pane.show('dialog-permission-bash');
    const lines: string[] = [];
    const asking = permissionRequest({
      home: machine.home,
      rest: restOf(workspace),
      tmux: machine.tmux.tmux,
      record: pane.record(),
      input: pane.input('Bash'),
      log: createLog((line) => lines.push(line), { secrets: [] }),
      waitMs: 2_500,
    });
    const message = await promptIn(workspace, pane.thread);
    const id = parseCustomId(buttonOf(message, ''))?.prompt ?? '';
    const folder = machine.home.folder('answers');
    const other = 'X'.repeat(22);
    const files = {
      [`${id}.1.json`]: JSON.stringify(answer({ id: other, message }, 'allow')), // for another prompt
      [`${id}.2.json`]: '{"action":"allow"}',
      [`${id}.3.json`]: 'allow',
      [`${id}.4.json`]: JSON.stringify(answer({ id, message }, 'approve')), // of a plan
      [`${other}.5.json`]: JSON.stringify(answer({ id, message }, 'allow')), // under another name
    };
    for (const [name, text] of Object.entries(files)) writeFileSync(`${folder}/${name}`, text);
    expect((await asking).output).toBeUndefined();
    expect(lines.filter((line) => line.includes('not an answer'))).toHaveLength(4);
    expect(readdirSync(folder).sort()).toEqual(
      [1, 2, 3, 4]
        .map((n) => `${id}.${n}.json.refused`)
        .concat(`${other}.5.json`)
        .sort(),
    );
  });

  it('of two at once the first decides, the second is refused', async () => {
    const parts = await start();
    const { hook, message, id } = await ask(parts);
    const { home } = parts.machine;
    putAnswer(home, '2', answer({ id, message }, 'deny'));
    putAnswer(home, '1', answer({ id, message }, 'allow'));
    const { behavior } = decisionIn(await hook.printed);
    expect(['allow', 'deny']).toContain(behavior);
    expect(readdirSync(home.folder('answers'))).toHaveLength(1);
  });
});

describe('prints nothing', () => {
  const silent = async (hook: ReturnType<typeof startHook>) => {
    expect(await hook.printed).toBe('');
    expect(await hook.ended).toBe(0);
  };

  it('when the server is down, and does not stay when it is told to leave', async () => {
    const down = { now: false };
    const onRequest = () => (down.now ? ({ kind: 'reset' } as const) : undefined);
    const { machine, pane } = await start({ faults: { onRequest } });
    down.now = true;
    const hook = startHook(machine, pane, pane.input('Bash'));
    await vi.waitFor(() => expect(machine.log()).toContain('trying again'), 10_000);
    hook.child.kill('SIGTERM');
    await silent(hook);
  });

  it('when the thread is gone', async () => {
    const { workspace, machine, pane } = await start();
    await workspace.bot('DELETE', `/channels/${pane.thread}`);
    await silent(startHook(machine, pane, pane.input('Bash')));
    expect(machine.log()).toContain('prompt failed');
  });

  it('for anything but a request of a Claude that somebody sits at', async () => {
    const { machine, pane } = await start();
    const input = pane.input('Bash');
    const hooks = [
      startHook(machine, pane, input, { TMUX: '', TMUX_PANE: '' }),
      startHook(machine, pane, input, { CLAUDE_CODE_ENTRYPOINT: 'sdk-cli' }),
      ...['', '{', '{"hook_event_name":"Stop"}', '{"hook_event_name":"PermissionRequest"}'].map(
        (text) => startHook(machine, pane, text),
      ),
    ];
    for (const hook of hooks) await silent(hook);
    expect(openPrompts(machine.home)).toEqual([]);
  });

  it('when the configuration is broken, or readable for others', async () => {
    const { machine, pane } = await start();
    const path = machine.home.path('config.json');
    for (const [text, mode] of [
      ['{ "host": ', 0o600],
      ['{ "hots": "x" }', 0o600],
      ['{}', 0o644],
    ] as const) {
      writeFileSync(path, text);
      chmodSync(path, mode);
      await silent(startHook(machine, pane, pane.input('Bash')));
    }
  });
});

describe('the notification that Claude waits', () => {
  const notify = (pane: PromptPane) => ({
    ...fixture('Notification.permission_prompt'),
    session_id: pane.record().claudeSession,
    transcript_path: pane.record().transcript,
  });

  it('adds nothing while the prompt is in the thread', async () => {
    const parts = await start();
    await ask(parts);
    const before = (await messagesIn(parts.workspace, '[agent] web')).length;
    await openTestDesk(parts.machine).tell(parts.pane.env, notify(parts.pane));
    expect(await messagesIn(parts.workspace, '[agent] web')).toHaveLength(before);
    expect(parts.pane.record().state).toBe('waiting');
  });

  it('shows the screen, with keys, when nobody asked in the thread', async () => {
    const { workspace, machine, pane } = await start();
    await pane.show('dialog-permission-bash');
    await openTestDesk(machine).tell(pane.env, notify(pane));
    const said = (await messagesIn(workspace, '[agent] web')).at(-1) as WireMessage;
    expect(said.content).toContain('Do you want to proceed?');
    expect(said.content).toContain('curl http://127.0.0.1:1/');
    for (const key of ['Escape', 'Enter', 'Up', 'Down'])
      expect(JSON.stringify(said.components)).toContain(`key:${key}`);
  });

  it('shows it also when the hook that asked was killed', async () => {
    const parts = await start();
    const { hook } = await ask(parts);
    hook.child.kill('SIGKILL');
    await hook.ended;
    await openTestDesk(parts.machine).tell(parts.pane.env, notify(parts.pane));
    const said = (await messagesIn(parts.workspace, '[agent] web')).at(-1) as WireMessage;
    expect(said.content).toContain('Do you want to proceed?');
    expect(existsSync(parts.machine.home.folder('questions'))).toBe(true);
  });
});

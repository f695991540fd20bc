// A prompt from the thread to the hook that waits for it, and back: real bridge, real hook, real workspace.

import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { createCarry } from '../../bridge/carry.ts';
import { openHosts } from '../../bridge/hosts.ts';
import { createOpenPrompts } from '../../bridge/open-prompts.ts';
import { createPanes } from '../../bridge/panes.ts';
import { createPrompts } from '../../bridge/prompts.ts';
import { createLog, silentLog } from '../../core/log.ts';
import { COMPONENT, interactionSchema } from '../../discord/interactions.ts';
import { openPrompts } from '../../home/open-prompt.ts';
import { permissionRequest } from '../../hooks/permission-request.ts';
import { listenTo, restOf } from '../support/client.ts';
import { startMachine } from '../support/hook-process.ts';
import {
  buttonOf,
  buttonsOf,
  decisionIn,
  messageNow,
  type PromptPane,
  promptIn,
  startHook,
  startPromptPane,
  verdictOf,
} from '../support/prompt-pane.ts';
import { startSshServer } from '../support/ssh-server.ts';
import type { WireMessage } from '../support/workspace.ts';
import { openPageSocket } from '../workspace/raw-socket.ts';
import { aWhile, type Setting, type SettingOptions, startSetting, WAIT } from './setting.ts';

async function start(options: SettingOptions = {}) {
  const setting = await startSetting(options);
  const pane = await startPromptPane(setting.machine);
  return { setting, pane };
}

async function ask(
  { setting, pane }: { setting: Setting; pane: PromptPane },
  name = 'Bash',
  screen = 'dialog-permission-bash',
) {
  await pane.show(screen);
  const hook = startHook(setting.machine, pane, pane.input(name));
  return { hook, message: await promptIn(setting.workspace, pane.thread) };
}

const askTwo = (parts: { setting: Setting; pane: PromptPane }) =>
  ask(parts, 'AskUserQuestion.two-questions', 'dialog-question-first');

const tap = ({ workspace }: Setting, message: WireMessage, label: string) =>
  workspace.person.tap(message.channel_id, message.id, buttonOf(message, label));

/** What only the person who tapped sees, from now on. */
async function listenAsPerson({ workspace }: Setting): Promise<() => readonly string[]> {
  const page = await openPageSocket(workspace);
  return () =>
    page.heard
      .filter(({ t, d }) => t === 'MESSAGE_CREATE' && (d.flags & 64) !== 0)
      .map(({ d }) => d.content);
}

describe('a tap', () => {
  it('is the decision, and the message shows whose', async () => {
    const parts = await start();
    const { hook, message } = await ask(parts);
    await tap(parts.setting, message, 'Always allow');
    expect(decisionIn(await hook.printed)).toEqual({
      behavior: 'allow',
      updatedPermissions: [
        {
          type: 'addRules',
          rules: [{ toolName: 'Bash', ruleContent: 'curl http://127.0.0.1:1/' }],
          behavior: 'allow',
          destination: 'localSettings',
        },
      ],
    });
    expect(await verdictOf(parts.setting.workspace, message)).toBe('✅ **Always allowed** — you');
  });

  it('opens a field for a reason', async () => {
    const parts = await start();
    const { hook, message } = await ask(parts);
    const { person } = parts.setting.workspace;
    const tapped = await tap(parts.setting, message, 'Deny with a reason');
    await vi.waitFor(async () => {
      await person.submitModal(message.channel_id, tapped, { words: 'use a temp dir' });
    }, WAIT);
    expect(decisionIn(await hook.printed)).toEqual({ behavior: 'deny', message: 'use a temp dir' });
    expect(await verdictOf(parts.setting.workspace, message)).toBe(
      '⛔ **Denied**: use a temp dir — you',
    );
  });

  it('steps through several questions in one message: button, field, menu, again, submit', async () => {
    const parts = await start();
    const { hook, message } = await askTwo(parts);
    const { workspace } = parts.setting;
    const { person } = workspace;
    const untilShown = (about: RegExp) => promptIn(workspace, parts.pane.thread, about);
    await tap(parts.setting, message, '2. Postgres');
    await tap(parts.setting, await untilShown(/\(2 of 2\)/), 'Start again');
    const other = await tap(parts.setting, await untilShown(/\(1 of 2\)/), 'Other');
    await vi.waitFor(
      () => person.submitModal(message.channel_id, other, { words: 'I want 1 MySQL' }),
      WAIT,
    );
    const second = await untilShown(/\(2 of 2\)/);
    expect(second.content).toContain('✔ **Database**: I want 1 MySQL');
    const menu = buttonsOf(second).find(({ options }) => options !== undefined);
    const values = menu?.options?.slice(0, 2).map(({ value }) => value) ?? [];
    await person.choose(message.channel_id, message.id, menu?.custom_id ?? '', values);
    await tap(parts.setting, await untilShown(/Your answers/), 'Submit');
    expect(Object.values(decisionIn(await hook.printed).updatedInput.answers)).toEqual([
      'I want 1 MySQL',
      'Cache, Queue',
    ]);
    expect(await verdictOf(workspace, message)).toContain('I want 1 MySQL · Cache, Queue');
  });

  it('twice on one question does not answer the next one', async () => {
    const parts = await start();
    const { message } = await askTwo(parts);
    const whispers = await listenAsPerson(parts.setting);
    await Promise.all([1, 2, 3].map(() => tap(parts.setting, message, '1. SQLite')));
    const second = await promptIn(parts.setting.workspace, parts.pane.thread, /\(2 of 2\)/);
    await aWhile();
    expect((await messageNow(parts.setting.workspace, second)).content).toContain('(2 of 2)');
    expect(whispers()).toEqual([]);
  });

  it('at the same time as another one: one decision, and a word for the other', async () => {
    const parts = await start();
    const { hook, message } = await ask(parts);
    await Promise.all([
      tap(parts.setting, message, 'Allow'),
      tap(parts.setting, message, 'Deny').catch(() => ''),
    ]);
    const { behavior } = decisionIn(await hook.printed);
    const verdict = await verdictOf(parts.setting.workspace, message);
    expect(verdict).toContain(behavior === 'allow' ? 'Allowed' : 'Denied');
  });

  it('on a prompt whose hook was killed says that it is over, and the buttons go', async () => {
    const parts = await start();
    const { hook, message } = await ask(parts);
    hook.child.kill('SIGKILL');
    await hook.ended;
    const whispers = await listenAsPerson(parts.setting);
    await tap(parts.setting, message, 'Allow');
    await vi.waitFor(async () => {
      expect((await messageNow(parts.setting.workspace, message)).components).toEqual([]);
    }, WAIT);
    expect(whispers()).toEqual(['This prompt is over; nothing was changed.']);
    expect(parts.setting.log.filter((line) => line.includes('answer for nobody'))).toHaveLength(1);
    expect(await hook.printed).toBe('');
  });

  it('by somebody who is not listed decides nothing, and is one line in the log', async () => {
    const parts = await start({ allow: ['123456789012345678'] });
    const { hook, message } = await ask(parts);
    await tap(parts.setting, message, 'Allow');
    const ignored = () => parts.setting.log.filter((line) => line.includes('not listed'));
    await vi.waitFor(() => expect(ignored()).toHaveLength(1), WAIT);
    await aWhile();
    expect(hook.hasEnded()).toBe(false);
    expect(openPrompts(parts.setting.machine.home)).toHaveLength(1);
    expect((await messageNow(parts.setting.workspace, message)).components).not.toEqual([]);
  });

  it('that is replayed, or names a prompt that never was, decides nothing more', async () => {
    const parts = await start();
    const { setting, pane } = parts;
    const { workspace, machine, config } = setting;
    const rest = restOf(workspace);
    const { named } = listenTo(workspace, rest);
    const { hook, message } = await ask(parts);
    await tap(setting, message, 'Deny');
    expect(decisionIn(await hook.printed).behavior).toBe('deny');
    await hook.ended;
    const [told] = await vi.waitFor(() => {
      const all = named('INTERACTION_CREATE');
      expect(all).toHaveLength(1);
      return all;
    }, WAIT);

    const next = await ask(parts); // a new request of the same kind, which must not get the old answer
    const lines: string[] = [];
    const log = createLog((line) => lines.push(line), { secrets: [] });
    const hosts = openHosts({ config, home: machine.home, env: machine.env });
    const prompts = createPrompts({
      rest,
      log,
      carry: createCarry(machine.home, hosts, createPanes(config, machine.home, hosts, 'local')),
      open: createOpenPrompts(rest, workspace.botId),
    });
    const thread = { id: pane.thread, title: '[agent] web' } as Parameters<
      typeof prompts.tapped
    >[1];
    const replayed = interactionSchema.parse(told?.data);
    expect(replayed.type).toBe(COMPONENT);
    await prompts.tapped(replayed, thread).catch(() => {});
    expect(lines.filter((line) => line.includes('answer for nobody'))).toHaveLength(1);
    const customId = `p:${'A'.repeat(22)}:allow`;
    const data = { ...replayed.data, custom_id: customId } as typeof replayed.data;
    await prompts.tapped({ ...replayed, data }, thread).catch(() => {});
    expect(lines.filter((line) => line.includes('answer for nobody'))).toHaveLength(2);
    await aWhile();
    expect(next.hook.hasEnded()).toBe(false);
    expect((await messageNow(workspace, next.message)).components).not.toEqual([]);
  });
});

describe('what is written while a prompt is open', () => {
  it.each([
    ['allow', { behavior: 'allow' }],
    ['Not like this', { behavior: 'deny', message: 'Not like this' }],
  ])('"%s" is its answer, also for a bridge that was started after it', async (text, expected) => {
    const parts = await start();
    const { hook, message } = await ask(parts);
    await parts.setting.restart();
    const said = await parts.setting.say(parts.pane.thread, text);
    expect(decisionIn(await hook.printed)).toEqual(expected);
    await parts.setting.untilMarked(said, '✅');
    await verdictOf(parts.setting.workspace, message);
  });

  it('and cannot answer it waits, with a word, and is not lost', async () => {
    const parts = await start();
    const { hook, message } = await askTwo(parts);
    const { setting, pane } = parts;
    await setting.untilMarked(await setting.say(pane.thread, '2'), '✅');
    await promptIn(setting.workspace, pane.thread, /\(2 of 2\)/);
    await setting.untilMarked(await setting.say(pane.thread, '1, 3'), '✅');
    await promptIn(setting.workspace, pane.thread, /Your answers/);
    const waits = await setting.say(pane.thread, 'and run the tests');
    await setting.untilMarked(waits, '📨');
    await setting.untilMarked(await setting.say(pane.thread, 'submit'), '✅');
    expect(Object.values(decisionIn(await hook.printed).updatedInput.answers)).toEqual([
      'Postgres',
      'Cache, Search',
    ]);
    expect(await verdictOf(setting.workspace, message)).toContain('Postgres · Cache, Search');
    expect(await setting.marks(waits)).toEqual(['📨']);
  });

  it('a tap works after a restart of the bridge, too', async () => {
    const parts = await start();
    const { hook, message } = await ask(parts);
    await parts.setting.restart();
    await tap(parts.setting, message, 'Allow');
    expect(decisionIn(await hook.printed)).toEqual({ behavior: 'allow' });
  });
});

describe('many prompts', () => {
  it('50 at once in 10 sessions: each answer reaches its own', async () => {
    const setting = await startSetting();
    const { workspace, machine } = setting;
    const rest = restOf(workspace);
    const panes = [];
    for (let at = 0; at < 10; at++) panes.push(await startPromptPane(machine, `s${at}`));
    await Promise.all(panes.map((pane) => pane.show('dialog-permission-long')));
    const asked = panes.flatMap((pane) =>
      Array.from({ length: 5 }, (_, at) => {
        const command = `echo ${pane.session} number ${at}`;
        const tool_input = { command };
        const asking = permissionRequest({
          home: machine.home,
          rest,
          tmux: machine.tmux.tmux,
          record: pane.record(),
          input: pane.input('Bash', { tool_input }),
          log: silentLog,
          waitMs: 60_000,
        });
        return { pane, command, asking };
      }),
    );
    await vi.waitFor(() => expect(openPrompts(machine.home)).toHaveLength(50), WAIT);
    const shuffled = asked.toSorted(() => Math.random() - 0.5);
    for (const [at, { pane, command }] of shuffled.entries()) {
      const message = await promptIn(workspace, pane.thread, new RegExp(`${command}\n`));
      const tapped = await tap(setting, message, at % 2 === 0 ? 'Allow' : 'reason');
      if (at % 2 === 0) continue;
      const words = { words: `not ${command}` };
      await vi.waitFor(() => workspace.person.submitModal(pane.thread, tapped, words), WAIT);
    }
    for (const [at, { asking, command }] of shuffled.entries()) {
      const { output } = await asking;
      expect(decisionIn(output ?? '')).toEqual(
        at % 2 === 0 ? { behavior: 'allow' } : { behavior: 'deny', message: `not ${command}` },
      );
    }
    expect(openPrompts(machine.home)).toEqual([]);
  }, 90_000);
});

describe('on another host', () => {
  const FAR = { defaultHost: 'laptop', hosts: { far: 'local', laptop: { ssh: 'laptop' } } };

  async function startFar() {
    const ssh = await startSshServer();
    const setting = await startSetting({
      file: { hosts: { laptop: 'local', far: { ssh: 'far' } } },
      sshConfig: ssh.configFile,
    });
    const far = startMachine(setting.workspace, { host: 'far', config: FAR });
    mkdirSync(ssh.home, { recursive: true });
    symlinkSync(far.home.root, join(ssh.home, '.threadmux'));
    const pane = await startPromptPane(far, 'there');
    await pane.show('dialog-permission-bash');
    const hook = startHook(far, pane, pane.input('Bash'));
    const message = await promptIn(setting.workspace, pane.thread);
    return { ssh, setting, far, pane, hook, message };
  }

  it('the answer goes through ssh, its text on stdin', async () => {
    const { setting, hook, message, far } = await startFar();
    const said = await setting.say(message.channel_id, `no; "$(id)" 'quoted'`);
    expect(decisionIn(await hook.printed)).toEqual({
      behavior: 'deny',
      message: `no; "$(id)" 'quoted'`,
    });
    await setting.untilMarked(said, '✅');
    expect(await verdictOf(setting.workspace, message)).toContain('Denied');
    expect(openPrompts(far.home)).toEqual([]);
  });

  it('a hook that was killed there: said, and the buttons go', async () => {
    const { setting, hook, message } = await startFar();
    hook.child.kill('SIGKILL');
    await hook.ended;
    const whispers = await listenAsPerson(setting);
    await tap(setting, message, 'Allow');
    await vi.waitFor(async () => {
      expect((await messageNow(setting.workspace, message)).components).toEqual([]);
      expect(whispers()).toEqual(['This prompt is over; nothing was changed.']);
    }, WAIT);
  });

  it('that is down: said with what still works, and a tap works when it is back', async () => {
    const { ssh, setting, hook, message } = await startFar();
    await ssh.stop();
    const whispers = await listenAsPerson(setting);
    const began = Date.now();
    await tap(setting, message, 'Allow');
    await vi.waitFor(() => {
      expect(whispers()[0]).toMatch(
        /^⚠️ Your answer did not get there: .*\n.*terminal is still open/s,
      );
    }, WAIT);
    expect(Date.now() - began).toBeLessThan(20_000);
    expect(hook.hasEnded()).toBe(false);
    expect((await messageNow(setting.workspace, message)).components).not.toEqual([]);
    await ssh.start();
    await vi.waitFor(
      async () => {
        await tap(setting, message, 'Allow').catch(() => ''); // its buttons may be gone by now
        expect(hook.hasEnded()).toBe(true);
      },
      { timeout: 20_000, interval: 1_000 },
    );
    expect(decisionIn(await hook.printed)).toEqual({ behavior: 'allow' });
  });
});

// An agent that threadmux has never heard of needs a driver and a line in the list, and nothing else.

import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { AgentDriver } from '../../agents/driver.ts';
import { parseAgentEvent } from '../../agents/event.ts';
import { addDriver } from '../../agents/list.ts';
import type { AgentScreen } from '../../agents/screen.ts';
import { lastReply } from '../../bin/acts/last-reply.ts';
import type { SessionTarget } from '../../bin/find-session.ts';
import {
  aWhile,
  type Setting,
  type SettingOptions,
  screenOf,
  startSetting,
  tellOfSession,
  WAIT,
} from '../bridge/bridge-setup.ts';
import { DROP } from '../support/hook-process.ts';
import { promptIn } from '../support/prompt-pane.ts';
import { tempFolder } from '../support/temp-home.ts';
import type { WireMessage } from '../support/workspace.ts';

const PROGRAM = fileURLToPath(new URL('../support/made-up-agent.mjs', import.meta.url));
const NOTHING_ELSE = { queued: false, stashed: false, mode: '' };

function readParrot(ansi: string): AgentScreen {
  const lines = ansi
    .replace(/\n$/, '')
    .split('\n')
    .filter((line) => line !== '');
  const last = lines.at(-1) ?? '';
  if (last === 'press a letter')
    return {
      kind: 'dialog',
      which: 'permission',
      full: false,
      form: 'choice',
      hasMore: false,
      field: undefined,
      title: lines.at(-4) ?? '',
      text: [],
      help: last,
      options: [
        { number: undefined, label: 'Yes', about: '', selected: false, key: 'y' },
        { number: undefined, label: 'No', about: '', selected: false, key: 'n' },
      ],
    };
  const [, text] = /^parrot> ?(.*)$/.exec(last) ?? [];
  const state = lines.at(-2) ?? '';
  if (text === undefined || !state.startsWith('parrot is ')) return { kind: 'unknown' };
  const busy = state === 'parrot is working';
  return text === '' ? { kind: 'empty', busy, ...NOTHING_ELSE } : { kind: 'draft', text, busy, stashed: false };
}

const parrot: AgentDriver = {
  name: 'parrot',
  title: 'Parrot',
  programs: [],
  variables: [],
  guarantees: {
    receipt: 'hook',
    permission: 'api',
    question: 'none',
    textBetweenTools: true,
    draft: 'waits',
    everyEnd: true,
    resume: true,
  },
  launch: ({ command, resume, scripts }) => ({
    argv: [...command, ...(typeof resume === 'object' ? ['--resume', resume.session] : [])],
    environment: { PARROT_SCRIPTS: scripts },
  }),
  readEvent: parseAgentEvent,
  screen: {
    read: readParrot,
    dialogLine: '^press a letter',
    boxHolds: (screen, text) => (screen.kind === 'draft' && screen.text === text.replaceAll('\n', '⏎') ? 'yes' : 'no'),
    timesShown: (screen, text) => screen.split(`you said: ${text.split('\n')[0]}`).length - 1,
  },
  typing: {
    refuse: (text) => (text.startsWith('%') ? 'Parrot runs a text that begins with "%" as a command.' : undefined),
    boxLines: () => ['^parrot>'],
    shownText: (text) => ({ from: 'parrot>', to: '─', whole: '', parts: [text.replaceAll(' ', '').slice(0, 20)] }),
    onlyWhenIdle: true,
    interrupt: ['Escape'],
  },
  answer: (_, decision) => JSON.stringify({ decision: decision.kind }),
};

beforeAll(() => addDriver(parrot));

/** A bridge on a machine that has the program `parrot`. */
async function start(options: SettingOptions = {}) {
  const folder = tempFolder();
  const record = join(folder, 'record');
  vi.stubEnv('PATH', `${folder}:${process.env.PATH}`);
  onTestFinished(() => void vi.unstubAllEnvs());
  const setting = await startSetting({
    program: {
      node: process.execPath,
      dist: '',
      scripts: DROP.replace(/\/drop$/, ''),
      home: '',
      hookSettings: undefined,
    },
    ...options,
  });
  const home = `THREADMUX_HOME=${setting.machine.home.root}; export THREADMUX_HOME`;
  const exec = `exec '${process.execPath}' '${PROGRAM}' '${record}' "$@"`;
  writeFileSync(join(folder, 'parrot'), `#!/bin/sh\n${home}\n${exec}\n`, { mode: 0o755 });
  const noted = (kind: string) =>
    (existsSync(record) ? readFileSync(record, 'utf8').split('\n') : [])
      .filter(Boolean)
      .map((line) => JSON.parse(line))
      .flatMap((one) => (one.kind === kind ? [one.text] : []));
  return { setting, folder, record, noted };
}

/** `!new pet --agent parrot` */
async function startPet() {
  const started = await start();
  const { setting } = started;
  await setting.say(setting.workspace.channelId, '!new pet --agent parrot ~');
  const { content } = await setting.answer(setting.workspace.channelId, /pet` is up.*<#\d+>/);
  const [, thread = ''] = /<#(\d+)>/.exec(content) ?? [];
  return { ...started, thread };
}

const keys = ({ machine }: Setting, ...names: string[]) => machine.tmux.call('send-keys', '-t', '=pet:', ...names);

describe('a made-up agent', () => {
  it('is started with its driver, typed into, and its reply is in the thread', async () => {
    const { setting, thread, noted } = await startPet();
    await setting.answer(thread, /^▶️ Parrot started\.$/);
    const asked = await setting.say(thread, 'good morning\nto you');
    await setting.untilMarked(asked, '✅');
    expect(noted('prompt')).toEqual(['good morning\nto you']);
    const reply = await setting.answer(thread, /Parrot heard: good morning/);
    expect((reply.flags ?? 0) & 4096).toBe(0); // it notifies
    expect(setting.shared.threads.registry.get(thread)).toMatchObject({ agent: 'parrot', state: 'idle', shell: 'no' });
  });

  it('has a welcome that names it and says what it cannot do', async () => {
    const { setting, thread } = await startPet();
    const welcome = await vi.waitFor(async () => {
      const all = await setting.answers(setting.workspace.channelId);
      const found = all.find(({ id }) => id === thread);
      expect(found).toBeDefined();
      return found?.content;
    }, WAIT);
    expect(welcome).toContain('· Parrot');
    expect(welcome).toContain('-# Parrot: a message waits while it works; a message waits while its box has a draft');
  });

  it('has its texts posted between its tools, silently and once, and its tools summed up', async () => {
    const { setting, thread } = await startPet();
    await setting.say(thread, 'think');
    await setting.answer(thread, /Parrot heard: think/);
    await setting.answer(thread, /^-# Read, Write · /);
    const all = (await setting.answers(thread)).map(({ content, flags = 0 }) => [
      content.split('\n').at(-1),
      flags & 4096,
    ]);
    expect(all).toContainEqual(['First I look.', 4096]);
    expect(all).toContainEqual(['Now I write.', 4096]);
    expect(all.filter(([content]) => content === 'First I look.')).toHaveLength(1);
  });

  it.each([
    ['Allow', 'allow', 'I ran ls'],
    ['Deny', 'deny', 'I did not run ls'],
  ])('has its permission answered by a tap: %s', async (label, action, said) => {
    const { setting, thread, noted } = await startPet();
    await setting.say(thread, 'run ls');
    const prompt = await promptIn(setting.workspace, thread);
    expect(prompt.content).toMatch(/^🔔 Parrot wants to use \*\*Bash\*\*/);
    expect(prompt.content).toContain('*Always allow* would add: `all of it`');
    expect(screenOf(setting.machine, 'pet')).toContain('May I run: ls');
    await tap(setting, prompt, label);
    await setting.answer(thread, new RegExp(said));
    expect(noted('decided')).toEqual([`${action} ls`]);
    expect((await setting.answers(thread)).some(({ content }) => content.startsWith('🔔 **'))).toBe(false);
  });

  it('closes its prompt when somebody answers in the terminal', async () => {
    const { setting, thread, noted } = await startPet();
    await setting.say(thread, 'run ls');
    await promptIn(setting.workspace, thread);
    keys(setting, 'y');
    await setting.answer(thread, /Answered in the terminal/);
    await setting.answer(thread, /I ran ls/);
    expect(noted('decided')).toEqual(['allow ls']);
  });

  it('is refused a text that its driver does not type, and the thread says why', async () => {
    const { setting, thread, noted } = await startPet();
    const message = await setting.say(thread, '%rm -rf /');
    await setting.untilMarked(message, '⚠️');
    await setting.answer(thread, /begins with "%" as a command/);
    expect(noted('prompt')).toEqual([]);
  });

  it('keeps a draft: the message waits until it is gone, and the notice says why', async () => {
    const { setting, thread, noted } = await startPet();
    keys(setting, 'half a thought');
    await vi.waitFor(() => expect(screenOf(setting.machine, 'pet')).toContain('parrot> half a thought'), WAIT);
    const message = await setting.say(thread, 'hello');
    await setting.answer(thread, /half-written message in Parrot's box/);
    expect(screenOf(setting.machine, 'pet')).toContain('parrot> half a thought');
    keys(setting, 'C-u');
    await setting.untilMarked(message, '✅');
    expect(noted('prompt')).toEqual(['hello']);
  });

  it('is typed into only when it is idle', async () => {
    const { setting, thread, noted } = await startPet();
    await setting.untilMarked(await setting.say(thread, 'work'), '✅');
    const message = await setting.say(thread, 'and then?');
    await setting.answer(thread, /Parrot is working\. Your message is typed when it is done/);
    expect(noted('prompt')).toEqual(['work']);
    await setting.say(thread, '!stop');
    await setting.untilMarked(message, '✅');
    expect(noted('prompt')).toEqual(['work', 'and then?']);
  });

  it('tells that a turn failed, and that it has exited', async () => {
    const { setting, thread } = await startPet();
    await setting.say(thread, 'fail');
    await setting.answer(thread, /^⚠️ Parrot stopped: the service failed\.\n> HTTP 500 \\\*now\\\*/m);
    keys(setting, 'C-d');
    await setting.answer(thread, /The session has ended/);
  });

  it('has its end told soon, even if neither it nor tmux reports it', async () => {
    const { setting, thread } = await startPet();
    setting.machine.tmux.call('kill-session', '-t', '=pet');
    await setting.answer(thread, /The session has ended/);
  });

  it('continues its conversation', async () => {
    const { setting, thread, noted } = await startPet();
    const session = setting.shared.threads.registry.get(thread)?.claudeSession ?? '';
    expect(session).toMatch(/^parrot-/);
    keys(setting, 'C-d');
    await setting.answer(thread, /The session has ended/);
    await setting.say(setting.workspace.channelId, '!new pet --continue');
    await vi.waitFor(() => expect(noted('start')).toEqual(['', `--resume ${session}`]), WAIT);
    await setting.answer(thread, /^▶️ Parrot resumed\.$/);
  });

  it('has its last reply read by the commands, also while it works on the next prompt', async () => {
    const { setting, thread } = await startPet();
    const { shared, machine } = setting;
    const record = shared.threads.registry.get(thread);
    const target = { host: shared.config.host, tmux: machine.tmux, record } as unknown as SessionTarget;
    const reach = { ...shared, records: [] } as unknown as Parameters<typeof lastReply>[1];
    expect(await lastReply(target, reach)).toBeUndefined();
    await setting.untilMarked(await setting.say(thread, 'think'), '✅');
    expect(await lastReply(target, reach, 20_000)).toEqual({
      text: 'Parrot heard: think',
      finished: true,
      at: expect.any(Number),
    });
    await setting.untilMarked(await setting.say(thread, 'work'), '✅');
    await vi.waitFor(() => expect(shared.threads.registry.get(thread)?.state).toBe('working'), WAIT);
    expect(await lastReply(target, reach)).toBeUndefined();
    await setting.say(thread, '!stop');
    await vi.waitFor(() => expect(shared.threads.registry.get(thread)?.state).toBe('idle'), WAIT);
    expect(await lastReply(target, reach, 60_000)).toBeUndefined();
  });

  it('without hooks is recognised by its screen, typed into, and its dialogs are cards', async () => {
    const { setting, record, noted } = await start({ waits: { heardWithinMs: 300 } });
    appendFileSync(record, '');
    setting.machine.tmux.call('new-session', '-d', '-s', 'pet', process.execPath, PROGRAM, record);
    tellOfSession(setting.machine, 'pet');
    const thread = await vi.waitFor(() => {
      const found = setting.shared.threads.registry.all().find(({ sessionName }) => sessionName === 'pet');
      expect(found?.agent).toBe('parrot');
      return found?.thread ?? '';
    }, WAIT);
    await setting.untilMarked(await setting.say(thread, 'hello'), '✅');
    expect(noted('prompt')).toEqual(['hello']);
    await setting.answer(thread, /runs without our hooks/);
    await setting.say(thread, 'run ls');
    const card = await setting.answer(thread, /^🔔 \*\*May I run: ls\*\*/);
    await tap(setting, card, 'Yes');
    await vi.waitFor(() => expect(noted('decided')).toEqual(['allow ls']), WAIT);
    expect(noted('into-dialog')).toEqual([]);
    await aWhile(100);
  });
});

/** The button whose label is this. */
async function tap({ workspace }: Setting, message: WireMessage, label: string): Promise<void> {
  const buttons = (message.components ?? []).flatMap((row) => (row as { components: readonly Button[] }).components);
  const id = buttons.find((one) => one.label === label)?.custom_id ?? '';
  await workspace.person.tap(message.channel_id, message.id, id);
}

interface Button {
  readonly label?: string;
  readonly custom_id: string;
}

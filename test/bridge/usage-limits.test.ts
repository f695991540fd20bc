// A usage limit stops the agent: the thread says when it resets, messages wait for it, and "continue" is sent at most once.

import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it, vi } from 'vitest';
import type { Project } from '../../core/project.ts';
import type { FakeClaude } from '../support/fake-claude.ts';
import { buttonsOf } from '../support/prompt-pane.ts';
import { aWhile, reconcile, type Setting, startSetting, untilPrompts, WAIT } from './bridge-setup.ts';
import { tap } from './tap-message.ts';

async function begin(onLimit: Project['onLimit']) {
  const setting = await startSetting({ file: { onLimit } });
  const claude = await setting.claude('web', { replies: false });
  await setting.untilMarked(await setting.say(claude, 'work'), '✅');
  return { setting, claude };
}

/** The time of a reset as Claude Code writes it. */
function clock(at: number): string {
  const time = new Date(at).toLocaleTimeString('en-US', { hour: 'numeric', minute: '2-digit', timeZone: 'UTC' });
  return `${time.replace(/\s([AP]M)/, (_, half: string) => half.toLowerCase())} (UTC)`;
}

function hook({ machine }: Setting, claude: FakeClaude, event: string, more: object): void {
  const { claudeSession, transcript, cwd } = claude.record();
  const input = { session_id: claudeSession, transcript_path: transcript, cwd, hook_event_name: event, ...more };
  machine.write(machine.paneEnv('=web:'), input);
}

function reach(setting: Setting, claude: FakeClaude, resetsAt = Date.now() + 3_600_000): void {
  const said = `You've hit your session limit · resets ${clock(resetsAt)}`;
  hook(setting, claude, 'StopFailure', { error: 'rate_limit', last_assistant_message: said });
}

const STOPPED =
  /^⚠️ Claude stopped: a usage limit was reached\.\n> You've hit your session limit.*\nIt resets on \w+day, .*\d\d:\d\d \(.*\)\./;
const limitOf = ({ shared }: Setting, claude: FakeClaude) => shared.threads.registry.get(claude.thread)?.limit;

/** The limit is reset in a moment; the bridge is restarted. */
async function restartAtReset(setting: Setting, claude: FakeClaude): Promise<void> {
  await setting.stop();
  const at = Date.now() + 1_500;
  const paths = [setting.machine.home.path('threads', `${claude.thread}.json`), schedulesOf(setting)];
  const [record, schedules] = paths.map((path) => JSON.parse(readFileSync(path, 'utf8')));
  writeFileSync(paths[0] ?? '', JSON.stringify({ ...record, limit: { ...record.limit, resetsAt: at - 120_000 } }));
  const messages = schedules.messages.map((one: object) => ({ ...one, due: at, rule: { kind: 'once', at } }));
  writeFileSync(paths[1] ?? '', JSON.stringify({ ...schedules, messages }));
  await setting.restart();
}

const schedulesOf = ({ machine }: Setting) => machine.home.path('state', 'local.schedules.json');
const continues = async (setting: Setting, claude: FakeClaude) =>
  (await setting.answers(claude)).filter(({ content }) => content.startsWith('continue\n-# ⏳'));

describe('a usage limit', () => {
  it('is told with its time, and nothing waits by default', async () => {
    const { setting, claude } = await begin('tell');
    reach(setting, claude);
    const notice = await setting.answer(claude, STOPPED);
    expect(notice.content).not.toMatch(/wait/);
    expect(buttonsOf(notice)).toEqual([]);
    await setting.untilMarked(await setting.say(claude, 'again'), '✅');
  });

  it('without a time is told and not waited for', async () => {
    const { setting, claude } = await begin('continue');
    const said = 'API Error: Request rejected (429) · scripted';
    hook(setting, claude, 'StopFailure', { error: 'rate_limit', last_assistant_message: said });
    const notice = await setting.answer(claude, /^⚠️ Claude stopped: a usage limit was reached/);
    expect(notice.content).not.toMatch(/resets/);
    await setting.untilMarked(await setting.say(claude, 'again'), '✅');
  });

  it('makes messages wait with one notice, also across a restart, and then they go in order', async () => {
    const { setting, claude } = await begin('hold');
    await setting.say(claude, '!at +9h something'); // the file of scheduled messages exists
    reach(setting, claude);
    const notice = await setting.answer(claude, /Messages in this thread wait until then\.$/);
    expect(buttonsOf(notice).map(({ label }) => label)).toEqual(['Cancel']);
    const messages = [];
    for (const text of ['one', 'two']) messages.push(await setting.say(claude, text));
    for (const message of messages) await setting.untilMarked(message, '📨');
    const waits = await setting.answer(claude, /^📨 Your message waits\. A usage limit is reached\. It resets on /);
    expect(waits.message_reference?.message_id).toBe(messages[0]?.id);
    await setting.restart();
    await aWhile();
    expect(claude.prompts()).toEqual(['work']);
    await restartAtReset(setting, claude);
    await untilPrompts(claude, ['work', 'one', 'two', 'something']);
    for (const message of messages) await setting.untilMarked(message, '✅');
    expect((await setting.answers(claude)).filter(({ content }) => /^📨/.test(content))).toEqual([]);
    expect(await continues(setting, claude)).toEqual([]);
  });

  it('holds nothing back once the session has ended', async () => {
    const { setting, claude } = await begin('hold');
    reach(setting, claude);
    await setting.answer(claude, /Messages in this thread wait until then\.$/);
    setting.machine.tmux.call('kill-session', '-t', '=web');
    await reconcile(setting);
    await vi.waitFor(() => expect(setting.shared.threads.registry.get(claude.thread)?.closed).toBe(true), WAIT);
    const message = await setting.say(claude, 'hello?');
    await setting.untilMarked(message, '⚠️');
    await setting.answer(claude, /Not delivered\. The session is not running/);
  });

  it('does not make messages wait after Cancel', async () => {
    const { setting, claude } = await begin('continue');
    const at = Date.now() + 3_600_000;
    reach(setting, claude, at);
    const notice = await setting.answer(claude, /wait until then, and the agent is told to continue\.$/);
    const message = await setting.say(claude, 'one');
    await setting.untilMarked(message, '📨');
    await tap(setting, notice, 'Cancel');
    await setting.untilMarked(message, '✅');
    // The same limit is reached again: the user has decided already.
    reach(setting, claude, at);
    await vi.waitFor(async () => {
      const told = (await setting.answers(claude)).filter(({ content }) => STOPPED.test(content));
      expect(told.map(buttonsOf)).toEqual([[], []]);
    }, WAIT);
    await setting.untilMarked(await setting.say(claude, 'two'), '✅');
  });
});

describe('"continue"', () => {
  it('is sent once at the reset, and not again for the same limit', async () => {
    const { setting, claude } = await begin('continue');
    reach(setting, claude);
    await setting.answer(claude, /the agent is told to continue\.$/);
    await restartAtReset(setting, claude);
    await untilPrompts(claude, ['work', 'continue']);
    await setting.untilMarked((await continues(setting, claude))[0] as never, '✅');
    // Its reset was stated a little too early.
    reach(setting, claude, Date.now() + 60_000);
    await setting.answer(claude, /Messages in this thread wait until then\.$/);
    expect(limitOf(setting, claude)).toMatchObject({ state: 'held', sent: true });
    await setting.restart();
    await aWhile();
    expect(readFileSync(schedulesOf(setting), 'utf8')).not.toContain('"continue"');
    expect(await continues(setting, claude)).toHaveLength(1);
  });

  it.each([
    ['a person wrote in the thread', (setting: Setting, claude: FakeClaude) => setting.say(claude, 'mine'), ['mine']],
    [
      'the agent went on',
      async (setting: Setting, claude: FakeClaude) => {
        hook(setting, claude, 'UserPromptSubmit', { prompt: 'written in the terminal', prompt_id: 'p2' });
        await vi.waitFor(() => expect(limitOf(setting, claude)?.state).toBe('over'), WAIT);
      },
      [],
    ],
  ] as const)('is not sent if %s', async (_, act, prompts) => {
    const { setting, claude } = await begin('continue');
    reach(setting, claude);
    await setting.answer(claude, /the agent is told to continue\.$/);
    await vi.waitFor(() => expect(readFileSync(schedulesOf(setting), 'utf8')).toContain('"continue"'), WAIT);
    await act(setting, claude);
    await restartAtReset(setting, claude);
    await vi.waitFor(() => expect(readFileSync(schedulesOf(setting), 'utf8')).not.toContain('"continue"'), WAIT);
    await untilPrompts(claude, ['work', ...prompts]);
    expect(await continues(setting, claude)).toEqual([]);
  });
});

describe('the dialog of a usage limit', () => {
  const DIALOG = {
    title: 'What do you want to do?',
    options: ['Upgrade your plan', 'Stop and wait for limit to reset'],
    at: 0,
    numbered: true,
  };

  it('is answered with "Stop and wait", and messages wait', async () => {
    const { setting, claude } = await begin('hold');
    reach(setting, claude);
    await claude.tell('choice', DIALOG);
    await vi.waitFor(
      () => expect(claude.noted()).toContainEqual({ kind: 'chosen', text: 'Stop and wait for limit to reset' }),
      WAIT,
    );
    await setting.untilMarked(await setting.say(claude, 'one'), '📨');
    expect(claude.noted().filter(({ kind }) => kind === 'chosen')).toHaveLength(1);
    expect((await setting.answers(claude)).filter(({ content }) => /^🔔/.test(content))).toEqual([]);
  });

  it('gets a card if nothing is held', async () => {
    const { setting, claude } = await begin('tell');
    reach(setting, claude);
    await setting.answer(claude, STOPPED);
    await claude.tell('choice', DIALOG);
    const card = await setting.answer(claude, /^🔔 \*\*What do you want to do\?\*\*/);
    expect(buttonsOf(card).map(({ label }) => label)).toEqual([...DIALOG.options, 'Esc: cancel']);
    await aWhile(1_500);
    expect(claude.noted().filter(({ kind }) => kind === 'chosen')).toEqual([]);
  });
});

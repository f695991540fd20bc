// Texts that begin with "/": passed to Claude, held until a person taps, or typed as text; and what they print.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import type { FakeClaude } from '../support/fake-claude.ts';
import { buttonOf } from '../support/prompt-pane.ts';
import type { WireMessage } from '../support/workspace.ts';
import {
  aWhile,
  openSuggestions,
  reconcile,
  type Setting,
  type SettingOptions,
  shareSetting,
  startSetting,
  WAIT,
} from './bridge-setup.ts';

const begin = shareSetting();

async function beginWith(options: SettingOptions) {
  const setting = await startSetting(options);
  const claude = await setting.claude('web');
  return { setting, claude };
}

const HELD = /^❔/;
const noted = (claude: FakeClaude) => claude.noted().map(({ kind, text }) => [kind, text]);

async function tap({ workspace }: Setting, claude: FakeClaude, question: WireMessage, label: string) {
  await workspace.person.tap(claude.thread, question.id, buttonOf(question, label));
}

/** The folder of the user on the machine of the setting. */
function ownCommand({ machine }: Setting, path: string, text: string): void {
  const file = join(machine.env.HOME ?? '/nowhere', '.claude/commands', path);
  mkdirSync(join(file, '..'), { recursive: true });
  writeFileSync(file, text);
}

describe('a known command', () => {
  it('of Claude Code or of the user is passed, and its output is posted', async () => {
    const { setting, claude } = await begin();
    ownCommand(setting, 'print/it.md', 'Prints');
    for (const text of ['/review 12', '/print:it now'])
      await setting.untilMarked(await setting.say(claude, text), '✅');
    const posted = await setting.answer(claude, /has printed/);
    expect(posted.content).toBe('```\n/print:it now has printed this\n```');
    expect(noted(claude)).toEqual([
      ['slash', '/review 12'],
      ['slash', '/print:it now'],
    ]);
  });

  it('prints once, in order, also if it is given twice', async () => {
    const { setting, claude } = await begin();
    ownCommand(setting, 'print.md', 'Prints');
    for (const text of ['/print one', '/print two']) await setting.untilMarked(await setting.say(claude, text), '✅');
    await setting.answer(claude, /two has printed/);
    await aWhile(1_500);
    const said = (await setting.answers(claude)).flatMap(({ content }) => content.match(/\/print \w+/g) ?? []);
    expect(said).toEqual(['/print one', '/print two']);
  });
});

describe('what a command prints when its dialog is closed', () => {
  it('is posted at once, in its own message, and not under a later command', async () => {
    const { setting, claude } = await begin();
    ownCommand(setting, 'print.md', 'Prints');
    await claude.tell('asksModel', true);
    const first = await setting.say(claude, '/model opus');
    const card = await setting.answer(claude, /Switch model\?/);
    await aWhile(9_000); // by now, the transcript is read only every 8 seconds, and then less often
    await tap(setting, claude, card, 'No, go back');
    const closed = Date.now();
    const printed = await setting.answer(claude, /Kept model/);
    expect(Date.now() - closed).toBeLessThan(3_000);
    expect(printed.message_reference?.message_id).toBe(first.id);
    await setting.untilMarked(await setting.say(claude, '/print two'), '✅');
    expect((await setting.answer(claude, /two has printed/)).content).not.toContain('Kept');
    const kept = (await setting.answers(claude)).filter(({ content }) => content.includes('Kept model'));
    expect(kept.map(({ content }) => content)).toEqual(['```\nKept model as Sonnet 5\n```']);
  });

  it('is not posted under another command that is still open', async () => {
    const { setting, claude } = await begin();
    await setting.untilMarked(await setting.say(claude, '/review'), '✅');
    await claude.tell('asksModel', false);
    await claude.tell('draft', '/model haiku');
    setting.machine.tmux.call('send-keys', '-t', `=${claude.session}:`, 'Enter');
    await aWhile(5_000);
    expect((await setting.answers(claude)).filter(({ content }) => content.includes('Set model'))).toEqual([]);
  });
});

describe('an unknown command', () => {
  it('waits for a tap, and is typed as text', async () => {
    const { setting, claude } = await begin();
    const message = await setting.say(claude, '/shrug I do not know');
    const question = await setting.answer(claude, HELD);
    expect(question.content).toContain('Claude has no command `/shrug` here');
    await setting.untilMarked(message, '📨');
    const later = await setting.say(claude, 'not held up');
    await setting.untilMarked(later, '✅');
    await tap(setting, claude, question, 'Send as text');
    await setting.untilMarked(message, '✅');
    await vi.waitFor(() => expect(claude.prompts()).toEqual(['not held up', '/shrug I do not know']), WAIT);
    await vi.waitFor(async () => {
      const now = (await setting.answers(claude)).find(({ id }) => id === question.id);
      expect(now).toMatchObject({ content: '-# 💬 Sent as text.', components: [] });
    }, WAIT);
  });

  it('runs if the person insists, once, however often it is tapped', async () => {
    const { setting, claude } = await begin();
    const message = await setting.say(claude, '/mcp__tool');
    const question = await setting.answer(claude, HELD);
    await Promise.all([1, 2, 3].map(() => tap(setting, claude, question, 'Run /mcp__tool').catch(() => {})));
    await setting.untilMarked(message, '✅');
    await aWhile(500);
    expect(noted(claude)).toEqual([['slash', '/mcp__tool']]);
  });

  it('is not asked about in a shell, where it is a program', async () => {
    const setting = await startSetting();
    const { channelId } = setting.workspace;
    await setting.say(channelId, '!new ops -- sh');
    const up = await setting.answer(channelId, /^▶️ `ops` is up/);
    const thread = /<#(\d+)>/.exec(up.content)?.[1] ?? '';
    await setting.untilMarked(await setting.say(thread, '/nonsense x'), '✅');
    await setting.answer(thread, /not found|No such file/);
  });
});

describe('a command that changes the account or the installation', () => {
  it('is passed only after a tap', async () => {
    const { setting, claude } = await begin();
    const message = await setting.say(claude, '/login');
    const question = await setting.answer(claude, HELD);
    expect(question.content).toBe('❔ `/login` changes the account that the agent uses. Run it?');
    await aWhile(500);
    expect(noted(claude)).toEqual([]);
    await tap(setting, claude, question, 'Run /login');
    await setting.untilMarked(message, '✅');
    expect(noted(claude)).toEqual([['slash', '/login']]);
  });

  it('is not passed to the session that came after the one it was written for', async () => {
    const { setting, claude } = await beginWith({});
    const message = await setting.say(claude, '/login');
    const question = await setting.answer(claude, HELD);
    setting.machine.tmux.call('new-session', '-d', '-s', 'keep');
    setting.machine.tmux.call('kill-session', '-t', '=web');
    await reconcile(setting);
    const next = await setting.claude('web');
    expect(next.thread).toBe(claude.thread);
    await tap(setting, next, question, 'Run /login');
    await setting.untilMarked(message, '⚠️');
    await setting.answer(next, /^⚠️ `\/login` was not sent, because another session runs here now/);
    expect(noted(next)).toEqual([]);
  });

  it('is not passed if it is cancelled', async () => {
    const { setting, claude } = await begin();
    const message = await setting.say(claude, '/logout');
    await tap(setting, claude, await setting.answer(claude, HELD), 'Cancel');
    await setting.untilMarked(message, '⚠️');
    await setting.answer(claude, /`\/logout` was not sent/);
    expect(noted(claude)).toEqual([]);
  });

  it('has no other reaction than ⚠️ if it is cancelled at once', async () => {
    const { setting, claude } = await beginWith({ waits: { markMs: 3_000 } });
    const message = await setting.say(claude, '/logout');
    const asked = Date.now();
    await tap(setting, claude, await setting.answer(claude, HELD), 'Cancel');
    await setting.untilMarked(message, '⚠️');
    await aWhile(3_500 - (Date.now() - asked));
    await setting.untilMarked(message, '⚠️');
  });

  it('is asked again after a restart, in the same message with other buttons', async () => {
    const { setting, claude } = await begin();
    const message = await setting.say(claude, '/exit');
    const old = await setting.answer(claude, HELD);
    await setting.restart();
    const again = await vi.waitFor(async () => {
      const questions = (await setting.answers(claude)).filter(({ content }) => HELD.test(content));
      expect(questions.map(({ id }) => id)).toEqual([old.id]);
      expect(buttonOf(questions[0] as WireMessage, 'Run /exit')).not.toBe(buttonOf(old, 'Run /exit'));
      return questions[0] as WireMessage;
    }, WAIT);
    expect(noted(claude)).toEqual([]);
    await tap(setting, claude, again, 'Run /exit');
    await setting.untilMarked(message, '✅');
    expect(noted(claude)).toEqual([['slash', '/exit']]);
  });

  it('is not passed if nobody taps in time', async () => {
    const { setting, claude } = await beginWith({ waits: { heldMs: 300 } });
    const message = await setting.say(claude, '/logout');
    await setting.untilMarked(message, '⚠️');
    const over = await setting.answer(claude, /was not sent, because nobody answered/);
    expect(over.components).toEqual([]);
    await aWhile();
    expect(noted(claude)).toEqual([]);
  });

  it('is not passed by a tap in another thread', async () => {
    const { setting, claude } = await begin();
    const other = await setting.claude('other');
    await setting.say(claude, '/logout');
    const question = await setting.answer(claude, HELD);
    const [, id = ''] = buttonOf(question, 'Run /logout').split(':');
    const { thread } = other.record();
    const posted = await setting.workspace.bot('POST', `/channels/${thread}/messages`, {
      content: 'forged',
      components: [{ type: 1, components: [{ type: 2, style: 1, label: 'x', custom_id: `held:${id}:command` }] }],
    });
    await setting.workspace.person.tap(thread, posted.body.id, `held:${id}:command`);
    await aWhile(500);
    expect(noted(claude)).toEqual([]);
    expect(noted(other)).toEqual([]);
  });
});

describe('"slashCommands" of the configuration', () => {
  it('restricts what is passed; the rest can only be sent as text', async () => {
    const { setting, claude } = await beginWith({ file: { slashCommands: ['/compact'] } });
    await setting.untilMarked(await setting.say(claude, '/compact'), '✅');
    const message = await setting.say(claude, '/clear');
    const question = await setting.answer(claude, HELD);
    expect(question.content).toContain('"slashCommands"');
    expect(JSON.stringify(question.components)).not.toContain('Run /clear');
    await tap(setting, claude, question, 'Send as text');
    await setting.untilMarked(message, '✅');
    const wanted = [
      ['slash', '/compact'],
      ['prompt', '/clear'],
    ]; // it notes a prompt after its hook
    await vi.waitFor(() => expect(noted(claude)).toEqual(wanted), WAIT);
  });
});

describe('"slashCommands" that changes while a command waits', () => {
  const only = (setting: Setting, slashCommands: readonly string[]) => Object.assign(setting.config, { slashCommands });

  it('refuses a command whose question was still open', async () => {
    const { setting, claude } = await beginWith({});
    const message = await setting.say(claude, '/login');
    const question = await setting.answer(claude, HELD);
    only(setting, ['/compact']);
    await tap(setting, claude, question, 'Run /login');
    await setting.untilMarked(message, '⚠️');
    await setting.answer(claude, /"slashCommands" of the configuration, which has changed/);
    expect(noted(claude)).toEqual([]);
  });

  it('refuses a command that waits for its session', async () => {
    const { setting, claude } = await beginWith({});
    await claude.tell('dialog', 'rm -rf /');
    const message = await setting.say(claude, '/clear');
    await setting.untilMarked(message, '📨');
    only(setting, ['/compact']);
    await setting.untilMarked(message, '⚠️');
    expect(noted(claude)).toEqual([]);
  });
});

describe('/claude', () => {
  it('suggests the commands of Claude and of the user with their owners, and delivers like a message', async () => {
    const { setting, claude } = await begin();
    ownCommand(setting, 'statement.md', 'Writes a statement');
    const suggested = await openSuggestions(setting, claude.thread);
    expect(await suggested('claude', 'command', '/stat')).toEqual(['/statement', '/status', '/statusline', '/usage']);
    const { person } = setting.workspace;
    await person.slash(claude.thread, 'claude', [
      { name: 'command', value: '/status' },
      { name: 'arguments', value: 'now' },
    ]);
    const sent = await setting.answer(claude, /^\/status now$/);
    await setting.untilMarked(sent, '✅');
    expect(noted(claude)).toEqual([['slash', '/status now']]);
    await person.slash(setting.workspace.channelId, 'claude', [{ name: 'command', value: '/status' }]);
    await setting.answer(setting.workspace.channelId, /Use this in a session’s thread/);
  });

  it('asks about a command that needs it, and can be tried again when it failed', async () => {
    const { setting, claude } = await begin();
    const { person } = setting.workspace;
    await person.slash(claude.thread, 'claude', [{ name: 'command', value: 'logout' }]);
    const sent = await setting.answer(claude, /^\/logout$/);
    await tap(setting, claude, await setting.answer(claude, HELD), 'Cancel');
    await setting.untilMarked(sent, '⚠️');
    await setting.say(claude, `!retry ${sent.id}`);
    await setting.answer(claude, /Typing it again/);
    const again = await setting.answer(claude, /changes the account/);
    await tap(setting, claude, again, 'Run /logout');
    await setting.untilMarked(sent, '✅');
    expect(noted(claude)).toEqual([['slash', '/logout']]);
  });
});

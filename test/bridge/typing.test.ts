// Claude gets exactly what a user writes in a thread. The record of the fake Claude Code proves it.

import { describe, expect, it, vi } from 'vitest';
import { openCursors, openInbox } from '../../bridge/inbox.ts';
import { snowflakeAt } from '../../core/snowflake.ts';
import type { FakeClaude } from '../support/fake-claude.ts';
import { aWhile, type Setting, screenOf, shareSetting, startSetting, untilPrompts, WAIT } from './bridge-setup.ts';

const TEXTS = [
  'hello',
  'one\ntwo\n\n  three',
  '/not/a/command but a path',
  '@someone look',
  '#tag first',
  '& ampersand',
  '-rf --help',
  'ends with a backslash \\',
  'ends with @package.json',
  'ends with;',
  `"quotes" 'and' $(touch /nowhere/pwned) \`id\` \${HOME} #{pane_id} #(id) %if`,
  'emoji 👩‍👩‍👧 ünï 漢字',
  '\\; kill-server',
  'Enter C-c Escape',
  '~root',
  '\u202eright to left',
];

const share = shareSetting();

describe('a message in a thread', () => {
  it('is submitted as it was written, and gets 👀, then only ✅', async () => {
    const { setting, claude } = await share();
    for (const text of TEXTS) await setting.untilMarked(await setting.say(claude, text), '✅');
    await untilPrompts(claude, TEXTS);
    expect(claude.noted().filter(({ kind }) => kind !== 'prompt')).toEqual([]);
  });

  it('has 👀 from when it was typed until Claude has taken it', async () => {
    const { setting, claude } = await share();
    await claude.tell('busy');
    const messages = [];
    for (const text of ['first', 'first', 'second']) messages.push(await setting.say(claude, text));
    for (const message of messages) await setting.untilMarked(message, '👀');
    await claude.tell('idle');
    await untilPrompts(claude, ['first', 'first', 'second']);
    for (const message of messages) await setting.untilMarked(message, '✅');
  });

  it('does not answer a dialog that opens while it is typed, and is submitted when the dialog is closed', async () => {
    const { setting, claude } = await share();
    // As the real one offers auto mode, a moment after its start.
    const offer = { title: 'Make auto mode your default?', options: ['Yes', 'No'], at: 0, help: '' };
    await claude.tell('offer', offer);
    const message = await setting.say(claude, 'hello');
    await vi.waitFor(() => expect(screenOf(setting.machine, claude.session)).toContain('Make auto mode'), WAIT);
    await aWhile(2_000);
    expect(claude.noted()).toEqual([]);
    setting.machine.tmux.call('send-keys', '-t', `=${claude.session}:`, 'Down', 'Enter');
    await setting.untilMarked(message, '✅');
    await untilPrompts(claude, ['hello']);
    expect(claude.noted().map(({ kind, text }) => `${kind}: ${text}`)).toEqual(['chosen: No', 'prompt: hello']);
  });

  it('is typed again if a dialog that opened in that moment took the text', async () => {
    const { setting, claude } = await share();
    // As the real one does, if it reads the paste after it has opened the dialog.
    const offer = { title: 'Make auto mode your default?', options: ['Yes', 'No'], at: 0, help: '', takesText: true };
    await claude.tell('offer', offer);
    const message = await setting.say(claude, 'hello');
    await vi.waitFor(() => expect(screenOf(setting.machine, claude.session)).toContain('Make auto mode'), WAIT);
    await aWhile(1_000);
    setting.machine.tmux.call('send-keys', '-t', `=${claude.session}:`, 'Down', 'Enter');
    await setting.untilMarked(message, '✅');
    await untilPrompts(claude, ['hello']);
    expect(claude.noted().map(({ kind, text }) => `${kind}: ${text}`)).toEqual(['chosen: No', 'prompt: hello']);
    expect((await setting.answers(claude)).filter(({ content }) => content.startsWith('⚠️'))).toEqual([]);
  });

  it('is typed once each time the same text is written', async () => {
    const { setting, claude } = await share();
    const messages = await Promise.all(Array.from({ length: 6 }, () => setting.say(claude, 'again')));
    for (const message of messages) await setting.untilMarked(message, '✅');
    expect(claude.prompts()).toEqual(Array(6).fill('again'));
  });

  it('is typed if the screen still shows the message before it, whose receipt was faster, and stashes nothing', async () => {
    const { setting, claude } = await share();
    await claude.tell('late', 700);
    for (const text of ['again', 'again', 'other']) await setting.untilMarked(await setting.say(claude, text), '✅');
    expect(claude.noted().map(({ kind, text }) => `${kind}: ${text}`)).toEqual([
      'prompt: again',
      'prompt: again',
      'prompt: other',
    ]);
  });

  it('arrives whole when it is long: 20 kB, 300 lines', async () => {
    const { setting, claude } = await share();
    const long = Array.from({ length: 300 }, (_, n) => `${n} ${'äöü "$x" '.repeat(7)}.`).join('\n');
    expect(Buffer.byteLength(long)).toBeGreaterThan(20_000);
    await setting.bridge.close();
    leave(setting, claude, long);
    await setting.restart();
    await untilPrompts(claude, [long]);
  });

  it('that ends with half an emoji does not damage the screen for the next one', async () => {
    const { setting, claude } = await share();
    for (const text of ['family 👩\u200d', '👩\u200d\nand more', 'next'])
      await setting.untilMarked(await setting.say(claude, text), '✅');
    expect(claude.prompts()).toEqual(['family 👩', '👩\nand more', 'next']);
  });

  it('keeps a half-written draft, which is restored afterwards', async () => {
    const { setting, claude } = await share();
    await claude.tell('draft', 'half a thought');
    await setting.untilMarked(await setting.say(claude, 'by the way'), '✅');
    expect(claude.prompts()).toEqual(['by the way']);
    expect((await claude.tell('close')).box).toBe('half a thought');
    await setting.untilMarked(await setting.say(claude, 'once more'), '✅');
    expect(claude.prompts()).toEqual(['by the way', 'once more']);
    expect((await claude.tell('close')).box).toBe('half a thought');
  });

  it('leaves copy mode first', async () => {
    const { setting, claude } = await share();
    setting.machine.tmux.call('copy-mode', '-t', `=${claude.session}:`);
    await setting.untilMarked(await setting.say(claude, 'hello\nyou'), '✅');
    expect(claude.noted()).toEqual([{ kind: 'prompt', text: 'hello\nyou' }]);
  });

  it('waits while a dialog is open, and approves nothing', async () => {
    const { setting, claude } = await share();
    await claude.tell('dialog', 'rm -rf /');
    const messages = [await setting.say(claude, '1'), await setting.say(claude, 'yes, do it')];
    const [first, second] = messages as [(typeof messages)[0], (typeof messages)[0]];
    const word = await setting.answer(claude, /^📨 Your message waits\./);
    expect(word.content).toContain('asking for permission');
    expect(word.content).toContain('Answer it, and your message is typed');
    const card = await setting.answer(claude, /^🔔 \*\*Bash command/);
    expect(card.content).toContain('rm -rf /');
    expect(await setting.marks(first)).toEqual(['📨']);
    await aWhile();
    expect(claude.noted()).toEqual([]);
    await claude.tell('close');
    for (const message of messages) await setting.untilMarked(message, '✅');
    expect(claude.noted()).toEqual([
      { kind: 'prompt', text: '1' },
      { kind: 'prompt', text: 'yes, do it' },
    ]);
    expect(second.id > first.id).toBe(true);
  });

  it('runs a Claude Code command, and posts and closes the panel that it opens', async () => {
    const { setting, claude } = await share();
    const clear = await setting.say(claude, '/clear');
    await setting.untilMarked(clear, '✅');
    const cost = await setting.say(claude, '/cost');
    await setting.untilMarked(cost, '✅');
    await setting.answer(claude, /^📋 \*\*Usage[\s\S]*Total cost/);
    await vi.waitFor(() => expect(screenOf(setting.machine, claude.session)).toContain('❯'), WAIT);
    expect(claude.noted().map(({ text }) => text)).toEqual(['/clear', '/cost', '\u001b']);
  });

  it('that starts with "!" is never typed, and is answered in one line', async () => {
    const setting = await startSetting({ file: { allowShell: false } });
    const claude = await setting.claude('web');
    for (const text of ['!echo pwned', '! ls', '!', '!rm -rf /', ' !id', '!sh id']) await setting.say(claude, text);
    await vi.waitFor(async () => {
      const said = (await setting.answers(claude)).filter(({ content }) => content.startsWith('⚠️'));
      expect(said).toHaveLength(6);
      expect(said.filter(({ content }) => content.includes('is not a command'))).toHaveLength(5);
    }, WAIT);
    expect(claude.noted()).toEqual([]);
  });
});

/** Like a process that was killed right after it had accepted a message. */
function leave(setting: Setting, claude: FakeClaude, text: string): void {
  const { machine, workspace } = setting;
  const cursors = openCursors(machine.home.path('state', 'unused.json'), 0);
  openInbox(machine.home.folder('inbox'), cursors).take({
    id: snowflakeAt(Date.now()),
    channelId: claude.thread,
    authorId: workspace.userId,
    author: 'someone',
    text,
    attachments: [],
  });
}

// Sessions start as their project says, and a thread has settings of its own.

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { claude } from '../../../agents/claude/driver.ts';
import { modeStep } from '../../../bridge/commands/switch-mode.ts';
import type { ServerConfig } from '../../../core/config.ts';
import { standInAt } from '../../support/fake-claude.ts';
import { startPromptPane } from '../../support/prompt-pane.ts';
import { tempFolder } from '../../support/temp-home.ts';
import { openSuggestions, startSetting, WAIT } from '../bridge-setup.ts';
import { writeAgent } from '../project-setup.ts';
import { linked, tap } from '../tap-message.ts';

/** A server whose only channel is that of one project, and a fake Claude Code that notes how it was started. */
async function inProject(defaults: ServerConfig['projects'][number]['defaults'], mayBypass = false) {
  const [folder, path] = [tempFolder(), tempFolder()];
  const program = join(folder, 'claude');
  const setting = await startSetting({
    file: { agents: { claude: { command: [program] } }, skipPermissions: mayBypass ? [path] : [] },
    servers: (own) => [{ ...own, onlyProjects: true, projects: [{ path, channel: own.channel, defaults }] }],
  });
  const note = `printf '%s\\n' "$@" >> ${folder}/args; echo . >> ${folder}/args; pwd > ${folder}/pwd`;
  writeAgent(setting, folder, note);
  const channel = setting.workspace.channelId;
  return {
    setting,
    path,
    channel,
    claude: standInAt(folder),
    pwd: () => readFileSync(join(folder, 'pwd'), 'utf8').trim(),
    /** The arguments of each start. */
    starts: () =>
      readFileSync(join(folder, 'args'), 'utf8')
        .split('\n.\n')
        .slice(0, -1)
        .map((one) => one.split('\n').filter(Boolean)),
    async start(text: string) {
      await setting.say(channel, text);
      return linked((await setting.answer(channel, /^▶️/)).content);
    },
  };
}

describe('!new in the channel of a project', () => {
  it('starts in its directory with its defaults, unless others are given, and again with what was given', async () => {
    const shop = await inProject({ model: 'opus', permissionMode: 'plan', args: ['--add-dir', '/srv'] });
    const { setting, channel } = shop;
    const thread = await shop.start('!new cart --model haiku');
    expect(shop.pwd()).toBe(shop.path);
    expect(shop.starts()).toEqual([['--model', 'haiku', '--permission-mode', 'plan', '--add-dir', '/srv']]);
    const record = () => setting.shared.threads.registry.get(thread);
    expect(record()?.settings).toEqual({ model: 'haiku' });

    await setting.say(thread, '!set');
    const list = await setting.answer(thread, /^\*\*model\*\*/);
    expect(list.content.split('\n').slice(0, 3)).toEqual([
      '**model**: `haiku`, from this thread.',
      '**mode**: `plan`, from its project.',
      '**progress**: `normal`, from the configuration.',
    ]);

    await vi.waitFor(() => expect(record()?.claudeSession).not.toBe(''), WAIT);
    const conversation = record()?.claudeSession;
    await setting.say(channel, '!kill cart');
    await vi.waitFor(() => expect(record()?.closed).toBe(true), WAIT);
    await setting.say(channel, '!new cart --mode acceptEdits --continue');
    await vi.waitFor(() => expect(shop.starts()).toHaveLength(2), WAIT);
    const settings = ['--model', 'haiku', '--permission-mode', 'acceptEdits', '--add-dir', '/srv'];
    expect(shop.starts()[1]).toEqual(['--resume', conversation, ...settings]);
  });

  it('passes --continue if no conversation is known, and says what is wrong in one sentence', async () => {
    const { setting, channel, start, starts, path } = await inProject({});
    await setting.say(channel, '!new cart --modle opus');
    await setting.answer(channel, /^⚠️ `--modle` is not an option of `!new`: did you mean `--model`\?$/);
    await setting.say(channel, '!new cart --mode bypassPermissions');
    const refused = await setting.answer(channel, /may not skip permissions/);
    expect(refused.content).toContain(path);
    await start('!new cart --continue');
    expect(starts()).toEqual([['--continue']]);
  });

  it('skips permissions where the configuration allows it', async () => {
    const { start, starts } = await inProject({}, true);
    await start('!new cart --mode bypassPermissions');
    expect(starts()).toEqual([['--permission-mode', 'bypassPermissions']]);
  });

  it('suggests models that were used before', async () => {
    const { setting } = await inProject({ model: 'claude-opus-5' });
    const suggest = await openSuggestions(setting);
    expect(await suggest('new', 'model', '')).toEqual(['opus', 'sonnet', 'haiku', 'claude-opus-5']);
    expect(await suggest('new', 'mode', 'ma')).toEqual(['manual']);
    expect(await suggest('set', 'setting', '')).toEqual(['model', 'mode', 'progress']);
  });
});

describe('!set', () => {
  it('keeps what was set, gives a model to the running Claude, and removes it again', async () => {
    const { setting, start, claude, channel } = await inProject({ model: 'opus' });
    const thread = await start('!new cart');
    const settings = () => setting.shared.threads.registry.get(thread)?.settings;
    await setting.say(thread, '!set model haiku');
    const reply = await setting.answer(thread, /^⚙️ \*\*model\*\*: sent to Claude as `\/model haiku`\./);
    await setting.untilMarked(reply, '✅');
    await setting.answer(thread, /Set model to haiku\n```\n⚙️ \*\*model\*\*: `haiku`, from this thread\.$/);
    await setting.say(thread, '!set progress quiet');
    await setting.answer(thread, /^⚙️ \*\*progress\*\*: `quiet`/);
    expect(settings()).toEqual({ model: 'haiku', progress: 'quiet' });
    await setting.say(thread, '!set model default');
    await setting.untilMarked(await setting.answer(thread, /^⚙️ .*sent to Claude as `\/model opus`\./), '✅');
    await setting.answer(thread, /Set model to opus\n```\n⚙️ \*\*model\*\*: `opus`, from its project\.$/);
    expect(settings()).toEqual({ progress: 'quiet' });
    expect(claude.noted().map(({ kind, text }) => [kind, text])).toEqual([
      ['slash', '/model haiku'],
      ['slash', '/model opus'],
    ]);

    await setting.say(thread, '!set mdoel opus');
    await setting.answer(thread, /^⚠️ `mdoel` is not a setting: did you mean `model`\?$/);
    await setting.say(thread, '!set mode bypassPermissions');
    await setting.answer(thread, /may not skip permissions/);
    await setting.say(channel, '!set model opus');
    await setting.answer(channel, /Use this in a session’s thread/);
    expect(settings()).toEqual({ progress: 'quiet' });
  });
});

describe('!set model, where Claude asks to confirm it,', () => {
  async function asked() {
    const { setting, start, claude } = await inProject({});
    const thread = await start('!new cart --model sonnet');
    await claude.tell('asksModel', true);
    await setting.say(thread, '!set model opus');
    const card = await setting.answer(thread, /Switch model\?/);
    const model = () => setting.shared.threads.registry.get(thread)?.settings?.model;
    return { setting, thread, card, model };
  }

  it('changes nothing before it is taken, or if it is declined', async () => {
    const { setting, thread, card, model } = await asked();
    expect(model()).toBe('sonnet');
    await tap(setting, card, 'No, go back');
    await setting.answer(
      thread,
      /Kept model as Sonnet 5\n```\n⚙️ \*\*model\*\* was not changed: `sonnet`, from this thread\.$/,
    );
    await setting.say(thread, '!set');
    await setting.answer(thread, /^\*\*model\*\*: `sonnet`, from this thread\./);
    expect(model()).toBe('sonnet');
  });

  it('is in force when it was taken', async () => {
    const { setting, thread, card, model } = await asked();
    await tap(setting, card, 'Yes, switch');
    await setting.answer(thread, /Set model to opus\n```\n⚙️ \*\*model\*\*: `opus`, from this thread\.$/);
    expect(model()).toBe('opus');
  });
});

it('!set mode presses no key for a command that was written while the bridge was down', async () => {
  const { setting, start, claude } = await inProject({});
  const thread = await start('!new cart');
  const before = claude.noted();
  await setting.stop();
  await setting.say(thread, '!set mode plan');
  await setting.restart();
  await setting.answer(
    thread,
    /\*\*mode\*\*: `plan`.*Claude gets it at its next start\. To change it now, send this again/,
  );
  expect(claude.noted()).toEqual(before);
  expect(setting.shared.threads.registry.get(thread)?.settings).toEqual({ permissionMode: 'plan' });
});

describe('in the thread of a session', () => {
  it('the welcome and !status show the repository, the branch, the model and the mode', async () => {
    const { setting, start, path, channel } = await inProject({ model: 'opus', permissionMode: 'plan' });
    execFileSync('git', ['init', '-q', '-b', 'trunk', path]);
    execFileSync('git', ['-C', path, 'remote', 'add', 'origin', 'https://me:secret@git.test/team/shop.git']);
    const thread = await start('!new cart');
    const welcome = await setting.answer(channel, /`team\/shop`, branch `trunk` · model `opus` · plan mode/);
    expect(welcome.id).toBe(thread);
    await setting.say(thread, '!status');
    const status = await setting.answer(thread, /^🟢 `cart` idle/);
    expect(status.content).toMatch(/^`team\/shop`, branch `trunk`\nClaude · model `opus` · \w+ mode$/m);
  });

  it('!export attaches everything that was said, also after the session has ended, and the thread stays archived', async () => {
    const { setting, start, channel } = await inProject({});
    const thread = await start('!new cart');
    await setting.untilMarked(await setting.say(thread, 'hello <b>'), '✅');
    await setting.say(channel, '!kill cart');
    const isArchived = async () =>
      (await setting.workspace.person.call('GET', `/channels/${thread}`)).body.thread_metadata.archived;
    await vi.waitFor(async () => expect(await isArchived()).toBe(true), WAIT);
    for (const [where, text] of [
      [channel, '!export cart'],
      [thread, '!export'],
    ] as const) {
      await setting.say(where, text);
      const { content, attachments } = await setting.answer(where, /^📄 `\[agent\] cart`/);
      expect(content).toMatch(/: \d+ messages\.$/);
      const [file] = attachments as readonly { filename: string; url: string }[];
      expect(file?.filename).toBe('agent-cart.md');
      const markdown = await fetch(file?.url ?? '', { headers: setting.workspace.person.headers }).then((one) =>
        one.text(),
      );
      expect(markdown).toContain('`cart` on `laptop`');
      expect(markdown).toContain('\nhello \\<b>\n');
      expect(markdown).not.toContain('!export');
    }
    await vi.waitFor(async () => expect(await isArchived()).toBe(true), WAIT);
    await setting.workspace.person.slash(channel, 'export', [{ name: 'name', value: 'cart' }]);
    await vi.waitFor(async () => {
      const made = (await setting.answers(channel)).filter(({ content }) => content.startsWith('📄'));
      expect(made.map(({ attachments }) => attachments.length)).toEqual([1, 1]);
    }, WAIT);
  });
});

describe('Shift-Tab is pressed', () => {
  it.each([
    ['not at all in the wanted mode', 'plan', ['plan'], 'done'],
    ['until the footer shows the wanted mode', 'plan', ['normal', 'acceptEdits'], 'press'],
    ['no more when the footer shows it', 'plan', ['normal', 'acceptEdits', 'plan'], 'done'],
    ['for a full round at most', 'bypassPermissions', ['normal', 'acceptEdits', 'plan', 'normal'], 'not-offered'],
    ['no more if nothing changes', 'plan', ['normal', 'normal'], 'not-taken'],
    ['until the mode that asks for everything', 'default', ['plan', 'auto', 'normal'], 'done'],
  ] as const)('%s', (_, wanted, seen, step) => {
    expect(modeStep(wanted, seen, claude.modes?.names ?? {})).toBe(step);
  });
});

it('!set mode says that the mode has changed if a dialog opens before it is the wanted one', async () => {
  const setting = await startSetting();
  const { machine } = setting;
  const pane = await startPromptPane(machine, 'web', { report: (env, input) => machine.write(env, input) });
  await pane.show('empty-fresh');
  await setting.say(pane.thread, '!set mode plan');
  const pressed = () => machine.tmux.call('show-options', '-pqv', '-t', '=web:', '@threadmux_keys');
  await vi.waitFor(() => expect(pressed()).not.toBe(''), WAIT);
  await pane.show('dialog-permission-bash');
  await setting.answer(
    pane.thread,
    /asking for permission.* so it is in another mode than it was: look with `!status`/,
  );
});

it('!set mode presses no second key while the agent may still take the first one', async () => {
  const setting = await startSetting();
  const { machine } = setting;
  const pane = await startPromptPane(machine, 'web', { report: (env, input) => machine.write(env, input) });
  await pane.show('empty-fresh'); // and nothing else: it does not react
  const pressed = () => machine.tmux.call('show-options', '-pqv', '-t', '=web:', '@threadmux_keys');
  const said = async () =>
    (await setting.answers(pane.thread)).filter(({ content }) => /has not reacted/.test(content));
  await setting.say(pane.thread, '!set mode plan');
  await vi.waitFor(async () => expect(await said()).toHaveLength(1), WAIT);
  const first = pressed();
  expect(first).not.toBe('');
  await setting.say(pane.thread, '!set mode plan');
  await vi.waitFor(async () => expect(await said()).toHaveLength(2), WAIT);
  expect(pressed()).toBe(first);
});

it.each(['busy-empty-box', 'empty-background-agent', 'empty-background-task'])(
  '!set mode presses no key while the agent works (%s): on the way, it would allow edits',
  async (shown) => {
    const setting = await startSetting();
    const { machine } = setting;
    const pane = await startPromptPane(machine, 'web', { report: (env, input) => machine.write(env, input) });
    await pane.show(shown);
    await setting.say(pane.thread, '!set mode plan');
    await setting.answer(
      pane.thread,
      /Claude is working, and the key leads through modes in which edits need no permission/,
    );
    expect(machine.tmux.call('show-options', '-pqv', '-t', '=web:', '@threadmux_keys')).toBe('');
  },
);

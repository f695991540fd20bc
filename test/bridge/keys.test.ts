// Keys are pressed only for the screen that the user saw, and only if they were written while threadmux listened.

import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { openCursors, openInbox } from '../../bridge/inbox.ts';
import { stillNoDialog } from '../../threads/read-pane.ts';
import { pressKeys } from '../../tmux/keys.ts';
import { lookAtPane } from '../../tmux/look.ts';
import { tmuxOn } from '../../tmux/tmux.ts';
import type { Faults } from '../support/as-discord.mjs';
import type { FakeClaude } from '../support/fake-claude.ts';
import { buttonOf, messageNow, startPromptPane } from '../support/prompt-pane.ts';
import { tempFolder } from '../support/temp-home.ts';
import type { WireMessage } from '../support/workspace.ts';
import { openPageSocket } from '../workspace/raw-socket.ts';
import { aWhile, laterBy, type Setting, screenOf, startSetting, WAIT } from './bridge-setup.ts';
import { become, linked, tap } from './tap-message.ts';

const SHOWN = /^```\nStand-in for Claude Code/;
const CHANGED = /^⚠️ Not pressed: the screen has changed/;
const SUDDEN = /^⚠️ Not pressed: the thread shows this screen only since a moment ago/;
const MISSED = /^⚠️ Not pressed: the command is too old/;

const USED = /^⚠️ Not pressed: the key before is not shown yet/;

/** A way to the server that can hold back everything that the server sends. */
async function openStallingLine() {
  const path = join(tempFolder(), 'line');
  const held: (() => void)[] = [];
  let isStalled = false;
  let target = '';
  const server = createServer((socket) => {
    const inside = connect(target);
    socket.pipe(inside);
    inside.on('data', (bytes) => {
      if (isStalled) held.push(() => socket.write(bytes));
      else socket.write(bytes);
    });
    for (const [one, other] of [
      [socket, inside],
      [inside, socket],
    ] as const) {
      one.on('error', () => {}); // closed together
      one.on('close', () => other.destroy());
    }
  });
  await new Promise<void>((done) => server.listen(path, done));
  onTestFinished(() => void server.close());
  return {
    to(api: string) {
      [, target = ''] = /^unix:(.+):/.exec(api) ?? [];
      return api.replace(target, path);
    },
    stall() {
      isStalled = true;
    },
    flow() {
      isStalled = false;
      for (const release of held.splice(0)) release();
    },
  };
}

async function begin() {
  const setting = await startSetting();
  const claude = await setting.claude('web');
  return { setting, claude };
}

async function screenShown(setting: Setting, claude: FakeClaude): Promise<WireMessage> {
  await setting.say(claude, '!screen');
  return setting.answer(claude, SHOWN);
}

describe('a key button', () => {
  it('presses nothing under a screen that shows another dialog than the current one', async () => {
    const { setting, claude } = await begin();
    const shown = await screenShown(setting, claude);
    await claude.tell('dialog', 'rm -rf /');
    await tap(setting, shown, 'Enter');
    const fresh = await become(setting, shown, CHANGED);
    await aWhile();
    expect(claude.noted()).toEqual([]);
    laterBy(1_000); // now it can be read
    await tap(setting, fresh, 'Enter');
    await vi.waitFor(() => expect(claude.noted()).toEqual([{ kind: 'approved', text: 'rm -rf /' }]), WAIT);
  });

  it('presses nothing under another dialog', async () => {
    const { setting, claude } = await begin();
    await claude.tell('dialog', 'make');
    const shown = await screenShown(setting, claude);
    await claude.tell('dialog', 'rm -rf /');
    await tap(setting, shown, 'Enter');
    await become(setting, shown, CHANGED);
    expect(claude.noted()).toEqual([]);
  });

  it('of a message from before a restart shows the screen first, then it works again', async () => {
    const { setting, claude } = await begin();
    await claude.tell('dialog', 'make'); // one that is slow to take a key would take a second one for the next dialog
    const shown = await screenShown(setting, claude);
    await setting.restart();
    await tap(setting, shown, 'Enter');
    await vi.waitFor(async () => expect(await messageNow(setting.workspace, shown)).not.toEqual(shown), WAIT);
    await aWhile();
    expect(claude.noted()).toEqual([]);
    laterBy(1_000);
    await tap(setting, shown, 'Enter');
    await vi.waitFor(() => expect(claude.noted()).toEqual([{ kind: 'approved', text: 'make' }]), WAIT);
  });

  it('works while Claude is busy', async () => {
    const { setting, claude } = await begin();
    const shown = await screenShown(setting, claude);
    await claude.tell('busy');
    await tap(setting, shown, 'Esc');
    await vi.waitFor(() => expect(claude.noted()).toEqual([{ kind: 'key', text: '\u001b' }]), WAIT);
    expect((await messageNow(setting.workspace, shown)).content).not.toMatch(CHANGED);
  });

  it('is pressed once when tapped twice, and leaves the next dialog open', async () => {
    const { setting, claude } = await begin();
    const page = await openPageSocket(setting.workspace);
    await claude.tell('dialog', 'make');
    await claude.tell('next', ['rm -rf /']);
    await claude.tell('slow', 900); // until then the pane shows the first dialog, even after the first tap
    const shown = await screenShown(setting, claude);
    await Promise.all([tap(setting, shown, 'Enter'), tap(setting, shown, 'Enter')]);
    await vi.waitFor(() => {
      const whispers = page.heard.filter(({ t, d }) => t === 'MESSAGE_CREATE' && d.flags & 64);
      expect(whispers.map(({ d }) => d.content)).toEqual([expect.stringMatching(USED)]);
    }, WAIT);
    await vi.waitFor(() => expect(screenOf(setting.machine, 'web')).toContain('rm -rf /'), WAIT);
    await aWhile(1_500);
    expect(claude.noted()).toEqual([{ kind: 'approved', text: 'make' }]);
    await tap(setting, shown, 'Screen');
    await vi.waitFor(async () => {
      const now = await messageNow(setting.workspace, shown);
      expect(buttonOf(now, 'Enter')).not.toBe(buttonOf(shown, 'Enter'));
      await tap(setting, now, 'Enter');
    }, WAIT);
    await vi.waitFor(() => expect(claude.noted().at(-1)).toEqual({ kind: 'approved', text: 'rm -rf /' }), WAIT);
  });

  it('that takes the place of the tapped one is not pressed at once, because nobody can have read the screen', async () => {
    const { setting, claude } = await begin();
    await claude.tell('dialog', 'make');
    await claude.tell('next', ['rm -rf /']);
    const shown = await screenShown(setting, claude);
    await tap(setting, shown, 'Enter');
    const next = await become(setting, shown, /rm -rf/);
    await tap(setting, next, 'Enter');
    await become(setting, shown, SUDDEN);
    expect(claude.noted()).toEqual([{ kind: 'approved', text: 'make' }]);
  });

  it('under the box is not pressed after a written key whose dialog is slow to open', async () => {
    const { setting, claude } = await begin();
    await claude.tell('draft', '/model');
    const shown = await screenShown(setting, claude);
    await claude.tell('slow', 2_000);
    await setting.say(claude, '!enter');
    await aWhile(300);
    await tap(setting, shown, 'Enter');
    await vi.waitFor(() => expect(claude.noted()).toEqual([{ kind: 'slash', text: '/model' }]), WAIT);
    await aWhile(4_500);
    expect(claude.noted()).toEqual([{ kind: 'slash', text: '/model' }]);
  });

  it('without a dialog can be tapped again once its message shows the new screen', async () => {
    const { setting, claude } = await begin();
    const shown = await screenShown(setting, claude);
    await tap(setting, shown, 'Esc');
    await vi.waitFor(() => expect(claude.noted()).toHaveLength(1), WAIT);
    await vi.waitFor(
      async () => {
        await tap(setting, shown, 'Esc');
        expect(claude.noted().length).toBeGreaterThan(1);
      },
      { ...WAIT, interval: 500 },
    );
  });

  it('is not pressed if it waited too long for tmux', async () => {
    let taken = false;
    const faults: Faults = {
      onRequest: ({ path }) => {
        taken ||= /^\/interactions\/\d+\/.*\/callback$/.test(path);
        return undefined;
      },
    };
    const setting = await startSetting({ faults });
    const claude = await setting.claude('web');
    const shown = await screenShown(setting, claude);
    const { serverPid } = claude.record();
    process.kill(serverPid, 'SIGSTOP');
    try {
      await tap(setting, shown, 'Esc');
      await vi.waitFor(() => expect(taken).toBe(true), WAIT);
      laterBy(16_000);
    } finally {
      process.kill(serverPid, 'SIGCONT');
    }
    await become(setting, shown, MISSED);
    await aWhile();
    expect(claude.noted()).toEqual([]);
  });

  it('on the card of a dialog answers it, and the waiting message is typed', async () => {
    const { setting, claude } = await begin();
    await claude.tell('dialog', 'make');
    await setting.say(claude, 'hello');
    await tap(setting, await setting.answer(claude, /^🔔/), 'Yes');
    await vi.waitFor(() => expect(claude.prompts()).toEqual(['hello']), WAIT);
    expect(claude.noted()[0]).toEqual({ kind: 'approved', text: 'make' });
  });

  it('of an earlier session of the same name presses nothing', async () => {
    const { setting, claude } = await begin();
    await claude.tell('dialog', 'make');
    const shown = await screenShown(setting, claude);
    setting.machine.startServer(); // a server that is about to exit could take the next session with it
    setting.machine.tmux.call('kill-session', '-t', '=web');
    const next = await setting.claude('web');
    const before = next.noted().length;
    await next.tell('dialog', 'make');
    await setting.workspace.person
      .tap(next.thread, shown.id, buttonOf(shown, 'Enter'))
      .catch(() => tap(setting, shown, 'Enter'));
    await become(setting, shown, /^(⚠️ Not pressed|The pane is gone)/);
    await aWhile();
    expect(next.noted()).toHaveLength(before);
  });
});

describe('a key for a box', () => {
  it.each(['dialog-permission-fetch', 'dialog-plan', 'dialog-question-review', 'dialog-permission-bash'])(
    'is not pressed in a dialog that opens after the look: %s',
    async (dialog) => {
      const setting = await startSetting();
      const { machine } = setting;
      const pane = await startPromptPane(machine, 'web', { report: (env, input) => machine.write(env, input) });
      await pane.show('empty-after-reply');
      const record = pane.record();
      const tmux = tmuxOn(setting.shared.hosts.get(record.host), record.socket);
      const seen = await lookAtPane(tmux, record);
      if (seen.kind === 'gone') throw new Error('the pane is gone');
      const guard = { pane: record, command: undefined, ...stillNoDialog(seen, record) };
      expect(await pressKeys(tmux, guard, '1', ['BTab'])).toEqual({ kind: 'pressed' });
      await pane.show(dialog);
      expect(await pressKeys(tmux, guard, '2', ['Enter'])).toMatchObject({ kind: 'refused' });
    },
  );
});

describe('a key written as text', () => {
  const KEYS = ['!enter', '!esc', '!key Down Enter', '!stop', '!c'];

  it('while threadmux was down is not pressed, and the thread says so', async () => {
    const { setting, claude } = await begin();
    await setting.bridge.close();
    for (const order of KEYS) await setting.say(claude, order);
    await claude.tell('dialog', 'rm -rf /');
    await setting.restart();
    await vi.waitFor(async () => {
      const said = (await setting.answers(claude)).filter(({ content }) => MISSED.test(content));
      expect(said).toHaveLength(KEYS.length);
    }, WAIT);
    expect(claude.noted()).toEqual([]);
    await setting.say(claude, '!esc');
    await vi.waitFor(() => expect(claude.noted()).toEqual([{ kind: 'key', text: '\u001b' }]), WAIT);
  });

  it('is not pressed if it waited too long for tmux', async () => {
    const { setting, claude } = await begin();
    const { serverPid } = claude.record();
    const inbox = setting.machine.home.folder('inbox');
    process.kill(serverPid, 'SIGSTOP');
    try {
      await setting.say(claude, '!esc');
      const { id } = await setting.say(claude, '!esc');
      await vi.waitFor(() => expect(existsSync(join(inbox, `${id}.json`))).toBe(true), WAIT);
      laterBy(16_000);
    } finally {
      process.kill(serverPid, 'SIGCONT');
    }
    await vi.waitFor(async () => {
      const said = (await setting.answers(claude)).filter(({ content }) => MISSED.test(content));
      expect(said).toHaveLength(2);
    }, WAIT);
    expect(claude.noted()).toEqual([]);
  });

  it('is not pressed if the network held it back', async () => {
    const line = await openStallingLine();
    const setting = await startSetting({ servers: (own) => [{ ...own, api: line.to(own.api) }] });
    const claude = await setting.claude('web');
    line.stall();
    await setting.say(claude, '!enter');
    await claude.tell('dialog', 'rm -rf /');
    const now = Date.now.bind(Date);
    const spy = vi.spyOn(Date, 'now').mockImplementation(() => now() + 16_000);
    onTestFinished(() => spy.mockRestore());
    line.flow();
    await setting.answer(claude, MISSED);
    expect(claude.noted()).toEqual([]);
  });

  it('is not pressed if an earlier process left it in the inbox', async () => {
    const { setting, claude } = await begin();
    await setting.bridge.close();
    const { home } = setting.machine;
    const { id } = await setting.say(claude, '!enter');
    const cursors = openCursors(`${home.folder('state')}/local.cursors.json`);
    const about = { id, channelId: claude.thread, authorId: setting.workspace.userId, author: '' };
    openInbox(home.folder('inbox'), cursors, 'local').take({
      ...about,
      text: '!enter',
      attachments: [],
      liveAt: performance.now(),
    });
    await claude.tell('dialog', 'rm -rf /');
    await setting.restart();
    await setting.answer(claude, MISSED);
    await aWhile();
    expect(claude.noted()).toEqual([]);
  });
});

it('a key button under the question of a program does not answer one with another number', async () => {
  const root = tempFolder();
  mkdirSync(join(root, 'shop'));
  const ask = (share: number) => `clear; printf 'Delete ${share}%% of the backups? [Enter] '; read line;`;
  writeFileSync(join(root, 'shop', 'ask.sh'), `${ask(5)} ${ask(95)} echo gone; sleep 60\n`);
  const setting = await startSetting({ file: { roots: [root] } });
  const { tmux } = setting.machine;
  await setting.say(setting.workspace.channelId, '!terminal shop sh ask.sh');
  const thread = linked((await setting.answer(setting.workspace.channelId, /<#\d+>/)).content);
  await setting.answer(thread, /Delete 5%/);
  await setting.say(thread, '!screen');
  const shown = await setting.answer(thread, /^```\nDelete 5%/);
  tmux.call('send-keys', '-t', '=shop-sh:', 'Enter'); // somebody at the terminal
  await vi.waitFor(() => expect(tmux.call('capture-pane', '-p', '-t', '=shop-sh:')).toContain('Delete 95%'), WAIT);
  await tap(setting, shown, 'Enter');
  await become(setting, shown, CHANGED);
  expect(tmux.call('capture-pane', '-p', '-t', '=shop-sh:')).not.toContain('gone');
});

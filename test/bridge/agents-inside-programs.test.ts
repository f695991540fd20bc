// An agent that runs inside a script or in a terminal: tmux names another program, and no hook reports. Its dialogs are recognised by what
// they show, and neither a text nor a key answers one that the user did not see.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { shownAgent } from '../../threads/read-pane.ts';
import { loadThreadRecords } from '../../threads/registry.ts';
import type { PaneLook } from '../../tmux/look.ts';
import { FAKE_CLAUDE, standInAt } from '../support/fake-claude.ts';
import { type RecordedAgent, screensOf, withoutColours } from '../support/recorded-screens.ts';
import { tempFolder } from '../support/temp-home.ts';
import { aWhile, screenOf, startSetting, tellOfSession, WAIT } from './bridge-setup.ts';
import { linked } from './tap-message.ts';

const OFFER = { title: 'Delete everything?', options: ['Yes', 'No'], at: 0, numbered: true };

async function startTerminal() {
  const root = tempFolder();
  const folder = join(root, 'shop');
  mkdirSync(folder);
  writeFileSync(join(folder, 'run.sh'), `'${process.execPath}' '${FAKE_CLAUDE}' '${folder}'\n`);
  const setting = await startSetting({ file: { roots: [root] } });
  const { channelId } = setting.workspace;
  await setting.say(channelId, '!terminal shop sh run.sh');
  const thread = linked((await setting.answer(channelId, /<#\d+>/)).content);
  await setting.answer(thread, /Stand-in/);
  return { setting, thread, claude: standInAt(folder) };
}

describe('a text in a terminal', () => {
  it('is not typed into the dialog of an agent, and is typed when the dialog is gone', async () => {
    const { setting, thread, claude } = await startTerminal();
    await claude.tell('dialog', 'rm -rf /');
    await setting.say(thread, 'fix the tests');
    await setting.answer(thread, /a dialog of Claude, or a text that looks like one, and Enter would answer it/);
    expect(claude.noted()).toEqual([]);
    await claude.tell('close');
    await setting.say(thread, '!retry');
    await vi.waitFor(() => expect(claude.prompts()).toEqual(['fix the tests']), WAIT);
  });

  it('is not submitted if a dialog opens while it is typed', async () => {
    const { setting, thread, claude } = await startTerminal();
    await claude.tell('offer', OFFER);
    await setting.say(thread, 'fix the tests');
    await setting.answer(thread, /Enter was not pressed/);
    expect(claude.noted()).not.toContainEqual(expect.objectContaining({ kind: 'chosen' }));
  });
});

describe('a prompt below words that look like a dialog', () => {
  const LOG = [' Do you want to proceed?', ' ❯ 1. Yes', '   2. No', '', ' Esc to cancel'];

  async function startAsking() {
    const root = tempFolder();
    const folder = join(root, 'shop');
    mkdirSync(folder);
    writeFileSync(join(folder, 'log'), `${LOG.join('\n')}\n`);
    writeFileSync(
      join(folder, 'ask.sh'),
      `cat log; printf 'Install it? [Y/n] '; read -r said; echo "said: $said."\nread -r _\n`,
    );
    const setting = await startSetting({ file: { roots: [root] } });
    const { channelId } = setting.workspace;
    await setting.say(channelId, '!terminal shop sh ask.sh');
    const thread = linked((await setting.answer(channelId, /<#\d+>/)).content);
    await setting.answer(thread, /Install it\?/);
    return { setting, thread };
  }

  it('gets a text', async () => {
    const { setting, thread } = await startAsking();
    await setting.say(thread, 'y');
    await setting.answer(thread, /said: y\./);
  });

  it('gets a written key at once', async () => {
    const { setting, thread } = await startAsking();
    await setting.say(thread, '!enter');
    await setting.answer(thread, /said: \./);
  });
});

it.each([
  ['gemini', 'dialog-permission-shell', /● 1\. Allow once/],
  ['opencode', 'dialog-permission-on-reject', /-# Highlighted: `Reject`$/m], // only its colour shows it
] as const)(
  'a written key is not pressed in a dialog of %s inside a script, but shows it first',
  async (agent, name, asks) => {
    const setting = await startSetting();
    const { machine } = setting;
    const folder = tempFolder();
    const got = join(folder, 'got');
    writeFileSync(join(folder, 'screen'), screensOf(agent).find(name, '80x24').ansi.trimEnd());
    const show = `process.stdout.write('\\x1b[H\\x1b[2J\\x1b[?25l' + fs.readFileSync('screen', 'utf8').replaceAll('\\n', '\\r\\n'))`;
    const take = `process.stdin.setRawMode(true).on('data', (bytes) => fs.appendFileSync('got', bytes))`;
    writeFileSync(
      join(folder, 'agent.cjs'),
      `const fs = require('node:fs'); fs.writeFileSync('got', ''); ${take}; ${show};`,
    );
    writeFileSync(join(folder, 'run.sh'), `cd '${folder}'\n'${process.execPath}' agent.cjs\n`);
    machine.tmux.call('new-session', '-d', '-s', 'gem', '-x', '80', '-y', '24', `sh '${join(folder, 'run.sh')}'; :`);
    tellOfSession(machine, 'gem');
    const thread = await vi.waitFor(() => {
      const record = loadThreadRecords(machine.home).find(({ sessionName }) => sessionName === 'gem');
      if (record === undefined) throw new Error('no thread');
      return record.thread;
    }, WAIT);
    await vi.waitFor(() => expect(screenOf(machine, 'gem')).toContain('Allow once'), WAIT);
    await setting.say(thread, '!enter');
    const { content } = await setting.answer(thread, /^⚠️ Not pressed: the screen has changed, or was not shown/);
    expect(content).toMatch(asks);
    await aWhile();
    expect(readFileSync(got, 'utf8')).toBe('');
  },
);

it.each(['claude', 'codex', 'gemini', 'opencode', 'pi'] as RecordedAgent[])(
  'every dialog of %s is recognised in any program, and nothing else is taken for one',
  (agent) => {
    for (const one of screensOf(agent).recorded) {
      const { cursorX = 0, cursorY = 0, cursorShown = true, width = 0, height = 0, title = '' } = one.facts;
      const place = { cursor: { x: cursorX, y: cursorY }, cursorShown, width, height, title, dead: false };
      const look = { ...place, command: 'sh', text: withoutColours(one), ansi: one.ansi.replace(/\n$/, '') };
      const isDialog = shownAgent(look as PaneLook)?.screen.kind === 'dialog';
      if (/^(?:dialog|empty|busy|draft)-/.test(one.name))
        expect([one.path, isDialog]).toEqual([one.path, one.name.startsWith('dialog-')]);
    }
  },
);

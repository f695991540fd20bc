// Threads that stream, as a user sees them: started, written to, listed, ended, and found again.

import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { writeJson } from '../../home/atomic-write.ts';
import { saveAutoThreads } from '../../home/installed.ts';
import { loadStreamRecord, saveStreamRecord } from '../../home/stream-record.ts';
import type { FaultyRequest } from '../support/as-discord.mjs';
import { tempFolder } from '../support/temp-home.ts';
import { aWhile, openSuggestions, type Setting, type SettingOptions, startSetting, WAIT } from './bridge-setup.ts';
import { printed, sessions, untilPrinted } from './terminal-output.ts';

async function start(options: SettingOptions = {}) {
  const root = tempFolder();
  for (const name of ['shop', 'api']) mkdirSync(join(root, name));
  const setting = await startSetting({ ...options, file: { roots: [root], ...options.file } });
  const { channelId } = setting.workspace;
  return {
    setting,
    root,
    channelId,
    async terminal(command: string, where = channelId) {
      await setting.say(where, `!terminal shop ${command}`);
      const up = await vi.waitFor(async () => {
        const said = (await setting.answers(where)).filter(({ content }) => /^🖥️ /.test(content));
        expect(said.length).toBeGreaterThan(opened.length);
        return said.at(-1)?.content ?? '';
      }, WAIT);
      opened.push(up);
      const [, name = '', thread = ''] = /`([^`]+)` is up: <#(\d+)>/.exec(up) ?? [];
      return { name, thread };
    },
  };
}
let opened: string[] = [];

async function activeTitles({ workspace }: Setting): Promise<readonly string[]> {
  const { body } = await workspace.person.call('GET', `/guilds/${workspace.guildId}/threads/active`);
  return body.threads.map(({ name }: { name: string }) => name).sort();
}

const threadOf = async ({ workspace }: Setting, id: string) =>
  (await workspace.person.call('GET', `/channels/${id}`)).body;

describe('!terminal', () => {
  it('runs a command in a project, streams its output, and takes messages as input', async () => {
    opened = [];
    const { setting, root, terminal } = await start();
    const { name, thread } = await terminal('pwd; while read line; do echo "heard $line"; done');
    expect(name).toBe('shop-pwd');
    expect((await threadOf(setting, thread)).name).toBe('[terminal] shop-pwd');
    await untilPrinted(setting, thread, join(root, 'shop'));
    const message = await setting.say(thread, '/quit "now" $HOME');
    await setting.untilMarked(message, '✅');
    await untilPrinted(setting, thread, 'heard /quit "now" $HOME\n');
    // Its output is in the stream, and nowhere else.
    expect((await setting.answers(thread)).filter(({ content }) => content.includes('heard'))).toHaveLength(1);
  });

  it('continues below what the user wrote, and the whole still reads as one text', async () => {
    opened = [];
    const { setting, terminal } = await start();
    const { thread } = await terminal(`exec sh -c 'while printf "name? "; read n; do echo "hello $n"; done'`);
    await untilPrinted(setting, thread, 'name? ');
    for (const name of ['Ada', 'Grace', 'Edsger']) {
      await setting.untilMarked(await setting.say(thread, name), '✅');
      await untilPrinted(setting, thread, `hello ${name}\nname? `);
    }
    const all = (await setting.workspace.person.messages(thread)).toReversed();
    const blocks = all.filter(({ type }) => type === 0).map(({ content }) => content.replace(/^```text\n|```$/g, ''));
    expect(blocks).toEqual([
      'name? ',
      ...['Ada', 'Ada\nhello Ada\nname? '],
      ...['Grace', 'Grace\nhello Grace\nname? '],
      ...['Edsger', 'Edsger\nhello Edsger\nname? '],
    ]);
  });

  it('takes input whatever the program is called, and between two programs', async () => {
    opened = [];
    const { setting, root, terminal } = await start();
    const program = join(root, 'shop', 'prog');
    writeFileSync(program, '#!/bin/sh\nread line; echo "prog heard $line"\n', { mode: 0o755 });
    const { thread } = await terminal(
      './prog; while kill -0 $$; do true; true; sleep 0.01; done & while read l; do echo "<$l>"; done',
    );
    await setting.untilMarked(await setting.say(thread, 'one'), '✅');
    await untilPrinted(setting, thread, 'prog heard one');
    for (const word of ['two', 'three', 'four', 'five'])
      await setting.untilMarked(await setting.say(thread, word), '✅');
    for (const word of ['two', 'three', 'four', 'five']) await untilPrinted(setting, thread, `<${word}>`);
  });

  it('gives the program no answer that was written while threadmux was down, until the user repeats it', async () => {
    opened = [];
    const { setting, root, terminal } = await start();
    writeFileSync(
      join(root, 'shop', 'ask'),
      'echo "clear the cache?"; until [ -e next ]; do sleep 0.1; done; echo "delete all?"; read a; echo "said $a"; sleep 60',
    );
    const { thread } = await terminal('sh ask');
    await untilPrinted(setting, thread, 'clear the cache?');
    await setting.stop();
    const late = await setting.say(thread, 'y');
    writeFileSync(join(root, 'shop', 'next'), '');
    await setting.restart();
    await setting.untilMarked(late, '⚠️');
    const notice = await setting.answer(thread, /written while threadmux was not running/);
    expect(await printed(setting, thread)).not.toContain('said');
    await setting.workspace.person.tap(thread, notice.id, `retry:${late.id}`);
    await untilPrinted(setting, thread, 'said y');
  });

  it('types its input instead of pasting it, so that an editor gets commands', async () => {
    opened = [];
    const { setting, terminal } = await start();
    const { thread } = await terminal(`exec sh -c 'printf "\\033[?2004hready\\n"; exec cat -v'`);
    await untilPrinted(setting, thread, 'ready');
    await setting.untilMarked(await setting.say(thread, ':wq'), '✅');
    await untilPrinted(setting, thread, ':wq\n:wq\n');
    await setting.untilMarked(await setting.say(thread, 'two\nlines'), '✅');
    await untilPrinted(setting, thread, '^[[200~two\n');
  });

  it('counts a key as taken by a program that exits on it', async () => {
    opened = [];
    const { setting, terminal } = await start();
    const { thread } = await terminal(`exec sh -c 'stty raw -echo; echo ready; dd bs=1 count=1 2>/dev/null; exit 5'`);
    await untilPrinted(setting, thread, 'ready');
    await setting.untilMarked(await setting.say(thread, 'q'), '✅');
    await setting.answer(thread, /code 5/);
  });

  it('says how it ended, takes nothing any more, and says what to do next', async () => {
    opened = [];
    const { setting, terminal } = await start();
    const { thread } = await terminal('echo bye; exit 3');
    await setting.answer(thread, /^⏹️ .*code 3.*!done/s);
    await untilPrinted(setting, thread, 'bye');
    const late = await setting.say(thread, 'are you there');
    await setting.untilMarked(late, '⚠️');
    await setting.answer(thread, /The program has ended\. Archive this thread with `!done`/);
    await setting.say(thread, '!status');
    await setting.answer(thread, /🖥️ terminal `shop-echo` .*code 3.*\n-# 0 of at most 5/);
  });

  it('is interrupted by !stop, and offers keys and its screen', async () => {
    opened = [];
    const { setting, terminal } = await start();
    const { thread } = await terminal(`exec sh -c 'trap "echo caught" INT; echo ready; while :; do sleep 0.1; done'`);
    await untilPrinted(setting, thread, 'ready');
    await setting.say(thread, '!stop');
    await untilPrinted(setting, thread, 'caught');
    await setting.say(thread, '!screen');
    await vi.waitFor(async () => {
      const answers = await setting.answers(thread);
      expect(answers.filter(({ components }) => (components ?? []).length > 0).length).toBeGreaterThan(0);
    }, WAIT);
  });

  it.each([
    ['/etc cat passwd', /absolute path/],
    ['../.. ls', /contains "\.\."/],
    ['out ls', /leads out/],
    ['nowhere ls', /no directory `nowhere`[\s\S]*`api`, `shop`/],
    ['shop', /A directory and a command or prompt are needed/],
    ['', /A directory and a command or prompt are needed/],
  ])('is refused with a sentence: !terminal %s', async (rest, why) => {
    const { setting, root, channelId } = await start();
    symlinkSync('/etc', join(root, 'out'));
    await setting.say(channelId, `!terminal ${rest}`);
    expect((await setting.answer(channelId, why)).content).toMatch(/^⚠️ /);
    expect(sessions(setting.machine)).toEqual([]);
  });

  it('gets no second thread as an ordinary session', async () => {
    opened = [];
    const { setting, terminal } = await start();
    saveAutoThreads(setting.machine.home, true);
    const { thread } = await terminal('cat');
    setting.machine.tmux.call('new-session', '-d', '-s', 'plain', 'cat');
    await setting.restart();
    await vi.waitFor(async () => {
      expect(await activeTitles(setting)).toEqual(['[agent] plain', '[terminal] shop-cat']);
    }, WAIT);
    expect(thread).not.toBe('');
  });
});

describe('the limit maxThreads', () => {
  it('refuses the next thread, and one that has ended makes room', async () => {
    opened = [];
    const { setting, channelId, terminal } = await start({ file: { maxThreads: 2 } });
    const one = await terminal('cat');
    const two = await terminal('cat');
    expect([one.name, two.name]).toEqual(['shop-cat', 'shop-cat-2']);
    await setting.say(channelId, '!terminal shop cat');
    await setting.answer(
      channelId,
      /^⚠️ There are already 2 terminals and headless agents, and the limit is 2[\s\S]*`shop-cat`, `shop-cat-2`/,
    );
    await setting.say(channelId, '!kill shop-cat');
    await setting.answer(channelId, /^⏹️ `shop-cat`: /);
    expect((await terminal('cat')).name).toBe('shop-cat');
  });

  it('holds for commands that arrive at once', async () => {
    const { setting, channelId } = await start({ file: { maxThreads: 2 } });
    await Promise.all([1, 2, 3, 4].map(() => setting.say(channelId, '!terminal shop cat')));
    await vi.waitFor(async () => {
      const said = (await setting.answers(channelId)).map(({ content }) => content.slice(0, 2));
      expect(said.filter((one) => one === '🖥')).toHaveLength(2);
      expect(said.filter((one) => one === '⚠️')).toHaveLength(2);
    }, WAIT);
    expect(sessions(setting.machine).toSorted()).toEqual(['shop-cat', 'shop-cat-2']);
  });
});

describe('!done', () => {
  it('ends the terminal, posts a summary and archives its thread', async () => {
    opened = [];
    const { setting, terminal } = await start();
    const { name, thread } = await terminal('echo one; echo two; cat');
    await untilPrinted(setting, thread, 'two');
    await setting.say(thread, '!done');
    await vi.waitFor(async () => {
      expect((await threadOf(setting, thread)).thread_metadata.archived).toBe(true);
    }, WAIT);
    await setting.answer(thread, new RegExp(`^⏹️ \`${name}\`: .*lines`));
    expect(sessions(setting.machine)).toEqual([]);
    await aWhile();
    expect((await threadOf(setting, thread)).thread_metadata.archived).toBe(true);
  });

  it('says in any other thread what it is for', async () => {
    const { setting, channelId } = await start();
    await setting.say(channelId, '!done');
    await setting.answer(channelId, /^⚠️ This is not the thread of a terminal/);
    await setting.say(channelId, '!done nobody');
    await setting.answer(channelId, /^⚠️ There is no terminal or headless agent `nobody`/);
  });
});

describe('after a restart of the bridge', () => {
  it('terminals are found again, and the stream continues', async () => {
    opened = [];
    const { setting, channelId, terminal } = await start();
    const { thread } = await terminal('i=0; while [ $i -lt 80 ]; do i=$((i+1)); echo "line $i"; sleep 0.05; done; cat');
    await untilPrinted(setting, thread, 'line 20\n');
    await setting.bridge.close();
    await aWhile(1_500);
    await setting.restart();
    await setting.say(channelId, '!status');
    await setting.answer(channelId, /🖥️ terminal `shop-i-0` <#\d+> running · /);
    await untilPrinted(setting, thread, 'line 80\n');
    const wanted = Array.from({ length: 80 }, (_, at) => `line ${at + 1}\n`).join('');
    expect((await printed(setting, thread)).trimEnd()).toBe(wanted.trimEnd());
    await setting.untilMarked(await setting.say(thread, 'still yours'), '✅');
    await untilPrinted(setting, thread, 'still yours\nstill yours\n');
  });

  it('an end that happened in between is reported', async () => {
    opened = [];
    const { setting, terminal } = await start();
    const { thread } = await terminal('read line; echo "got $line"; exit 7');
    await aWhile();
    await setting.bridge.close();
    setting.machine.tmux.call('send-keys', '-t', '=shop-read:', 'hello', 'Enter');
    await vi.waitFor(
      () =>
        expect(setting.machine.tmux.call('display-message', '-p', '-t', '=shop-read:', '#{pane_dead}')).toContain('1'),
      WAIT,
    );
    await setting.restart();
    await setting.answer(thread, /^⏹️ .*code 7/);
    await untilPrinted(setting, thread, 'got hello');
  });
});

describe('a terminal that ended a month ago', () => {
  it('is forgotten with its dead pane, and a younger one is kept', async () => {
    opened = [];
    const { setting, terminal } = await start();
    const { home } = setting.machine;
    const old = await terminal('exit 3');
    const young = await terminal('exit 4');
    const running = await terminal('cat');
    const ended = (thread: string) => loadStreamRecord(home, thread)?.ended;
    await vi.waitFor(() => expect(ended(old.thread) && ended(young.thread)).toBeDefined(), WAIT);
    await setting.stop();
    const record = loadStreamRecord(home, old.thread);
    if (record === undefined) throw new Error('there is no record');
    saveStreamRecord(home, { ...record, ended: { at: Date.now() - 31 * 86_400_000, how: 'code 3' } });
    await setting.restart();
    await vi.waitFor(() => expect(loadStreamRecord(home, old.thread)).toBeUndefined(), WAIT);
    expect(setting.shared.threads.registry.get(old.thread)).toBeUndefined();
    expect(sessions(setting.machine).toSorted()).toEqual([young.name, running.name].toSorted());
    for (const { thread } of [young, running]) expect(loadStreamRecord(home, thread)).toBeDefined();
  });
});

describe('a command that the bridge did not answer before it was killed', () => {
  const isAnswer = ({ method, body }: FaultyRequest) =>
    method === 'POST' && /^🖥️ /.test(String((body as { content?: string })?.content ?? ''));

  it('starts its terminal once, and is answered after the restart', async () => {
    let refused = 0;
    let away = true;
    const { setting, channelId } = await start({
      faults: {
        onRequest: (request) => {
          if (!away || !isAnswer(request)) return undefined;
          refused += 1;
          return { kind: 'reset' };
        },
      },
    });
    await setting.say(channelId, '!terminal shop cat');
    await vi.waitFor(() => expect(refused).toBeGreaterThan(0), WAIT);
    await setting.bridge.close();
    away = false;
    await setting.restart();
    await setting.answer(channelId, /^🖥️ `shop-cat` is up: <#\d+>/);
    expect(sessions(setting.machine)).toEqual(['shop-cat']);
    expect((await activeTitles(setting)).filter((title) => /terminal/.test(title))).toHaveLength(1);
  });

  it('is not repeated, even if its terminal has ended by then', async () => {
    let away = true;
    let refused = 0;
    const { setting, root, channelId } = await start({
      faults: {
        onRequest: (request) => {
          if (!away || !isAnswer(request)) return undefined;
          refused += 1;
          return { kind: 'reset' };
        },
      },
    });
    await setting.say(channelId, '!terminal shop echo ran >> count; cat');
    await vi.waitFor(() => expect(refused).toBeGreaterThan(0), WAIT);
    await setting.say(channelId, '!kill shop-echo');
    await vi.waitFor(() => expect(sessions(setting.machine)).toEqual([]), WAIT);
    await setting.bridge.close();
    away = false;
    await setting.restart();
    await setting.answer(channelId, /^🖥️ `shop-echo` is up/);
    await aWhile();
    expect(readFileSync(join(root, 'shop', 'count'), 'utf8')).toBe('ran\n');
  });

  it('leaves nothing running if it was killed while starting', async () => {
    opened = [];
    const { setting, channelId, terminal } = await start();
    const { thread } = await terminal('cat');
    await setting.bridge.close();
    const record = loadStreamRecord(setting.machine.home, thread);
    if (record === undefined) throw new Error('there is no record');
    saveStreamRecord(setting.machine.home, { ...record, pane: undefined });
    await setting.restart();
    await setting.say(channelId, '!status');
    await setting.answer(channelId, /^No terminals/);
    expect(sessions(setting.machine)).toEqual([]);
  });
});

describe('at the start of the bridge,', () => {
  it('a session that someone else created with the same name is left alone', async () => {
    opened = [];
    const { setting, terminal } = await start();
    const { name, thread } = await terminal('cat');
    await setting.bridge.close();
    const record = loadStreamRecord(setting.machine.home, thread);
    if (record === undefined) throw new Error('there is no record');
    saveStreamRecord(setting.machine.home, { ...record, pane: undefined });
    setting.machine.tmux.call('kill-session', '-t', `=${name}`);
    setting.machine.tmux.call('new-session', '-d', '-s', name, 'cat');
    await setting.restart();
    expect(sessions(setting.machine)).toEqual([name]);
  });

  it('a message in a thread that the bot cannot see does not stop the others', async () => {
    let hidden = '';
    const { setting, channelId } = await start({
      faults: {
        onRequest: ({ path }) =>
          hidden !== '' && path.startsWith(`/channels/${hidden}`)
            ? { kind: 'answer', status: 403, body: { code: 50001, message: 'Missing Access' } }
            : undefined,
      },
    });
    const { folder } = setting.machine.home;
    const left = { id: '1000000000000000001', channelId: '1000000000000000002' };
    const rest = { authorId: '1', author: 'x', text: 'hello', attachments: [], server: 'local' };
    await setting.bridge.close();
    writeJson(join(folder('inbox'), `${left.id}.json`), { ...left, ...rest });
    hidden = left.channelId;
    await setting.restart();
    await setting.say(channelId, '!status');
    await setting.answer(channelId, /^No terminals/);
    expect(existsSync(join(folder('inbox'), `${left.id}.json`))).toBe(true);
  });
});

describe('as a slash command,', () => {
  it('/terminal completes its directory, and runs', async () => {
    const { setting, channelId } = await start();
    const { person } = setting.workspace;
    const suggested = await openSuggestions(setting);
    expect(await suggested('terminal', 'dir', 'sh')).toEqual(['shop']);
    expect(await suggested('terminal', 'dir', '../')).toEqual([]);
    await person.slash(channelId, 'terminal', [
      { name: 'dir', value: 'shop' },
      { name: 'command', value: 'echo from a slash; cat' },
    ]);
    const up = await setting.answer(channelId, /^🖥️ `shop-echo` is up/);
    const thread = /<#(\d+)>/.exec(up.content)?.[1] ?? '';
    await untilPrinted(setting, thread, 'from a slash');
    await person.slash(channelId, 'kill', [{ name: 'name', value: 'shop-echo' }]);
    await setting.answer(channelId, /^⏹️ `shop-echo`: /);
    await setting.answer(thread, /^⏹️ `shop-echo`: /);
    await vi.waitFor(async () => {
      expect((await threadOf(setting, thread)).thread_metadata.archived).toBe(true);
    }, WAIT);
  });
});

describe('the thread of a terminal whose tmux server is gone', () => {
  it('can be deleted without touching the terminal that now has its pane id', async () => {
    opened = [];
    const { setting, terminal } = await start();
    const { call } = setting.machine.tmux;
    const dead = await terminal('sleep 600');
    call('kill-server');
    await vi.waitFor(async () => {
      const said = await setting.answers(dead.thread);
      expect(said.some(({ content }) => content.startsWith('⏹️'))).toBe(true);
    }, WAIT);
    const paneOf = (thread: string) => loadStreamRecord(setting.machine.home, thread)?.pane;
    let alive = await terminal('cat');
    while (paneOf(alive.thread)?.paneId !== paneOf(dead.thread)?.paneId) alive = await terminal('cat');
    const { paneId = '', serverPid } = paneOf(alive.thread) ?? {};
    expect(serverPid).not.toBe(paneOf(dead.thread)?.serverPid);

    await setting.workspace.bot('DELETE', `/channels/${dead.thread}`);
    await vi.waitFor(() => expect(paneOf(dead.thread)).toBeUndefined(), WAIT);
    expect(call('display-message', '-p', '-t', paneId, '#{pane_pipe}')).toBe('1');
    call('send-keys', '-t', paneId, 'still here', 'Enter');
    await untilPrinted(setting, alive.thread, 'still here');

    await setting.workspace.bot('DELETE', `/channels/${alive.thread}`);
    await vi.waitFor(() => expect(call('display-message', '-p', '-t', paneId, '#{pane_pipe}')).toBe('0'), WAIT);
  });
});

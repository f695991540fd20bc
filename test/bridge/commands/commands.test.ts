// The commands, as "!" messages and as slash commands, in the channel and in threads.

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { outsideCode } from '../../support/markdown.ts';
import { tempFolder } from '../../support/temp-home.ts';
import { aWhile, openSuggestions, type Setting, screenOf, startSetting, WAIT } from '../bridge-setup.ts';
import { projectEntry } from '../project-setup.ts';
import { linked } from '../tap-message.ts';

const sessions = (setting: Setting) => setting.machine.tmux.call('list-sessions', '-F', '#{session_name}').split('\n');

/** The thread that an answer links to. */

describe('!new and !kill', () => {
  it('start a shell whose thread takes command lines and shows their output', async () => {
    const setting = await startSetting();
    const { channelId } = setting.workspace;
    await setting.say(channelId, '!new ops -- sh');
    const up = await setting.answer(channelId, /^▶️ `ops` is up/);
    const thread = linked(up.content);
    const message = await setting.say(thread, 'echo "$((6 * 7)) is"; printf "\\033[31mred\\033[0m\\n"');
    await setting.untilMarked(message, '✅');
    const said = await setting.answer(thread, /42 is\n.*red/);
    expect(said.content).toMatch(/^```.*```$/s);
    expect(said.content).not.toContain('\u001b');
    const lines = await setting.say(thread, 'seq 1 3000');
    await setting.untilMarked(lines, '✅');
    const many = await setting.answer(thread, /\n2999\n3000\n/);
    expect(many.content.length).toBeLessThanOrEqual(2_000);
    await setting.say(thread, '!kill ops');
    await setting.answer(thread, /^⏹️ Ended by you\.$/);
    await setting.say(thread, 'echo too late');
    await setting.answer(thread, /^⚠️ Not delivered\. The session is not running/);
  });

  it('show the last words of a program that quits at once only as code, however many they are', async () => {
    const setting = await startSetting();
    const { channelId } = setting.workspace;
    const folder = tempFolder();
    const words = ['[Tap here to reconnect](https://evil.example)', ...Array(9).fill('\ue000'.repeat(59))].join('\n');
    writeFileSync(join(folder, 'words'), words);
    writeFileSync(join(folder, 'quits'), 'cat words; exit 3');
    await setting.say(channelId, `!new shop ${folder} -- sh quits`);
    const { content } = await setting.answer(channelId, /^⚠️ `shop` quit at once/);
    expect(content).toContain('⟨U+E000⟩');
    expect(content).toContain('`!new shop` tries it again.');
    expect(outsideCode(content)).not.toContain('Tap here');
  });

  it('start in a given directory', async () => {
    const setting = await startSetting();
    const { channelId } = setting.workspace;
    const folder = tempFolder();
    await setting.say(channelId, `!new shop ${folder} -- sh`);
    const up = await setting.answer(channelId, /^▶️ `shop` is up \(`sh/);
    await setting.untilMarked(await setting.say(linked(up.content), 'pwd > where'), '✅');
    await vi.waitFor(() => expect(readFileSync(join(folder, 'where'), 'utf8')).toBe(`${folder}\n`), WAIT);
    await setting.say(channelId, '!new shop -- sh');
    const there = await setting.answer(channelId, /^`shop` already runs/);
    expect(linked(there.content)).toBe(linked(up.content));
  });

  it('start nothing where Claude is missing, because a shell would execute what is meant for it', async () => {
    const setting = await startSetting({ file: { agents: { claude: { command: ['no-such-agent'] } } } });
    const { channelId } = setting.workspace;
    for (const order of ['!new shop', '!new shop -- no-such-agent --model x']) {
      const before = (await setting.answers(channelId)).length;
      await setting.say(channelId, order);
      await vi.waitFor(async () => expect((await setting.answers(channelId)).length).toBe(before + 1), WAIT);
      const said = (await setting.answers(channelId)).at(-1)?.content;
      expect(said).toMatch(/^⚠️ `no-such-agent` was not found on `laptop`.*`!new shop -- bash`/s);
    }
    expect(() => sessions(setting)).toThrow('tmux');
  });

  it('show what a program asks at its start, and type nothing into it', async () => {
    const folder = tempFolder();
    const asks = join(folder, 'asks');
    const dialog = ' Do you trust this folder?\\n ❯ 1. No\\n   2. Yes\\n\\n Enter to confirm · Esc to cancel';
    writeFileSync(asks, `#!/bin/sh\nprintf '${dialog}'\nread line; echo "$line" > ${folder}/got\n`, { mode: 0o755 });
    const setting = await startSetting({ file: { agents: { claude: { command: [asks] } } } });
    const { channelId } = setting.workspace;
    await setting.say(channelId, '!new shop');
    const up = await setting.answer(channelId, /^🔔 `shop` waits for you/);
    const thread = linked(up.content);
    const shown = await setting.answer(thread, /^🔔 Claude has not reported yet/);
    expect(shown.components).not.toEqual([]);
    const message = await setting.say(thread, 'hello claude');
    await setting.untilMarked(message, '📨');
    await aWhile(1_000);
    expect(existsSync(join(folder, 'got'))).toBe(false);
    expect(screenOf(setting.machine, 'shop')).not.toContain('hello');
  });

  it('report the last output of a Claude that exits immediately', async () => {
    const folder = tempFolder();
    const ends = join(folder, 'ends');
    writeFileSync(ends, '#!/bin/sh\necho "Unable to connect"; sleep 1; exit 1\n', { mode: 0o755 });
    const setting = await startSetting({ file: { agents: { claude: { command: [ends] } } } });
    const { channelId } = setting.workspace;
    await setting.say(channelId, '!new shop');
    await setting.answer(channelId, /^⚠️ `shop` quit at once \(exit code 1\)[\s\S]*Unable to connect/);
  });

  it('kill exactly the named session', async () => {
    const setting = await startSetting();
    const { channelId } = setting.workspace;
    for (const name of ['web', 'web-2', 'w', 'website'])
      setting.machine.tmux.call('new-session', '-d', '-s', name, 'cat');
    for (const wrong of ['we', 'web-', 'web*', '=web', '$0', '%0', 'Web', 'web:', ''])
      await setting.say(channelId, `!kill ${wrong}`);
    await vi.waitFor(async () => {
      const said = (await setting.answers(channelId)).filter(({ content }) => content.startsWith('⚠️'));
      expect(said).toHaveLength(9);
    }, WAIT);
    expect(sessions(setting)).toEqual(['w', 'web', 'web-2', 'website']);
    await setting.say(channelId, '!kill web');
    await setting.answer(channelId, /^⏹️ `web` was ended/);
    expect(sessions(setting)).toEqual(['w', 'web-2', 'website']);
  });

  it.each(['a.b', '-x', '#(touch x)', '$(id)', "it's", 'x y@nowhere', 'x'.repeat(65)])(
    'refuse a session named %s',
    async (name) => {
      const setting = await startSetting();
      setting.machine.tmux.call('new-session', '-d', '-s', 'keep', 'cat');
      await setting.say(setting.workspace.channelId, `!new ${name} -- cat`);
      await setting.answer(setting.workspace.channelId, /^⚠️ /);
      expect(sessions(setting)).toEqual(['keep']);
    },
  );
});

describe('a command line in a shell', () => {
  it('is neither repeated nor reported as failed when the bridge restarts in between', async () => {
    const setting = await startSetting();
    const { channelId } = setting.workspace;
    const record = join(setting.machine.tmux.dir, 'ran');
    await setting.say(channelId, '!new ops -- sh');
    const thread = linked((await setting.answer(channelId, /^▶️ `ops` is up/)).content);
    const message = await setting.say(thread, `echo x >> ${record}; sleep 1; echo over`);
    await vi.waitFor(() => readFileSync(record), WAIT);
    await setting.restart();
    await setting.untilMarked(message, '✅');
    expect(readFileSync(record, 'utf8')).toBe('x\n');
  });
});

describe('screen and key commands', () => {
  it('show the pane and press keys only through !screen, !stop, !key and their short forms', async () => {
    const setting = await startSetting();
    const claude = await setting.claude('web');
    await setting.say(claude, '!screen');
    const shown = await setting.answer(claude, /^```\nStand-in for Claude Code/);
    expect(JSON.stringify(shown.components)).toContain('key:Enter');
    const untilShown = (screens: number) =>
      vi.waitFor(async () => {
        const answers = (await setting.answers(claude)).filter(({ content }) => content.startsWith('```\n'));
        expect(answers).toHaveLength(screens);
      }, WAIT);
    for (const [at, order] of ['!stop', '!esc', '!up', '!down', '!key Up Down', '!key x', '!tab'].entries()) {
      await setting.say(claude, order);
      await untilShown(at + 2); // each key is for the screen that the answer before it shows
    }
    const keys = ['\u001b', '\u001b', '\u001b[A', '\u001b[B', '\u001b[A', '\u001b[B', 'x', '\t'];
    expect(claude.noted().map(({ text }) => text)).toEqual(keys);
    for (const order of ['!key rm -rf', '!key', '!key C-b;kill-server', '!key Enter;', '!key 13;id'])
      await setting.say(claude, order);
    await vi.waitFor(async () => {
      const refused = (await setting.answers(claude)).filter(({ content }) => content.includes('is not a key'));
      expect(refused).toHaveLength(5);
    }, WAIT);
    expect(claude.noted()).toHaveLength(8);
  });

  it('answer in the channel that they need a thread', async () => {
    const setting = await startSetting();
    for (const order of ['!screen', '!stop', '!retry', '!enter']) {
      await setting.say(setting.workspace.channelId, order);
      await setting.answer(setting.workspace.channelId, /⚠️ Use this in a session’s thread/);
    }
  });
});

describe('!sh', () => {
  it('runs nothing unless it is enabled', async () => {
    const setting = await startSetting();
    const claude = await setting.claude('web');
    await setting.say(claude, `!sh touch ${setting.machine.tmux.dir}/pwned`);
    await setting.answer(claude, /⚠️ .*`!sh` is turned off.*allowShell/s);
    await aWhile(200);
    expect(() => readFileSync(join(setting.machine.tmux.dir, 'pwned'))).toThrow();
  });

  it('runs a command and shows its output, if it is enabled', async () => {
    const setting = await startSetting({ file: { allowShell: true } });
    const claude = await setting.claude('web');
    await setting.say(claude, '!sh echo "it\'s $((1+1))"\necho err >&2; exit 3');
    await setting.answer(claude, /it's 2\nerr\n\[exit code 3\]/);
    expect(claude.noted()).toEqual([]);
  });

  it('runs in the directory where the session is now, and in a channel without a project in the home directory, and says so', async () => {
    const [shop, elsewhere] = [tempFolder(), tempFolder()];
    const setting = await startSetting({ file: { allowShell: true } });
    const { channelId } = setting.workspace;
    await setting.say(channelId, '!sh pwd');
    const home = setting.machine.env.HOME ?? '';
    expect((await setting.answer(channelId, /^-# In/)).content).toBe(
      `-# In \`${home}\` on \`laptop\`:\n\`\`\`\n${home}\n\`\`\``,
    );
    await setting.say(channelId, `!new web ${shop} -- sh`);
    const thread = linked((await setting.answer(channelId, /^▶️ `web` is up/)).content);
    await setting.say(thread, '!sh pwd');
    await setting.answer(thread, new RegExp(`^-# In \`${shop}\` on \`laptop\`:\n\`\`\`\n${shop}\n`));
    await setting.untilMarked(await setting.say(thread, `cd ${elsewhere}`), '✅');
    await setting.say(thread, '!sh pwd');
    await setting.answer(thread, new RegExp(`\n${elsewhere}\n`));
  });
});

it('!sh in the channel of a project runs in its directory', async () => {
  const path = tempFolder();
  const setting = await startSetting({
    file: { allowShell: true },
    servers: (own) => [{ ...own, projects: [projectEntry({ path, channel: own.channel })], onlyProjects: true }],
  });
  const { channelId } = setting.workspace;
  await setting.say(channelId, '!sh pwd');
  await setting.answer(channelId, new RegExp(`^-# In \`${path}\` on \`laptop\`:\n\`\`\`\n${path}\n`));
});

describe('!sessions and !help', () => {
  it('list the sessions with their state, unusual names as text, and the commands', async () => {
    const setting = await startSetting();
    const claude = await setting.claude('web');
    setting.machine.tmux.call('new-session', '-d', '-s', 'odd `name` @everyone', 'cat');
    await setting.say(setting.workspace.channelId, '!sessions');
    const { content } = await setting.answer(setting.workspace.channelId, /^🟢|\n🟢/);
    expect(content).toMatch(new RegExp(`🟢 \`web\` <#${claude.thread}> idle(?: for \\d+ s)? · `));
    expect(content).toMatch(/🐚 `odd 'name' @everyone@laptop` (?:shell|`cat`) · /);
    await setting.say(setting.workspace.channelId, '!help');
    await setting.answer(setting.workspace.channelId, /!new <name>.*!sh <command>/s);
    await setting.say(setting.workspace.channelId, '!sesions');
    const typo = await setting.answer(setting.workspace.channelId, /^⚠️ `!sesions`/);
    expect(typo.content).toBe(
      '⚠️ `!sesions` is not a command, so nothing was done. Did you mean `!sessions`? `!help` lists all.',
    );
  });
});

describe('slash commands', () => {
  it('do the same as "!" commands, and suggest hosts and sessions', async () => {
    const setting = await startSetting({ file: { hosts: { mini: { ssh: 'mini.invalid' } } } });
    const { person, channelId } = setting.workspace;
    setting.machine.tmux.call('new-session', '-d', '-s', 'website', 'cat');
    const claude = await setting.claude('web');
    const suggested = await openSuggestions(setting);
    expect(await suggested('new', 'host', '')).toEqual(['laptop', 'mini']);
    expect(await suggested('new', 'host', 'MI')).toEqual(['mini']);
    expect(await suggested('kill', 'name', 'webs')).toEqual(['website']);
    setting.machine.tmux.call('new-session', '-d', '-s', 'hid\u202eden', 'cat');
    expect(await suggested('kill', 'name', 'hid')).toEqual(['hid\u202eden']);
    expect(await suggested('kill', 'name', 'hid', 'name')).toEqual(['hid⟨U+202E⟩den']);

    await person.slash(channelId, 'kill', [{ name: 'name', value: 'website' }]);
    await setting.answer(channelId, /^⏹️ `website` was ended/);
    await person.slash(claude.thread, 'screen', [{ name: 'as', value: 'image' }]);
    const shown = await setting.answer(claude, /^What `web` shows:$/);
    expect(JSON.stringify(shown.attachments)).toContain('Stand-in for Claude Code');
    await person.slash(claude.thread, 'key', [{ name: 'key', value: 'Up' }]);
    await vi.waitFor(() => expect(claude.noted().map(({ text }) => text)).toEqual(['\u001b[A']), WAIT);
    expect(screenOf(setting.machine, 'web')).toContain('Stand-in');
  });
});

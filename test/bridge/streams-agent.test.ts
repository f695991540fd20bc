// Headless agents, as a user sees them in their thread, with a scripted Claude Code.

import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, vi } from 'vitest';
import { loadStreamRecord, saveStreamRecord } from '../../home/stream-record.ts';
import { tempFolder } from '../support/temp-home.ts';
import { type Setting, type SettingOptions, startSetting, WAIT } from './bridge-setup.ts';

const FAKE = fileURLToPath(new URL('../support/headless-claude.mjs', import.meta.url));

async function start(options: SettingOptions = {}) {
  const root = tempFolder();
  mkdirSync(join(root, 'shop'));
  const log = join(tempFolder(), 'log');
  const setting = await startSetting({
    ...options,
    file: {
      roots: [root],
      agents: { claude: { command: ['env', `CLAUDE_FAKE_LOG=${log}`, process.execPath, FAKE] } },
      ...options.file,
    },
  });
  const { channelId } = setting.workspace;
  return {
    setting,
    root,
    channelId,
    /** The arguments, directory and pid of each process. */
    runs: (): { argv: string[]; cwd: string; pid: number }[] =>
      readFileSync(log, 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    async agent(prompt: unknown) {
      await setting.say(channelId, `!agent shop ${steps(prompt)}`);
      const up = await setting.answer(channelId, /^🤖 `shop-agent` is at work/);
      return /<#(\d+)>/.exec(up.content)?.[1] ?? '';
    },
  };
}

const steps = (prompt: unknown) => (typeof prompt === 'string' ? prompt : JSON.stringify(prompt));

const nameOf = async ({ workspace }: Setting, id: string) =>
  (await workspace.person.call('GET', `/channels/${id}`)).body;

const WAITS = { waitMs: 60_000 };

describe('!agent', () => {
  it('streams what Claude says and does, and posts a summary', async () => {
    const { setting, root, channelId, agent, runs } = await start();
    const thread = await agent([
      { say: 'I look first.' },
      { tool: 'Bash', input: { command: 'npm test' } },
      { say: 'All is well.' },
    ]);
    expect((await nameOf(setting, thread)).name).toBe('[headless] shop-agent');
    await setting.answer(thread, /^I look first\.\n\n-# 🔧 Bash.*npm test\n\nAll is well\.$/);
    await setting.answer(thread, /^✅ 2 turns · 12 s · \$0\.0421$/);
    expect(runs().map(({ cwd }) => cwd)).toEqual([join(root, 'shop')]);
    expect(runs()[0]?.argv).not.toContain('--dangerously-skip-permissions');
    await setting.say(channelId, '!status');
    await setting.answer(channelId, /🤖 agent `shop-agent` <#\d+> idle · .*\n-# 1 of at most 5/);
  });

  it('runs the agent that is named, in any order of the options, and refuses one that cannot', async () => {
    const { setting, root, channelId } = await start({ file: { skipPermissions: ['~'] } });
    await setting.say(channelId, '!agent shop --agent pi hello');
    await setting.answer(channelId, /^⚠️ pi cannot run without a terminal\.\n`!new <name> --agent pi` starts it/);
    await setting.say(channelId, '!agent shop --agent parrot hello');
    await setting.answer(channelId, /^⚠️ .*parrot/);
    await setting.say(channelId, '!agent shop --agent claude --skip-permissions hello');
    await setting.answer(channelId, /may not skip permissions/);
    await setting.say(channelId, '!agent shop --agent=claude say --agent pi');
    const { content } = await setting.answer(channelId, /is at work/);
    const thread = /<#(\d+)>/.exec(content)?.[1] ?? '';
    await setting.answer(thread, /^Echo: say --agent pi$/);
    expect(loadStreamRecord(setting.machine.home, thread)).toMatchObject({ agent: 'claude', dir: join(root, 'shop') });
  });

  it("passes the user's own commands, and what is no command as text", async () => {
    const { setting, root, agent } = await start();
    mkdirSync(join(root, 'shop/.claude/commands'), { recursive: true });
    writeFileSync(join(root, 'shop/.claude/commands/deploy.md'), 'Deploy it.\n');
    const thread = await agent('hello');
    await setting.say(thread, '/deploy now');
    await setting.answer(thread, /^Echo: \/deploy now$/);
    await setting.say(thread, '/etc is full');
    await setting.answer(thread, /^Echo: {2}\/etc is full$/);
  });

  it('continues the conversation, and !new starts a new one', async () => {
    const { setting, agent } = await start();
    const thread = await agent('my name is Ada');
    await setting.answer(thread, /^Echo: my name is Ada$/);
    const second = await setting.say(thread, JSON.stringify([{ echo: true }]));
    await setting.untilMarked(second, '✅');
    await setting.answer(thread, /^my name is Ada\n/);
    await setting.say(thread, '!new');
    await setting.answer(thread, /^🆕 /);
    const third = await setting.say(thread, JSON.stringify([{ echo: true }, { say: 'and done' }]));
    await setting.untilMarked(third, '✅');
    const fresh = await setting.answer(thread, /and done$/);
    expect(fresh.content).not.toContain('Ada');
  });

  it('takes one prompt at a time; later ones wait, and say so', async () => {
    const { setting, agent, runs } = await start();
    const thread = await agent([{ say: 'first' }, { waitMs: 2_500 }]);
    await setting.answer(thread, /^first$/);
    const second = await setting.say(thread, 'second');
    const third = await setting.say(thread, 'third');
    await setting.untilMarked(third, '📨');
    await setting.answer(thread, /^📨 Your message waits: one prompt is before it\.$/);
    await setting.answer(thread, /^📨 Your message waits: 2 prompts are before it\.$/);
    await setting.untilMarked(second, '✅');
    await setting.untilMarked(third, '✅');
    const echoes = (await setting.answers(thread)).filter(({ content }) => /^Echo/.test(content));
    expect(echoes.map(({ content }) => content)).toEqual(['Echo: second', 'Echo: third']);
    expect(runs()).toHaveLength(3);
  });

  it('does not run what waits for its turn, if its author was removed from the list meanwhile', async () => {
    let server: { allow: readonly string[] } | undefined;
    const { setting, agent, runs } = await start({
      servers: (own) => {
        server = own;
        return [own];
      },
    });
    const thread = await agent([{ say: 'first' }, { waitMs: 2_500 }]);
    await setting.answer(thread, /^first$/);
    const second = await setting.say(thread, 'second');
    await setting.untilMarked(second, '📨');
    Object.assign(server ?? {}, { allow: ['424242424242424242'] }); // as a change of config.json does
    await setting.untilMarked(second, '⚠️');
    await setting.answer(thread, /no longer on the list/);
    expect(runs()).toHaveLength(1);
  });

  it('is stopped by !stop, which ends the running prompt, drops the waiting ones and says so', async () => {
    const { setting, agent, runs } = await start();
    const thread = await agent([{ say: 'busy' }, WAITS]);
    await setting.answer(thread, /^busy$/);
    const second = await setting.say(thread, 'second');
    await setting.untilMarked(second, '📨');
    await setting.say(thread, '!stop');
    await setting.answer(thread, /^⏹️ Stopped after .* The message that waited was dropped\.$/);
    await setting.untilMarked(second, '⚠️');
    const pid = runs()[0]?.pid ?? 0;
    expect(() => process.kill(pid, 0)).toThrow('ESRCH');
    const retried = await setting.say(thread, '!retry');
    expect(retried.id).not.toBe('');
    await setting.answer(thread, /^Echo: second$/);
    await setting.untilMarked(second, '✅');
    await setting.say(thread, '!stop');
    await setting.answer(thread, /^Nothing runs\.$/);
  });

  it('is ended with its process by !done and by !kill', async () => {
    const { setting, channelId, agent, runs } = await start();
    const thread = await agent([{ say: 'busy' }, WAITS]);
    await setting.answer(thread, /^busy$/);
    await setting.say(channelId, '!kill shop-agent');
    await setting.answer(channelId, /^⏹️ `shop-agent`: It was ended while it was working\./);
    await vi.waitFor(async () => {
      expect((await nameOf(setting, thread)).thread_metadata.archived).toBe(true);
    }, WAIT);
    expect(() => process.kill(runs()[0]?.pid ?? 0, 0)).toThrow('ESRCH');
    await setting.say(channelId, '!status');
    await setting.answer(channelId, /^No terminals or headless agents/);
  });

  it('skips permissions only where the configuration allows it', async () => {
    const { setting, root, channelId, runs } = await start();
    await setting.say(channelId, '!agent shop --skip-permissions go');
    await setting.answer(channelId, /^⚠️ An agent may not skip permissions in `shop`/);
    const open = await start({ file: { roots: [root], skipPermissions: [join(root, 'shop')] } });
    await open.setting.say(open.channelId, '!agent shop --skip-permissions go');
    const up = await open.setting.answer(open.channelId, /^🤖 /);
    await open.setting.answer(/<#(\d+)>/.exec(up.content)?.[1] ?? '', /^Echo: go$/);
    expect(open.runs()[0]?.argv).toContain('--dangerously-skip-permissions');
    expect(runs).toThrow('ENOENT');
  });

  it.each([
    ['shop', /A directory and a command or prompt are needed/],
    ['shop --skip-permissions', /`!agent` needs a prompt/],
    ['/etc read it', /absolute path/],
  ])('is refused with a sentence: !agent %s', async (rest, why) => {
    const { setting, channelId } = await start();
    await setting.say(channelId, `!agent ${rest}`);
    expect((await setting.answer(channelId, why)).content).toMatch(/^⚠️ /);
  });

  it('reports an interrupted prompt after a restart, runs the waiting ones, and repeats nothing', async () => {
    const { setting, agent, runs } = await start();
    const thread = await agent('my name is Ada');
    await setting.answer(thread, /^✅ /);
    const second = await setting.say(thread, JSON.stringify([{ say: 'busy' }, WAITS]));
    await setting.answer(thread, /^busy$/);
    const third = await setting.say(thread, JSON.stringify([{ echo: true }, { say: 'third' }]));
    await setting.untilMarked(third, '📨');
    await setting.bridge.close();
    expect(() => process.kill(runs()[1]?.pid ?? 0, 0)).toThrow('ESRCH');
    await setting.restart();
    await setting.answer(thread, /^⚠️ The bridge was restarted while this turn ran/);
    await setting.untilMarked(second, '⚠️');
    await setting.untilMarked(third, '✅');
    await setting.answer(thread, /Ada[\s\S]*third$/);
    expect(runs()).toHaveLength(3);
    await setting.restart();
    const said = await setting.answers(thread);
    expect(said.filter(({ content }) => /restarted while/.test(content))).toHaveLength(1);
    expect(runs()).toHaveLength(3);
  });

  it('asks in the order of the messages, even with a slow file or a failing post', async () => {
    let slow = true;
    const { setting, agent } = await start({
      faults: {
        onRequest: ({ method, path, body }) => {
          if (method === 'POST' && /^📨/.test(String((body as { content?: string })?.content)))
            return { kind: 'answer', status: 403, body: { code: 50013, message: 'no' } };
          if (!slow || !path.includes('/attachments/')) return undefined;
          slow = false;
          return { kind: 'delay', ms: 800 };
        },
      },
    });
    const thread = await agent([{ say: 'first' }, { waitMs: 2_000 }]);
    await setting.answer(thread, /^first$/);
    const files = [{ name: 'a.txt', type: 'text/plain', data: Buffer.from('x') }];
    const { person } = setting.workspace;
    const second = await person.say(thread, 'with a file', { files });
    const third = await person.say(thread, 'without');
    await setting.untilMarked(second, '✅');
    await setting.untilMarked(third, '✅');
    const echoes = (await setting.answers(thread)).filter(({ content }) => /^Echo/.test(content));
    expect(echoes.map(({ content }) => content.split('\n')[0])).toEqual(['Echo: with a file', 'Echo: without']);
  });

  it('follows the current configuration, not the one at its start', async () => {
    const { setting, root, agent, runs } = await start();
    const skipping = { file: { skipPermissions: [join(root, 'shop')] } };
    const thread = await agent('one');
    await setting.answer(thread, /^Echo: one$/);
    const { home } = setting.machine;
    const record = loadStreamRecord(home, thread);
    if (record === undefined) throw new Error('there is no record');
    await setting.stop();
    saveStreamRecord(home, { ...record, skipPermissions: true });
    await setting.restart();
    await setting.untilMarked(await setting.say(thread, 'two'), '✅');
    expect(runs().at(-1)?.argv).not.toContain('--dangerously-skip-permissions');
    const config = { ...setting.config, ...skipping.file };
    await setting.restart({ config });
    await setting.untilMarked(await setting.say(thread, 'three'), '✅');
    expect(runs().at(-1)?.argv).toContain('--dangerously-skip-permissions');
    await setting.restart({ config: { ...config, roots: [] } });
    await setting.untilMarked(await setting.say(thread, 'four'), '⚠️');
    await setting.answer(thread, /no longer in the projects and roots/);
    expect(runs()).toHaveLength(3);
  });

  it('ends with its thread, and leaves no process and no waiting message', async () => {
    const { setting, channelId, agent, runs } = await start();
    const thread = await agent('one');
    await setting.answer(thread, /^✅ /);
    await setting.say(thread, JSON.stringify([{ say: 'busy' }, WAITS]));
    await setting.answer(thread, /^busy$/);
    await setting.untilMarked(await setting.say(thread, 'waits'), '📨');
    await setting.workspace.bot('DELETE', `/channels/${thread}`);
    await vi.waitFor(() => expect(readdirSync(setting.machine.home.folder('inbox'))).toEqual([]), WAIT);
    expect(() => process.kill(runs()[1]?.pid ?? 0, 0)).toThrow('ESRCH');
    await setting.say(channelId, '!status');
    await setting.answer(channelId, /^No terminals/);
  });
});

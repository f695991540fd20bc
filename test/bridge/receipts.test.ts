// Marks and receipts: ✅ exactly once and without a read, and ⚠️ only with a true statement about what was typed.

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { FAKE_CLAUDE, type FakeClaude } from '../support/fake-claude.ts';
import { DROP } from '../support/hook-process.ts';
import { tempFolder } from '../support/temp-home.ts';
import type { WireMessage } from '../support/workspace.ts';
import { aWhile, type Setting, startSetting, tellOfSession, untilPrompts, WAIT } from './bridge-setup.ts';

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==',
  'base64',
);
const CHECK = encodeURIComponent('✅');

/** Every request of the bot, as "METHOD path". */
async function startCounted(): Promise<Setting & { readonly requests: string[] }> {
  const requests: string[] = [];
  const setting = await startSetting({
    faults: { onRequest: ({ method, path }) => void requests.push(`${method} ${path}`) },
  });
  return Object.assign(Object.create(setting), { requests });
}

async function notices(setting: Setting, claude: FakeClaude): Promise<readonly string[]> {
  const said = await setting.answers(claude);
  return said.map(({ content }) => content).filter((text) => /^(?:⚠️|📨|🔌)/u.test(text));
}

describe('a receipt', () => {
  it('for a message with an image is ✅ without ⚠️ or Retry', async () => {
    const setting = await startSetting();
    const claude = await setting.claude('web');
    const files = [{ name: 'photo.png', data: new Uint8Array(PNG), type: 'image/png' }];
    const { person } = setting.workspace;
    const messages = [
      await person.say(claude.thread, 'what is this', { files }),
      await person.say(claude.thread, '', { files }),
      await person.say(claude.thread, 'what is this', { files }),
      await person.say(claude.thread, 'what is this'),
    ];
    for (const message of messages) await setting.untilMarked(message, '✅');
    expect(claude.prompts()).toEqual([
      ...['[Image #1]what is this', '[Image #1]', '[Image #1]what is this', 'what is this'],
    ]);
    expect(await notices(setting, claude)).toEqual([]);
  });

  it('sets ✅ once per message and reads nothing', async () => {
    const setting = await startCounted();
    const claude = await setting.claude('web');
    await setting.untilMarked(await setting.say(claude, 'first'), '✅');
    setting.requests.length = 0;
    const messages: WireMessage[] = [];
    for (const text of ['one', 'two\nlines', 'one', '/clear', 'three']) messages.push(await setting.say(claude, text));
    for (const message of messages) await setting.untilMarked(message, '✅');
    await aWhile();
    const bot = setting.requests.filter((one) => one.startsWith('PUT') || one.startsWith('GET'));
    for (const { id } of messages) expect(bot.filter((one) => one.includes(id) && one.includes(CHECK))).toHaveLength(1);
    const reads = bot.filter((one) => one.startsWith('GET') && !isOurs(one, messages));
    expect(reads).toEqual([]);
  });
});

/** Whether it is a read of the test itself, which fetches one message at a time. */
function isOurs(request: string, messages: readonly WireMessage[]): boolean {
  return messages.some(({ id, channel_id }) => request === `GET /channels/${channel_id}/messages/${id}`);
}

describe('a message that was typed but not confirmed', () => {
  it('says so, asks before it is sent again, and becomes ✅ when its receipt arrives late', async () => {
    const setting = await startSetting({ waits: { confirmMs: 300 } });
    const claude = await setting.claude('web');
    await claude.tell('mute', true);
    const message = await setting.say(claude, 'hello');
    await vi.waitFor(async () => expect(await setting.marks(message)).toEqual(['⚠️']), { ...WAIT, timeout: 40_000 });
    const told = await setting.answer(claude, /^⚠️ Typed, but not confirmed\. Check the screen/);
    expect((await notices(setting, claude)).filter((text) => /Not delivered/.test(text))).toEqual([]);
    expect(JSON.stringify(told.components)).toContain(`retry-asks:${message.id}`);

    await setting.workspace.person.tap(claude.thread, told.id, `retry-asks:${message.id}`);
    expect((await setting.answer(claude, /Send it again anyway\?/)).id).toBe(told.id);
    await aWhile();
    expect(claude.prompts()).toEqual(['hello']);

    await claude.tell('mute', false);
    late(setting, claude, 'hello');
    await setting.untilMarked(message, '✅');
    await vi.waitFor(async () => {
      const now = (await setting.answers(claude)).find(({ id }) => id === told.id);
      expect(now?.content).toBe('-# ✅ Submitted. The confirmation was late.');
      expect(now?.components).toEqual([]);
    }, WAIT);
    expect(claude.prompts()).toEqual(['hello']);
  });

  it('is corrected after a restart if the receipt came while the bridge was down', async () => {
    const setting = await startSetting({ waits: { confirmMs: 300 } });
    const claude = await setting.claude('web');
    await claude.tell('mute', true);
    const message = await setting.say(claude, 'hello');
    const told = await vi.waitFor(() => setting.answer(claude, /^⚠️ Typed, but not confirmed/), {
      ...WAIT,
      timeout: 40_000,
    });
    await vi.waitFor(() => expect(claude.record().deliveries[0]?.notice).toBe(told.id), WAIT);
    await setting.stop();
    late(setting, claude, 'hello');
    await setting.restart();
    await setting.untilMarked(message, '✅');
    await setting.answer(claude, /^-# ✅ Submitted\. The confirmation was late\.$/);
  });

  it('is sent again once if the user says so', async () => {
    const setting = await startSetting({ waits: { confirmMs: 300 } });
    const claude = await setting.claude('web');
    await claude.tell('mute', true);
    const message = await setting.say(claude, 'hello');
    const told = await vi.waitFor(() => setting.answer(claude, /^⚠️ Typed, but not confirmed/), {
      ...WAIT,
      timeout: 40_000,
    });
    await claude.tell('mute', false);
    const { person } = setting.workspace;
    await person.tap(claude.thread, told.id, `retry-asks:${message.id}`);
    const question = await setting.answer(claude, /Send it again anyway\?/);
    await person.tap(claude.thread, question.id, `retry:${message.id}`);
    await setting.untilMarked(message, '✅');
    await untilPrompts(claude, ['hello', 'hello']);
  });
});

/** The delayed letter of the hook. */
function late({ machine }: Setting, claude: FakeClaude, prompt: string): void {
  const { transcript, claudeSession } = claude.record();
  machine.write(machine.paneEnv(`=${claude.session}:`), {
    session_id: claudeSession,
    transcript_path: transcript,
    cwd: machine.tmux.dir,
    hook_event_name: 'UserPromptSubmit',
    prompt_id: 'late',
    prompt,
  });
}

describe('a message written as soon as the thread exists', () => {
  const threadOf = (setting: Setting, session: string) =>
    vi.waitFor(
      () => {
        const record = setting.shared.threads.registry.all().find(({ sessionName }) => sessionName === session);
        if (record === undefined) throw new Error('no thread yet');
        return record.thread;
      },
      { timeout: 20_000, interval: 5 },
    );

  function makeSession({ machine }: Setting, session: string): void {
    const variables = Object.entries(machine.env).flatMap(([name, value]) => ['-e', `${name}=${value}`]);
    const size = ['-x', '120', '-y', '40', '-c', machine.tmux.dir];
    machine.tmux.call('new-session', '-d', '-s', session, ...size, ...variables, 'sh');
    tellOfSession(machine, session);
  }

  it('waits for the agent and is typed, four times out of four', async () => {
    const setting = await startSetting();
    setting.machine.tmux.call('new-session', '-d', '-s', 'keeper', 'cat');
    for (let n = 0; n < 4; n++) {
      const session = `web-${n}`;
      // Half of the threads are created by SessionStart, half by the tmux hook, before Claude is started.
      const isFirst = n % 2 === 1;
      if (isFirst) makeSession(setting, session);
      const starting = isFirst ? undefined : setting.claude(session);
      const thread = await threadOf(setting, session);
      const message = await setting.say(thread, `hello ${n}`);
      if (isFirst) await aWhile();
      const claude = await (starting ?? setting.claude(session, { again: true }));
      await setting.untilMarked(message, '✅');
      await untilPrompts(claude, [`hello ${n}`]);
      const said = (await setting.answers(thread)).map(({ content }) => content);
      expect(said.filter((text) => text.startsWith('⚠️'))).toEqual([]);
      expect(said.filter((text) => text.includes('without our hooks'))).toEqual([]);
    }
  });

  it('for a session that `!new` creates waits while its shell still has the pane', async () => {
    const folder = tempFolder();
    const agent = join(folder, 'agent');
    const setting = await startSetting({ file: { agents: { claude: { command: [agent] } } } });
    const { machine, workspace } = setting;
    const variables = Object.entries(machine.env).map(([name, value]) => `${name}='${value}'`);
    const claude = `'${process.execPath}' '${FAKE_CLAUDE}' "$d" '${DROP}'`;
    const lines = ['#!/bin/sh', `d=$(mktemp -d ${folder}/XXXXXX)`, 'sleep 1'];
    writeFileSync(agent, [...lines, `exec env ${variables.join(' ')} ${claude}`].join('\n'), { mode: 0o755 });
    for (const session of ['shop-1', 'shop-2', 'shop-3']) {
      await setting.say(workspace.channelId, `!new ${session}`);
      const thread = await threadOf(setting, session);
      const message = await setting.say(thread, `hello ${session}`);
      await setting.untilMarked(message, '✅');
      const said = (await setting.answers(thread)).map(({ content }) => content);
      expect(said.filter((text) => text.startsWith('⚠️'))).toEqual([]);
    }
    const records = readdirSync(folder).filter((name) => name !== 'agent');
    const prompts = records.map((name) => readFileSync(join(folder, name, 'record'), 'utf8'));
    expect(prompts.map((text) => text.match(/hello shop-\d/g)?.length)).toEqual([1, 1, 1]);
  });
});

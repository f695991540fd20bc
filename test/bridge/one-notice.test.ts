// What a user sees while a message cannot be typed: a reaction at once on every waiting message, and one notice that
// changes and goes away.

import { existsSync } from 'node:fs';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createStatusReactions } from '../../bridge/status-reactions.ts';
import { silentLog } from '../../core/log.ts';
import { connectRest, type Rest } from '../../discord/rest.ts';
import type { FakeClaude } from '../support/fake-claude.ts';
import { buttonOf, messageNow } from '../support/prompt-pane.ts';
import type { WireMessage } from '../support/workspace.ts';
import { openPageSocket } from '../workspace/raw-socket.ts';
import { aWhile, type Setting, startSetting, untilPrompts, WAIT } from './bridge-setup.ts';

/** No notice is posted in a test with this patience. */
const NO_NOTICE_YET = { patienceMs: 600_000 };

async function notices(setting: Setting, claude: FakeClaude): Promise<readonly WireMessage[]> {
  return (await setting.answers(claude)).filter(({ content }) => /^(?:📨|⚠️|🔁|-# ✅)/.test(content));
}

describe('a reaction', () => {
  it.each([
    ['a dialog', (claude: FakeClaude) => claude.tell('dialog', 'make')],
    ['a panel', (claude: FakeClaude) => claude.tell('dialog', 'cost')],
  ])('says that a message waits, and those behind it, long before a notice does: %s', async (_, open) => {
    const setting = await startSetting({ waits: NO_NOTICE_YET });
    const claude = await setting.claude('web');
    await open(claude);
    const messages = [];
    for (const text of ['one', 'two', 'three']) messages.push(await setting.say(claude, text));
    for (const message of messages) await setting.untilMarked(message, '📨');
    expect(await notices(setting, claude)).toEqual([]);
    await claude.tell('close');
    for (const message of messages) await setting.untilMarked(message, '✅');
    await untilPrompts(claude, ['one', 'two', 'three']);
  });

  it('comes while the pane does not answer at all', async () => {
    const setting = await startSetting({ waits: NO_NOTICE_YET });
    const claude = await setting.claude('web');
    const pid = claude.record().serverPid;
    process.kill(pid, 'SIGSTOP');
    try {
      const message = await setting.say(claude, 'hello');
      await setting.untilMarked(message, '📨');
    } finally {
      process.kill(pid, 'SIGCONT');
    }
    await untilPrompts(claude, ['hello']);
  });

  it('is changed no more than needed: a message that is typed at once never has 📨', async () => {
    const setting = await startSetting({ waits: { markMs: 5_000 } });
    const claude = await setting.claude('web');
    const page = await openPageSocket(setting.workspace);
    for (const text of ['one', 'two', 'three']) await setting.untilMarked(await setting.say(claude, text), '✅');
    const changes = page.heard
      .filter(({ t }) => t?.startsWith('MESSAGE_REACTION_'))
      .map(({ t, d }) => `${t} ${d.emoji.name}`);
    expect(changes.filter((one) => one.includes('📨'))).toEqual([]);
    expect(changes.filter((one) => one.startsWith('MESSAGE_REACTION_ADD'))).toHaveLength(6);
  });

  it('that is replaced before it could be set is skipped', async () => {
    const seen: string[] = [];
    const held: (() => void)[] = [];
    const rest = await restWith((request, response) => {
      seen.push(changeOf(request));
      held.push(() => response.writeHead(204).end());
    });
    const marks = createStatusReactions(rest, silentLog);
    const first = marks.set('1', '10', 'waiting');
    await vi.waitFor(() => expect(held).toHaveLength(1));
    const last = (['waiting', 'typed', 'submitted'] as const).map((mark) => marks.set('1', '11', mark));
    void marks.set('1', '10', 'typed');
    const ended = marks.set('1', '10', 'submitted');
    for (let at = 0; at < 4; at++) {
      await vi.waitFor(() => expect(held.length).toBeGreaterThan(at));
      held[at]?.();
    }
    await Promise.all([first, ...last, ended]);
    expect(seen.toSorted()).toEqual(['DELETE 10 📨', 'PUT 10 ✅', 'PUT 10 📨', 'PUT 11 ✅']);
  });

  it('that could not be removed is removed with the next change', async () => {
    const seen: string[] = [];
    const refused = ['DELETE 10 ⚠️', 'DELETE 10 📨'];
    const rest = await restWith((request, response) => {
      const change = changeOf(request);
      seen.push(change);
      const isRefused = refused.includes(change);
      if (isRefused) refused.splice(refused.indexOf(change), 1);
      response.writeHead(isRefused ? 403 : 204).end();
    });
    const marks = createStatusReactions(rest, silentLog);
    marks.assume('10', ['failed']);
    await marks.set('1', '10', 'waiting');
    await marks.set('1', '10', 'typed');
    marks.assume('10', ['failed']); // Retry
    seen.length = 0;
    await marks.set('1', '10', 'submitted');
    expect(seen.toSorted()).toEqual(['DELETE 10 ⚠️', 'DELETE 10 👀', 'DELETE 10 📨', 'PUT 10 ✅']);
  });
});

async function restWith(answer: RequestListener): Promise<Rest> {
  const server = createServer(answer).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const rest = connectRest({ api: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, token: 'x' });
  onTestFinished(async () => {
    await rest.close();
    server.close();
  });
  return rest;
}

function changeOf({ method, url = '' }: IncomingMessage): string {
  const [, message, emoji = ''] = /messages\/(\d+)\/reactions\/([^/]+)/.exec(url) ?? [];
  return `${method} ${message} ${decodeURIComponent(emoji)}`;
}

describe('a notice', () => {
  it('is short, has no keys, and is gone when the message was typed', async () => {
    const setting = await startSetting();
    const claude = await setting.claude('web');
    await claude.tell('dialog', `make ${'very '.repeat(20)}long`);
    const messages = [await setting.say(claude, 'one'), await setting.say(claude, 'two')];
    const notice = await setting.answer(claude, /^📨 Your message waits\./);
    // The card of the dialog shows its text.
    expect(notice.content).toBe(
      '📨 Your message waits. Claude is asking for permission to use a tool. Answer it, and your message is typed.',
    );
    expect(JSON.stringify(notice.components)).not.toMatch(/key:(?!look)/);
    await aWhile(1_000);
    expect(await notices(setting, claude)).toHaveLength(1);
    await claude.tell('close');
    for (const message of messages) await setting.untilMarked(message, '✅');
    expect(await notices(setting, claude)).toEqual([]);
  });

  it('is edited when the reason changes, also after a restart, and becomes the failure with Retry', async () => {
    const setting = await startSetting();
    const claude = await setting.claude('web');
    await claude.tell('dialog', 'make');
    const message = await setting.say(claude, 'hello');
    const notice = await setting.answer(claude, /asking for permission/);
    await claude.tell('choice', { title: 'Select model', options: ['Default', 'Opus'], at: 0, numbered: true });
    const becomes = (text: RegExp) =>
      vi.waitFor(async () => {
        const now = await messageNow(setting.workspace, notice);
        expect(now.content).toMatch(text);
        return now;
      }, WAIT);
    await becomes(/^📨 Your message waits\. (?!.*permission).*Answer it, and your message is typed\./);
    await setting.restart();
    await claude.tell('choice', undefined);
    await becomes(/asking for permission/);
    await claude.tell('close');
    await claude.tell('dialog', 'make');
    await claude.tell('exit');
    const failed = await becomes(/^⚠️ Not delivered\./);
    await setting.untilMarked(message, '⚠️');
    expect(JSON.stringify(failed.components)).toContain('retry:');
    expect(await notices(setting, claude)).toHaveLength(1);
  });

  it('is gone in the end also if Retry came before the failed attempt had ended', async () => {
    let endAttempt = () => {};
    const over = new Promise<void>((resolve) => {
      endAttempt = resolve;
    });
    let isHeld = false;
    const onRequest = ({ method, path }: { method: string; path: string }) => {
      if (isHeld || method !== 'PUT' || !path.includes(encodeURIComponent('⚠️'))) return undefined;
      isHeld = true;
      return { kind: 'answer-late' as const, over };
    };
    const setting = await startSetting({ faults: { onRequest } });
    // In a shell, so that its session stays and its thread is not archived meanwhile.
    const claude = await setting.claude('web', { inShell: true });
    await claude.tell('dialog', 'make');
    const message = await setting.say(claude, 'hello');
    await setting.untilMarked(message, '📨');
    await claude.tell('exit');
    await setting.answer(claude, /^⚠️ Not delivered\./);
    await vi.waitFor(() => expect(isHeld).toBe(true), WAIT);
    const next = await setting.claude('web', { again: true });
    await next.tell('dialog', 'make');
    await setting.say(claude, '!retry');
    await setting.answer(claude, /^🔁/);
    endAttempt();
    await setting.untilMarked(message, '📨');
    expect(existsSync(setting.machine.home.path('inbox', `${message.id}.json`))).toBe(true);
    await next.tell('close');
    await untilPrompts(next, ['hello']);
    await setting.untilMarked(message, '✅');
    await vi.waitFor(
      async () =>
        expect((await notices(setting, claude)).filter(({ content }) => !content.startsWith('🔁'))).toEqual([]),
      WAIT,
    );
  });

  it('of a failed message is gone when Retry has delivered it', async () => {
    const setting = await startSetting();
    const claude = await setting.claude('web');
    await claude.tell('exit');
    await vi.waitFor(async () => {
      const message = await setting.say(claude, 'hello');
      await setting.untilMarked(message, '⚠️');
    }, WAIT);
    const failed = await setting.answer(claude, /^⚠️ Not delivered/);
    const next = await setting.claude('web');
    expect(next.thread).toBe(claude.thread);
    await setting.workspace.person.tap(claude.thread, failed.id, buttonOf(failed, 'Retry'));
    await untilPrompts(next, ['hello']);
    await vi.waitFor(async () => expect(await notices(setting, claude)).toEqual([]), WAIT);
  });
});

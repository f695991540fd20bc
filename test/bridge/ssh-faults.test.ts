// The same journey with an unreliable connection to the other machine.

import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { openCursors, openInbox } from '../../bridge/inbox.ts';
import { snowflakeAt } from '../../core/snowflake.ts';
import { untilPrompts, WAIT } from './bridge-setup.ts';
import { startFar } from './remote-host.ts';

describe('a host', () => {
  it('that is down at the start keeps messages waiting, and gets them in order', async () => {
    const far = await startFar({ before: (ssh) => ssh.stop() });
    const claude = await far.farClaude('web');
    const messages = [];
    for (const text of ['one', 'two', 'three']) messages.push(await far.say(claude, text));
    await far.answer(claude, /^📨 Your message waits\. .*Connection refused/);
    await far.untilMarked(messages[0] as never, '📨');
    await far.ssh.start();
    for (const message of messages) await far.untilMarked(message, '✅');
    expect(claude.prompts()).toEqual(['one', 'two', 'three']);
  });

  it('that is lost in between gets every message once, in order', async () => {
    const far = await startFar();
    const claude = await far.farClaude('web', { replies: false });
    const wanted = Array.from({ length: 24 }, (_, n) => `message ${n}`);
    const messages = [];
    for (const [n, text] of wanted.entries()) {
      messages.push(await far.say(claude, text));
      if (n % 5 === 4) {
        await sleep(40 + 30 * (n % 4));
        far.ssh.drop();
      }
      if (n === 12) await far.ssh.stop();
      if (n === 20) await far.ssh.start();
    }
    await untilPrompts(claude, wanted, 90_000);
    for (const message of messages) await far.untilMarked(message, '✅');
    expect(claude.noted().filter(({ kind }) => kind !== 'prompt')).toEqual([]);
  });

  it('whose key has changed gets nothing typed, and the thread says so at once', async () => {
    const far = await startFar();
    const claude = await far.farClaude('web');
    await far.untilMarked(await far.say(claude, 'hello'), '✅');
    far.ssh.changeHostKey();
    far.ssh.drop();
    const changed = await far.say(claude, 'who is there?');
    await far.untilMarked(changed, '⚠️');
    await far.answer(claude, /IDENTIFICATION HAS CHANGED.*ssh-keygen -R/s);
    expect(claude.prompts()).toEqual(['hello']);
  });

  it('that gets another address is found there, with what has waited', async () => {
    const far = await startFar();
    const claude = await far.farClaude('web');
    await far.untilMarked(await far.say(claude, 'hello'), '✅');
    await far.ssh.stop();
    const waiting = await far.say(claude, 'where are you?');
    await far.untilMarked(waiting, '📨');
    const elsewhere = await freePort();
    const config = readFileSync(far.ssh.configFile, 'utf8');
    writeFileSync(far.ssh.configFile, config.replace(`Port ${far.ssh.port}`, `Port ${elsewhere}`));
    await far.ssh.start(elsewhere);
    await far.untilMarked(waiting, '✅');
    expect(claude.prompts()).toEqual(['hello', 'where are you?']);
  });

  it('that asks for a password fails with a sentence', async () => {
    const far = await startFar({
      before: (ssh) => {
        ssh.faults.passwordOnly = true;
      },
    });
    const claude = await far.farClaude('web');
    await far.untilMarked(await far.say(claude, 'hello'), '⚠️');
    await far.answer(claude, /Permission denied.*with a key and without questions/s);
  });

  it('that has been down for a day gets nothing typed any more, and the thread says so', async () => {
    const far = await startFar({ before: (ssh) => ssh.stop() });
    const claude = await far.farClaude('web');
    const { id } = await far.say(claude, 'wait');
    await far.answer(claude, /^📨/);
    await far.bridge.close();
    const { home } = far.machine;
    const inbox = openInbox(home.folder('inbox'), openCursors(home.path('state', 'unused.json'), 0));
    inbox.done({ id });
    const old = snowflakeAt(Date.now() - 25 * 3_600_000);
    inbox.put({
      id: old,
      channelId: claude.thread,
      authorId: far.workspace.userId,
      author: 'someone',
      text: 'yesterday',
      attachments: [],
    });
    await far.restart();
    await far.answer(claude, /^⚠️ Not delivered\. It could not be typed within a day\./);
    await far.ssh.start();
    await far.untilMarked(await far.say(claude, 'today'), '✅');
    expect(claude.prompts()).toEqual(['today']);
  });

  it('that does not answer is marked by !sessions, which still shows the others', async () => {
    const far = await startFar({
      before: (ssh) => {
        ssh.faults.silent = true;
      },
    });
    far.machine.tmux.call('new-session', '-d', '-s', 'here', 'cat');
    await far.say(far.workspace.channelId, '!sessions');
    const list = await far.answer(far.workspace.channelId, /not reachable/);
    expect(list.content).toMatch(/`here`/);
    expect(list.content).toMatch(/🔌 `far` is not reachable: /);
    await vi.waitFor(() => expect(far.log.filter((line) => /error/.test(line))).toEqual([]), WAIT);
  });
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

import { type ChildProcess, spawn } from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setImmediate as turn } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startWorkspace, type Workspace } from '../../workspace/server.ts';
import { tempFolder } from '../support/temp-home.ts';
import { request, USER_AGENT } from '../support/workspace.ts';
import { openBotPort } from '../support/workspace-access.mjs';

type Where = Pick<Workspace, 'api' | 'token' | 'channelId' | 'guildId' | 'applicationId'>;

const call = (at: Where, method: string, path: string, body?: unknown) =>
  request(at.api + path, method, body, { authorization: `Bot ${at.token}`, 'user-agent': USER_AGENT });
const say = (at: Where, content: string, extra: object = {}) =>
  call(at, 'POST', `/channels/${at.channelId}/messages`, { content, ...extra });
const contents = async (at: Where): Promise<string[]> => {
  const { body } = await call(at, 'GET', `/channels/${at.channelId}/messages?limit=100`);
  return body.map(({ content }: { content: string }) => content).reverse();
};

/** Runs the act against a new server on the folder, then stops the server. */
async function once<T>(
  dir: string,
  act: (workspace: Workspace) => Promise<T>,
  log?: (line: string) => void,
): Promise<T> {
  const workspace = await startWorkspace({ dir, ...(log && { log }) });
  const port = await openBotPort(workspace.api);
  try {
    return await act({ ...workspace, api: port.api });
  } finally {
    port.close();
    await workspace.close();
  }
}

describe('after a restart', () => {
  it('all identities, messages, changes and settings are the same', async () => {
    const dir = tempFolder();
    const before = await once(dir, async (workspace) => {
      const { body: kept } = await say(workspace, 'kept', { nonce: 'n', enforce_nonce: true });
      const path = `/channels/${workspace.channelId}/messages`;
      await call(workspace, 'PATCH', `${path}/${kept.id}`, { content: 'kept and edited' });
      await call(workspace, 'PUT', `${path}/${kept.id}/reactions/${encodeURIComponent('✅')}/@me`);
      const { body: gone } = await say(workspace, 'gone');
      await call(workspace, 'DELETE', `${path}/${gone.id}`);
      const { body: thread } = await call(workspace, 'POST', `${path}/${kept.id}/threads`, { name: 'talk' });
      await call(workspace, 'PATCH', `/channels/${thread.id}`, { archived: true });
      const commands = `/applications/${workspace.applicationId}/guilds/${workspace.guildId}/commands`;
      await call(workspace, 'PUT', commands, [{ name: 'new', description: 'd' }]);
      const { token, botId, userId, channelId, guildId } = workspace;
      return { kept, gone, commands, who: { token, botId, userId, channelId, guildId } };
    });

    await once(dir, async (workspace) => {
      const { token, botId, userId, channelId, guildId } = workspace;
      expect({ token, botId, userId, channelId, guildId }).toEqual(before.who);
      const { body } = await call(workspace, 'GET', `/channels/${channelId}/messages`);
      expect(body).toMatchObject([
        {
          content: 'kept and edited',
          reactions: [{ emoji: { name: '✅' } }],
          thread: { thread_metadata: { archived: true } },
        },
      ]);
      expect((await call(workspace, 'GET', before.commands)).body).toMatchObject([{ name: 'new' }]);
      const repeated = await say(workspace, 'kept', { nonce: 'n', enforce_nonce: true });
      expect(repeated.body.id).toBe(before.kept.id);
      const { body: next } = await say(workspace, 'next');
      expect(BigInt(next.id)).toBeGreaterThan(BigInt(before.gone.id));
    });
  });

  it('uploaded files still exist, under new addresses of the same server', async () => {
    const dir = tempFolder();
    const form = new FormData();
    form.set('files[0]', new Blob(['bytes']), 'a.txt');
    await once(dir, (workspace) => call(workspace, 'POST', `/channels/${workspace.channelId}/messages`, form));
    await once(dir, async (workspace) => {
      const { body } = await call(workspace, 'GET', `/channels/${workspace.channelId}/messages`);
      const [{ url }] = body[0].attachments;
      expect(url.startsWith(workspace.url)).toBe(true);
      expect(await (await fetch(url)).text()).toBe('bytes');
    });
  });

  it('ids keep increasing even if the clock was set back', async () => {
    const dir = tempFolder();
    await once(dir, (workspace) => say(workspace, 'x'));
    const future = '1999999999999999999';
    appendFileSync(join(dir, 'journal.jsonl'), `${JSON.stringify({ t: 'last-id', id: future })}\n`);
    const { body } = await once(dir, (workspace) => say(workspace, 'y'));
    expect(BigInt(body.id)).toBeGreaterThan(BigInt(future));
  });
});

describe('the journal', () => {
  it('survives being cut at any byte: complete lines stay, the partial one is removed', async () => {
    const dir = tempFolder();
    await once(dir, async (workspace) => {
      for (const word of ['one', 'two', 'three 😀']) await say(workspace, word);
    });
    const path = join(dir, 'journal.jsonl');
    const whole = readFileSync(path);
    const ends = [...whole.entries()].filter(([, byte]) => byte === 10).map(([index]) => index + 1);
    for (const length of [...ends.flatMap((end) => [end - 1, end, end + 1, end + 40]), whole.length - 8]) {
      writeFileSync(path, whole.subarray(0, length));
      const complete = ends.filter((end) => end <= Math.min(length, whole.length)).length;
      await once(dir, (workspace) => say(workspace, 'after'));
      const said = await once(dir, contents);
      expect(said).toEqual([...['one', 'two', 'three 😀'].slice(0, complete), 'after']);
    }
  });

  it('skips a line of garbage in its middle and says so', async () => {
    const dir = tempFolder();
    await once(dir, (workspace) => say(workspace, 'before'));
    appendFileSync(join(dir, 'journal.jsonl'), '\u0000\u0001garbage\n{"t":"nonsense"}\n[]\n');
    const lines: string[] = [];
    await once(
      dir,
      (workspace) => say(workspace, 'after'),
      (line) => lines.push(line),
    );
    expect(lines).toHaveLength(3);
    expect(await once(dir, contents)).toEqual(['before', 'after']);
  });

  it('and everything else in the folder is private', async () => {
    const dir = tempFolder();
    const form = new FormData();
    form.set('files[0]', new Blob(['x']), 'x');
    await once(dir, (workspace) => call(workspace, 'POST', `/channels/${workspace.channelId}/messages`, form));
    const all = readdirSync(dir, { recursive: true, withFileTypes: true });
    expect(all.map(({ name }) => name)).toEqual(expect.arrayContaining(['identity.json', 'journal.jsonl', 'files']));
    for (const entry of all) {
      const mode = statSync(join(entry.parentPath, entry.name)).mode & 0o777;
      expect([entry.name, mode]).toEqual([entry.name, entry.isDirectory() ? 0o700 : 0o600]);
    }
    expect(statSync(dir).mode & 0o777).toBe(0o700);
  });
});

describe('a second server', () => {
  it('on the same folder is refused with a sentence', async () => {
    const dir = tempFolder();
    await once(dir, async () => {
      await expect(startWorkspace({ dir })).rejects.toThrow(
        `Process ${process.pid} already serves the workspace in ${dir}.`,
      );
    });
    await once(dir, (workspace) => say(workspace, 'free again'));
  });

  it('on a taken port is refused with a sentence and leaves the folder free', async () => {
    const dir = tempFolder();
    await once(tempFolder(), async ({ url }) => {
      const port = Number(new URL(url).port);
      await expect(startWorkspace({ dir, port })).rejects.toThrow(`cannot listen on 127.0.0.1:${port}`);
    });
    await once(dir, (workspace) => say(workspace, 'free'));
  });
});

describe('a damaged identity', () => {
  it('is reported and not overwritten', async () => {
    const dir = tempFolder();
    await once(dir, async () => {});
    const path = join(dir, 'identity.json');
    truncateSync(path, 20);
    await expect(startWorkspace({ dir })).rejects.toThrow('is damaged');
    expect(statSync(path).size).toBe(20);
    rmSync(path);
    await once(dir, (workspace) => say(workspace, 'the folder is free again'));
  });
});

describe('a killed server', () => {
  it('loses nothing that it had acknowledged, and its lock is taken over', async () => {
    const dir = tempFolder();
    const acknowledged: string[] = [];
    for (let round = 0; round < 3; round++) {
      const { child, at } = await spawnServer(dir);
      let answered = 0;
      // Several at a time, so that the kill hits requests in flight.
      const write = async (writer: number) => {
        for (let n = 0; ; n++) {
          const content = `${round}.${writer}.${n}`;
          const answer = await say(at, content).catch(() => undefined);
          if (answer?.status !== 200) return;
          acknowledged.push(content);
          if (++answered === 20) child.kill('SIGKILL');
        }
      };
      const ended = new Promise((resolve) => child.once('exit', resolve));
      await Promise.all([0, 1, 2, 3].map(write));
      await ended;
    }
    expect(acknowledged.length).toBeGreaterThanOrEqual(60);
    const kept = await once(dir, everything);
    expect(kept).toEqual(expect.arrayContaining(acknowledged));
    expect(new Set(kept).size).toBe(kept.length);
  });

  it('loses and repeats nothing when it is killed while the journal is compacted', async () => {
    const dir = tempFolder();
    const path = join(dir, 'journal.jsonl');
    const channelId = await once(dir, async (workspace) => {
      await say(workspace, 'sample');
      return workspace.channelId;
    });
    const sample = readFileSync(path, 'utf8')
      .split('\n')
      .find((line) => line.includes('sample'));
    const { message } = JSON.parse(sample ?? '');
    const lines = Array.from({ length: 5_000 }, (_, n) => {
      const id = String(BigInt(message.id) + BigInt(n) + 1n);
      return `${JSON.stringify({ t: 'message', message: { ...message, id, content: `old ${n}` } })}\n`;
    }).join('');
    // Each start finds three times as much as needed. It is killed with a part of the new file written, or right after.
    const sizeOf = (file: string) => statSync(file, { throwIfNoEntry: false })?.size ?? 0;
    const acknowledged: string[] = [];
    let cutShort = 0;
    for (const [round, share] of [0, 0.3, 0.9, Number.POSITIVE_INFINITY].entries()) {
      appendFileSync(path, lines + lines + lines);
      const { ino } = statSync(path);
      const { child, at } = await spawnServer(dir);
      const ended = new Promise((resolve) => child.once('exit', resolve));
      let begun = false;
      const isDue = () => {
        begun ||= existsSync(`${path}.new`);
        if (statSync(path).ino !== ino) return true;
        return begun && sizeOf(`${path}.new`) > lines.length * share;
      };
      const write = async (writer: number) => {
        for (let n = 0; ; n++) {
          const content = `${round}.${writer}.${n}`;
          const answer = await say(at, content).catch(() => undefined);
          if (answer?.status !== 200) return;
          acknowledged.push(content);
        }
      };
      const writing = Promise.all([0, 1].map(write));
      while (!isDue()) await turn();
      child.kill('SIGKILL');
      await Promise.all([writing, ended]);
      if (existsSync(`${path}.new`)) cutShort++;
    }
    expect(cutShort).toBeGreaterThan(0);
    const kept = await once(dir, (workspace) => everything({ ...workspace, channelId }));
    expect(kept).toEqual(expect.arrayContaining(acknowledged));
    expect(new Set(kept).size).toBe(kept.length);
    expect(kept.filter((content) => content.startsWith('old '))).toHaveLength(5_000);
  });
});

/** The messages in the channel, oldest first. */
async function everything(at: Where): Promise<string[]> {
  const all: string[] = [];
  for (let after = '0'; ; ) {
    const path = `/channels/${at.channelId}/messages?limit=100&after=${after}`;
    const { body } = await call(at, 'GET', path);
    if (body.length === 0) return all;
    all.push(...body.map(({ content }: { content: string }) => content).reverse());
    after = body[0].id;
  }
}

/** The compiled server in its own process. */
async function spawnServer(dir: string): Promise<{ child: ChildProcess; at: Where }> {
  const module = pathToFileURL('dist/workspace/server.js').href;
  const script = `import { startWorkspace } from ${JSON.stringify(module)};
    const { api, token, channelId, guildId, applicationId } = await startWorkspace({ dir: ${JSON.stringify(dir)} });
    process.stdout.write(JSON.stringify({ api, token, channelId, guildId, applicationId }) + '\\n');`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  for await (const line of createInterface({ input: child.stdout })) {
    const at = JSON.parse(line);
    const port = await openBotPort(at.api);
    onTestFinished(() => port.close());
    return { child, at: { ...at, api: port.api } };
  }
  throw new Error('The server ended before it was ready.');
}

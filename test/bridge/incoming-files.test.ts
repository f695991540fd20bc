// Files of a message: their folder, their names, and which are not downloaded.

import { readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { download } from '../../discord/http-pool.ts';
import { startSetting } from './bridge-setup.ts';

describe('a message with files', () => {
  it('gives Claude their paths, in their own folder, under names without special meaning', async () => {
    const setting = await startSetting();
    const claude = await setting.claude('web');
    const names = ['../../x', '-rf', '..', 'a b;$(id).txt', 'ok.png', 'ok.png'];
    const files = names.map((name, at) => ({ name, data: `file ${at}` }));
    const message = await setting.workspace.person.say(claude.thread, 'look at these', { files });
    await setting.untilMarked(message, '✅');
    const folder = setting.machine.home.path('files', message.id);
    const [text = ''] = claude.prompts();
    const [words, paths = ''] = text.split('\n\n');
    expect(words).toBe('look at these');
    const listed = paths.split('\n');
    expect(listed.every((path) => path.startsWith(`${folder}/`))).toBe(true);
    expect(listed.map((path) => readFileSync(path, 'utf8'))).toEqual(files.map(({ data }) => data));
    expect(readdirSync(folder)).toHaveLength(names.length);
    for (const name of readdirSync(folder)) expect(name).toMatch(/^[\w][\w.-]*$/);
    expect(statSync(folder).mode & 0o077).toBe(0);
  });

  it('may consist of a file only', async () => {
    const setting = await startSetting();
    const claude = await setting.claude('web');
    const files = [{ name: 'photo.png', data: 'pixels' }];
    const message = await setting.workspace.person.say(claude.thread, '', { files });
    await setting.untilMarked(message, '✅');
    expect(claude.prompts()).toEqual([setting.machine.home.path('files', message.id, 'photo.png')]);
  });
});

describe('download', () => {
  async function serve(): Promise<{ origin: string; asked: string[] }> {
    const asked: string[] = [];
    const server = createServer((request, response) => {
      asked.push(request.url ?? '');
      if (request.url === '/hangs') return;
      if (request.url === '/moved') return void response.writeHead(302, { location: '/big' }).end();
      if (request.url === '/gone') return void response.writeHead(404).end('no');
      response.end(Buffer.alloc(request.url === '/big' ? 5_000 : 100, 1));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    onTestFinished(() => server.closeAllConnections());
    return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
  }
  const rules = (origin: string) => ({ api: `${origin}/api/v10`, maxBytes: 1_000, timeoutMs: 400 });

  it('accepts a file from the server itself', async () => {
    const { origin } = await serve();
    expect(await download(`${origin}/small`, rules(origin))).toHaveLength(100);
  });

  it.each([
    ['/big', /larger than/],
    ['/moved', /answered 302/],
    ['/gone', /answered 404/],
    ['/hangs', /too long/],
  ])('refuses %s with a sentence', async (path, why) => {
    const { origin } = await serve();
    await expect(download(origin + path, rules(origin))).rejects.toThrow(why);
  });

  it.each([
    'http://169.254.169.254/latest/meta-data',
    'http://localhost:1/x',
    'http://cdn.discordapp.com/attachments/1/2/x.png',
    'https://cdn.discordapp.com.evil.example/x.png',
    'https://cdn.discordapp.com@evil.example/x.png',
    'https://evil.example/cdn.discordapp.com',
    'file:///etc/passwd',
    '//cdn.discordapp.com/x',
    'nonsense',
    '',
  ])('sends no request for %s', async (url) => {
    const { origin, asked } = await serve();
    await expect(download(url, rules(origin))).rejects.toThrow(/not an attachment of this server/);
    expect(asked).toEqual([]);
  });
});

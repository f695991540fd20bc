// What signs a browser in, and why it is useless later, elsewhere or after a restart.

import { generateKeyPairSync, sign } from 'node:crypto';
import { lstatSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { connectRest } from '../../../discord/rest.ts';
import { makeSignIn } from '../../../workspace/access/sign-in.ts';
import { startWorkspace } from '../../../workspace/server.ts';
import { tempFolder } from '../../support/temp-home.ts';
import { startTestWorkspace, type TestWorkspace } from '../../support/workspace.ts';
import { post, signIn } from '../../support/workspace-access.mjs';

const status = async (url: string, headers: Record<string, string>) =>
  (await fetch(`${url}/api/v10/users/@me`, { headers })).status;

async function restart(workspace: TestWorkspace): Promise<TestWorkspace> {
  const port = Number(new URL(workspace.url).port);
  await workspace.close();
  return startTestWorkspace({ dir: workspace.dir, port });
}

describe('a link', () => {
  it('works once', async () => {
    const { link } = await startTestWorkspace();
    await signIn(link);
    await expect(signIn(link)).rejects.toThrow('/sign-in/key: 401');
  });

  it('gives a key that counts at once, also when another one was written in the same moment', () => {
    const path = join(tempFolder(), 'keys.json');
    const made = makeSignIn(path, () => 1_000_000);
    const time = new Date(1_000_000);
    const open = () => {
      const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      const publicKey = pair.publicKey.export({ type: 'spki', format: 'der' }).toString('base64');
      const key = made.register(made.newCode(), publicKey, 'http://127.0.0.1:1') ?? '';
      utimesSync(path, time, time);
      const nonce = made.newNonce();
      const text = Buffer.from(`threadmux sign-in\n${nonce}\nhttp://127.0.0.1:1`);
      const signing = { key: pair.privateKey, dsaEncoding: 'ieee-p1363' } as const;
      const signature = sign('sha256', text, signing).toString('base64');
      return made.open({ key, nonce, signature }, 'http://127.0.0.1:1');
    };
    for (let n = 0; n < 3; n++) {
      expect(open()).toBeDefined();
      utimesSync(path, time, time);
    }
  });

  it('does not work after a restart, used or not', async () => {
    const workspace = await startTestWorkspace({ dir: tempFolder() });
    const [used, unused] = [workspace.link, workspace.link];
    await signIn(used);
    await restart(workspace);
    for (const link of [used, unused]) await expect(signIn(link)).rejects.toThrow('401');
  });

  it('does not work after a quarter of an hour', () => {
    let now = 1_000_000;
    const made = makeSignIn(join(tempFolder(), 'keys.json'), () => now);
    const code = made.newCode();
    now += 15 * 60_000;
    expect(made.register(code, PUBLIC_KEY, 'http://127.0.0.1:1')).toBeUndefined();
    expect(made.register(made.newCode(), PUBLIC_KEY, 'http://127.0.0.1:1')).toBeDefined();
  });

  it('contains no token', async () => {
    const workspace = await startTestWorkspace();
    expect(workspace.link).not.toContain(workspace.token);
    expect(workspace.link).not.toContain(workspace.person.token);
  });
});

const PUBLIC_KEY =
  'MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEaxfR8uEsQkf4vOblY6RA8ncDfYEt6zOg9KE5RdiYwpZP40Li/hp/m47n60p8D54WK84zV2sxXs7LtkBoN79R9Q==';

describe('a session', () => {
  it('ends when its key is removed from the file', async () => {
    const workspace = await startTestWorkspace({ dir: tempFolder() });
    expect(await status(workspace.url, workspace.person.headers)).toBe(200);
    rmSync(join(workspace.dir, 'keys.json'));
    expect(await status(workspace.url, workspace.person.headers)).toBe(401);
  });

  it('ends with the process, and the same key opens another one', async () => {
    const before = await startTestWorkspace({ dir: tempFolder() });
    const { signedIn } = before.person;
    expect(await status(before.url, before.person.headers)).toBe(200);
    const after = await restart(before);
    expect(await status(after.url, before.person.headers)).toBe(401);
    expect(await status(after.url, (await signedIn.again()).headers)).toBe(200);
  });

  it('is not opened by a signature that was used, is for another origin or for the nonce of another process', async () => {
    const workspace = await startTestWorkspace({ dir: tempFolder() });
    const { url, person } = workspace;
    const { signedIn } = person;
    const nonce = async () => (await post(url, 'nonce', {})).nonce as string;
    const used = await signedIn.prove(await nonce());
    await post(url, 'session', used);
    await expect(post(url, 'session', used)).rejects.toThrow('401');
    const elsewhere = await signedIn.prove(await nonce(), 'http://127.0.0.1:1');
    await expect(post(url, 'session', elsewhere)).rejects.toThrow('401');
    const invented = await signedIn.prove('1.a.b');
    await expect(post(url, 'session', invented)).rejects.toThrow('401');
    const unused = await signedIn.prove(await nonce());
    const after = await restart(workspace);
    await expect(post(after.url, 'session', unused)).rejects.toThrow('401');
  });

  it('is not opened with a key that was registered at another address, even if its signature names this one', async () => {
    const before = await startTestWorkspace({ dir: tempFolder() });
    const { signedIn } = before.person;
    await before.close();
    const after = await startTestWorkspace({ dir: before.dir }); // another port, because another process took the usual one
    expect(after.url).not.toBe(before.url);
    const { nonce } = await post(after.url, 'nonce', {});
    const relayed = await signedIn.prove(nonce, after.url);
    await expect(post(after.url, 'session', relayed)).rejects.toThrow('401');
  });

  it('is not opened from another site, nor without Origin', async () => {
    const { url, person } = await startTestWorkspace();
    const proof = await person.signedIn.prove((await post(url, 'nonce', {})).nonce);
    const foreign: Record<string, string>[] = [
      {},
      { origin: 'http://evil.example' },
      { origin: url, 'sec-fetch-site': 'cross-site' },
    ];
    for (const headers of foreign) await expect(post(url, 'session', proof, headers)).rejects.toThrow('403');
  });

  it('keeps the twenty most recently used keys, with their dates', () => {
    let now = Date.parse('2026-01-01');
    const path = join(tempFolder(), 'keys.json');
    const made = makeSignIn(path, () => now++);
    for (let at = 0; at < 25; at++) made.register(made.newCode(), PUBLIC_KEY, 'http://x');
    const keys = () => JSON.parse(readFileSync(path, 'utf8')).keys;
    expect(keys()).toHaveLength(1);
    const others = Array.from({ length: 30 }, (_, id) => ({ ...keys()[0], id: `old ${id}`, usedAt: '2025' }));
    writeFileSync(path, JSON.stringify({ keys: others }));
    made.register(made.newCode(), PUBLIC_KEY, 'http://x');
    expect(keys()).toHaveLength(20);
    expect(keys()[0].usedAt).toMatch(/^2026/);
  });
});

describe('an uploaded file', () => {
  it('has an address that is invalid after a restart, but the bot can still reach the file', async () => {
    const before = await startTestWorkspace({ dir: tempFolder() });
    const files = [{ name: 'a.txt', data: 'secret' }];
    const { attachments } = await before.person.say(before.channelId, '', { files });
    const { pathname, search } = new URL(attachments[0]?.url ?? '');
    expect(await (await fetch(before.url + pathname + search)).text()).toBe('secret');
    const after = await restart(before);
    expect((await fetch(after.url + pathname + search)).status).toBe(404);
    expect(await (await fetch(after.botUrl + pathname + search)).text()).toBe('secret');
  });
});

describe('the bot’s socket', () => {
  it('is private to its owner, and replaces one that a killed process left', async () => {
    const dir = tempFolder();
    writeFileSync(join(dir, 'socket'), 'left over');
    const workspace = await startTestWorkspace({ dir });
    const socket = lstatSync(join(dir, 'socket'));
    expect([socket.isSocket(), socket.mode & 0o777, lstatSync(dir).mode & 0o777]).toEqual([true, 0o600, 0o700]);
    const rest = connectRest({ api: workspace.socketApi, token: workspace.token });
    expect(await rest.call('GET', '/users/@me')).toMatchObject({ id: workspace.botId });
    await rest.close();
  });

  it('with a path that is too long is refused in a sentence, and nothing keeps listening', async () => {
    const dir = join(tempFolder(), 'x'.repeat(100));
    await expect(startWorkspace({ dir })).rejects.toThrow(/is too long for a socket \(\d+ bytes/);
    await expect(startWorkspace({ dir })).rejects.toThrow('too long'); // the lock was released
  });
});

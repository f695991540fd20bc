import { request as httpRequest } from 'node:http';
import { describe, expect, it } from 'vitest';
import { startTestWorkspace, USER_AGENT } from '../support/workspace.ts';
import { openSocket } from './raw-socket.ts';

/** `fetch` does not let a caller set Host; a browser tricked by DNS rebinding sends the attacker's. */
function ask(
  workspace: { url: string },
  path: string,
  headers: Record<string, string>,
  method = 'GET',
): Promise<{ status: number; body: string; headers: NodeJS.Dict<string | string[]> }> {
  return new Promise((resolve, reject) => {
    const sent = httpRequest(workspace.url + path, { method, headers }, (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (chunk) => {
        body += chunk;
      });
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, body, headers: response.headers }),
      );
    });
    sent.on('error', reject).end(method === 'POST' ? '{"content":"forged"}' : undefined);
  });
}

describe('the API refuses', () => {
  it("a request without a token, with Discord's own words", async () => {
    const workspace = await startTestWorkspace();
    const answer = await ask(workspace, '/api/v10/users/@me', { 'user-agent': USER_AGENT });
    expect([answer.status, JSON.parse(answer.body)]).toEqual([
      401,
      { message: '401: Unauthorized', code: 0 },
    ]);
  });

  it('a wrong token', async () => {
    const workspace = await startTestWorkspace();
    for (const authorization of [
      `Bot ${workspace.token}x`,
      workspace.token,
      'Bot ',
      `Bearer ${workspace.token}`,
    ]) {
      const answer = await ask(workspace, '/api/v10/users/@me', {
        authorization,
        'user-agent': USER_AGENT,
      });
      expect(answer.status).toBe(401);
    }
  });

  it.each([undefined, 'node', 'Python-urllib/3.12', 'DiscordBot'])(
    'the bot under the User-Agent %s, as Cloudflare does',
    async (agent) => {
      const workspace = await startTestWorkspace();
      const authorization = `Bot ${workspace.token}`;
      const answer = await ask(workspace, '/api/v10/users/@me', {
        authorization,
        ...(agent && { 'user-agent': agent }),
      });
      expect([answer.status, answer.body]).toEqual([403, 'error code: 1010']);
    },
  );

  it.each([
    'evil.example',
    'evil.example:PORT',
    '127.0.0.1',
    '127.0.0.1:1',
    'localhost.evil.example:PORT',
  ])('the Host %s, even with the right secrets', async (template) => {
    const workspace = await startTestWorkspace();
    const host = template.replace('PORT', new URL(workspace.url).port);
    const bot = { authorization: `Bot ${workspace.token}`, 'user-agent': USER_AGENT };
    expect((await ask(workspace, '/api/v10/users/@me', { host, ...bot })).status).toBe(403);
    expect(
      (await ask(workspace, '/api/v10/users/@me', { host, cookie: workspace.person.cookie }))
        .status,
    ).toBe(403);
    expect((await ask(workspace, '/', { host })).status).toBe(403);
  });

  it('a form post or a request of another site, although the browser adds the cookie', async () => {
    const workspace = await startTestWorkspace();
    const { cookie } = workspace.person;
    const path = `/api/v10/channels/${workspace.channelId}/messages`;
    const json = { 'content-type': 'application/json' };
    const forged: Record<string, string>[] = [
      { cookie, ...json },
      { cookie, ...json, origin: 'null' },
      { cookie, ...json, origin: 'https://evil.example' },
      { cookie, ...json, origin: workspace.url.replace('http:', 'https:') },
      { cookie, ...json, origin: 'http://localhost:1' },
      { cookie, ...json, origin: workspace.url, 'sec-fetch-site': 'cross-site' },
    ];
    for (const headers of forged) {
      expect((await ask(workspace, path, headers, 'POST')).status).toBe(403);
    }
    expect((await ask(workspace, path, { cookie, 'sec-fetch-site': 'same-site' })).status).toBe(
      403,
    );
    expect(await workspace.person.messages(workspace.channelId)).toEqual([]);
    const own = { cookie, ...json, origin: workspace.url, 'sec-fetch-site': 'same-origin' };
    expect((await ask(workspace, path, own, 'POST')).status).toBe(200);
  });

  it('the bot what only the person may do, and the person what only the bot may', async () => {
    const workspace = await startTestWorkspace();
    expect((await workspace.bot('POST', '/interactions', {})).status).toBe(401);
    expect((await workspace.person.call('GET', '/gateway/bot')).status).toBe(401);
  });
});

describe('a socket', () => {
  it('of another site is refused, with the cookie and without', async () => {
    const workspace = await startTestWorkspace();
    const { cookie } = workspace.person;
    const refused: Record<string, string>[] = [
      { cookie },
      { cookie, origin: 'https://evil.example' },
      { origin: 'https://evil.example' },
      { host: 'evil.example' },
    ];
    for (const headers of refused)
      expect(await openSocket(workspace, { headers }).closed).toBe(403);
    expect(await openSocket(workspace, { path: '/elsewhere' }).closed).toBe(404);
  });

  it('of the page needs no token and hears everything', async () => {
    const workspace = await startTestWorkspace();
    const headers = { cookie: workspace.person.cookie, origin: workspace.url };
    const socket = openSocket(workspace, { headers });
    await socket.until({ op: 10 });
    socket.send(2, {});
    const ready = await socket.until({ t: 'READY' });
    expect(ready.d.user.id).toBe(workspace.userId);
    await workspace.bot('POST', `/channels/${workspace.channelId}/messages`, {
      content: 'from the bot',
    });
    expect((await socket.until({ t: 'MESSAGE_CREATE' })).d.content).toBe('from the bot');
  });
});

describe('the secret link', () => {
  it('sets a cookie that scripts cannot read and other sites cannot use', async () => {
    const workspace = await startTestWorkspace();
    const answer = await fetch(workspace.link, { redirect: 'manual' });
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/']);
    expect(answer.headers.get('set-cookie')).toMatch(/; HttpOnly; SameSite=Strict$/);
    expect((await fetch(`${workspace.link}x`, { redirect: 'manual' })).status).toBe(403);
  });

  it('holds neither the token nor the cookie', async () => {
    const workspace = await startTestWorkspace();
    expect(workspace.link).not.toContain(workspace.token);
    expect(workspace.link).not.toContain(workspace.person.cookie.split('=')[1]);
  });
});

describe('the page', () => {
  it('is served with a strict policy and without inline script', async () => {
    const workspace = await startTestWorkspace();
    const answer = await fetch(workspace.url);
    const html = await answer.text();
    expect(answer.headers.get('content-security-policy')).toContain(
      "default-src 'none'; script-src 'self'",
    );
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
    expect(html).not.toMatch(/<script[^>]*>[^<]|\son\w+=|style=/);
    for (const asset of ['/page.js', '/page.css'])
      expect((await fetch(workspace.url + asset)).status).toBe(200);
  });

  it.each([
    '/../server.ts',
    '/%2e%2e/server.ts',
    '/identity.json',
    '/page/index.html',
    '/attachments/1/2/x?hm=00',
  ])('gives nothing away at %s', async (path) => {
    const workspace = await startTestWorkspace();
    expect((await ask(workspace, path, {})).status).toBe(404);
  });
});

describe('an uploaded file', () => {
  it("is handed out by its signed address only, and HTML never runs in the page's origin", async () => {
    const workspace = await startTestWorkspace();
    const message = await workspace.person.say(workspace.channelId, '', {
      files: [{ name: '../../evil <b>.html', data: '<script>1</script>', type: 'text/html' }],
    });
    const file = message.attachments[0];
    expect(file?.filename).toBe('evil_b_.html');
    const answer = await fetch(file?.url ?? '');
    expect(await answer.text()).toBe('<script>1</script>');
    expect(answer.headers.get('content-type')).toBe('application/octet-stream');
    expect(answer.headers.get('content-disposition')).toBe('attachment');
    expect(answer.headers.get('content-security-policy')).toContain('sandbox');
    expect((await fetch(file?.url.replace(/hm=./, 'hm=g') ?? '')).status).toBe(404);
  });
});

import { request as httpRequest } from 'node:http';
import { describe, expect, it } from 'vitest';
import { startTestWorkspace, USER_AGENT } from '../../support/workspace.ts';
import { openPageSocket, openSocket } from '../raw-socket.ts';

const botOf = ({ botUrl }: { botUrl: string }) => ({ url: botUrl });

/** `fetch` does not let a caller set Host; a browser after DNS rebinding sends the attacker's. */
function ask(
  { url }: { url: string },
  path: string,
  headers: Record<string, string>,
  method = 'GET',
): Promise<{ status: number; body: string; headers: NodeJS.Dict<string | string[]> }> {
  return new Promise((resolve, reject) => {
    const sent = httpRequest(url + path, { method, headers }, (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (chunk) => {
        body += chunk;
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body, headers: response.headers }));
    });
    sent.on('error', reject).end(method === 'POST' ? '{"content":"forged"}' : undefined);
  });
}

describe('the API refuses', () => {
  it('a request without a token, with the error of Discord', async () => {
    const workspace = await startTestWorkspace();
    for (const at of [workspace, botOf(workspace)]) {
      const answer = await ask(at, '/api/v10/users/@me', { 'user-agent': USER_AGENT });
      expect([answer.status, JSON.parse(answer.body)]).toEqual([401, { message: '401: Unauthorized', code: 0 }]);
    }
  });

  it('a wrong token', async () => {
    const workspace = await startTestWorkspace();
    for (const authorization of [
      `Bot ${workspace.token}x`,
      workspace.token,
      'Bot ',
      `Bearer ${workspace.token}`,
      workspace.person.headers.authorization ?? '',
    ]) {
      const answer = await ask(botOf(workspace), '/api/v10/users/@me', { authorization, 'user-agent': USER_AGENT });
      expect(answer.status).toBe(401);
    }
  });

  it.each([undefined, 'node', 'Python-urllib/3.12', 'DiscordBot'])(
    'the bot under the User-Agent %s, as Cloudflare does',
    async (agent) => {
      const workspace = await startTestWorkspace();
      const authorization = `Bot ${workspace.token}`;
      const answer = await ask(botOf(workspace), '/api/v10/users/@me', {
        authorization,
        ...(agent && { 'user-agent': agent }),
      });
      expect([answer.status, answer.body]).toEqual([403, 'error code: 1010']);
    },
  );

  it.each(['evil.example', 'evil.example:PORT', '127.0.0.1', '127.0.0.1:1', 'localhost.evil.example:PORT'])(
    'the Host %s, even with the right secrets',
    async (template) => {
      const workspace = await startTestWorkspace();
      const host = template.replace('PORT', new URL(workspace.url).port);
      const { authorization = '' } = workspace.person.headers;
      expect((await ask(workspace, '/api/v10/users/@me', { host, authorization })).status).toBe(403);
      expect((await ask(workspace, '/', { host })).status).toBe(403);
    },
  );

  it('a request from another site, even with the right token', async () => {
    const workspace = await startTestWorkspace();
    const { authorization = '' } = workspace.person.headers;
    const path = `/api/v10/channels/${workspace.channelId}/messages`;
    const json = { authorization, 'content-type': 'application/json' };
    const forged: Record<string, string>[] = [
      { ...json, origin: 'null' },
      { ...json, origin: 'https://evil.example' },
      { ...json, origin: workspace.url.replace('http:', 'https:') },
      { ...json, origin: 'http://localhost:1' },
      { ...json, origin: workspace.url, 'sec-fetch-site': 'cross-site' },
    ];
    for (const headers of forged) expect((await ask(workspace, path, headers, 'POST')).status).toBe(403);
    const near = { authorization, 'sec-fetch-site': 'same-site' };
    expect((await ask(workspace, path, near)).status).toBe(403);
    expect(await workspace.person.messages(workspace.channelId)).toEqual([]);
    const own = { ...json, origin: workspace.url, 'sec-fetch-site': 'same-origin' };
    expect((await ask(workspace, path, own, 'POST')).status).toBe(200);
  });

  it('the bot what only the user may do, and the user what only the bot may do', async () => {
    const workspace = await startTestWorkspace();
    expect((await workspace.bot('POST', '/interactions', {})).status).toBe(401);
    expect((await workspace.person.call('GET', '/gateway/bot')).status).toBe(401);
  });
});

describe('a WebSocket', () => {
  it('from another site, or from a program that is not a browser, is refused on the port', async () => {
    const workspace = await startTestWorkspace();
    const refused: Record<string, string>[] = [
      {},
      { origin: 'https://evil.example' },
      { origin: workspace.url, host: 'evil.example' },
    ];
    for (const headers of refused) expect(await openSocket(workspace, { at: workspace.url, headers }).closed).toBe(403);
    const headers = { origin: workspace.url };
    const elsewhere = { at: workspace.url, headers, path: '/elsewhere' };
    expect(await openSocket(workspace, elsewhere).closed).toBe(404);
  });

  it.each([
    ['no token', () => ''],
    ['the bot’s token', ({ token }: { token: string }) => token],
  ])('from the page is closed with %s', async (_, tokenOf) => {
    const workspace = await startTestWorkspace();
    for (const [op, more] of [
      [2, { intents: 1, properties: {} }],
      [6, { session_id: 'x', seq: 1 }],
    ] as const) {
      const at = { at: workspace.url, headers: { origin: workspace.url } };
      const socket = openSocket(workspace, at);
      await socket.until({ op: 10 });
      socket.send(op, { token: tokenOf(workspace), ...more });
      expect(await socket.closed).toBe(4004);
    }
  });

  it('from the page receives everything once it is signed in', async () => {
    const workspace = await startTestWorkspace();
    const socket = await openPageSocket(workspace);
    const ready = await socket.until({ t: 'READY' });
    expect(ready.d.user.id).toBe(workspace.userId);
    await workspace.bot('POST', `/channels/${workspace.channelId}/messages`, { content: 'from the bot' });
    expect((await socket.until({ t: 'MESSAGE_CREATE' })).d.content).toBe('from the bot');
  });
});

describe('the page', () => {
  // Cookies have no port: any program at 127.0.0.1 can set them, and the browser sends them to us.
  it('is sent to a browser with as many cookies as it keeps for an address; longer headers are refused', async () => {
    const workspace = await startTestWorkspace();
    const cookies = (count: number) =>
      Array.from({ length: count }, (_, at) => `c${at}=${'x'.repeat(4_090)}`).join('; ');
    const statusWith = async (cookie: string) => (await ask(workspace, '/', { cookie })).status;
    expect(await statusWith(cookies(180))).toBe(200);
    expect(await statusWith(cookies(270)).catch((error: { code: string }) => error.code)).toBeOneOf([
      431,
      'ECONNRESET', // it was closed before everything was sent
      'EPIPE',
    ]);
  });

  it('is served with a strict policy and without inline script', async () => {
    const workspace = await startTestWorkspace();
    const answer = await fetch(workspace.url);
    const html = await answer.text();
    expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'; script-src 'self'");
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
    expect(html).not.toMatch(/<script[^>]*>[^<]|\son\w+=|style=/);
    // Its policy allows no picture with an address.
    const { icons } = (await (await fetch(`${workspace.url}/app.webmanifest`)).json()) as { icons: { src: string }[] };
    expect(icons.map(({ src }) => src.split(',')[0])).toEqual(['data:image/svg+xml']);
    for (const asset of ['/page.js', '/page.css']) expect((await fetch(workspace.url + asset)).status).toBe(200);
  });

  it.each(['/../server.ts', '/%2e%2e/server.ts', '/identity.json', '/page/index.html', '/attachments/1/2/x?hm=00'])(
    'does not expose %s',
    async (path) => {
      const workspace = await startTestWorkspace();
      expect((await ask(workspace, path, {})).status).toBe(404);
    },
  );
});

describe('an uploaded file', () => {
  it('is served by its signed address only, and HTML never runs in the origin of the page', async () => {
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

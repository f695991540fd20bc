import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readHost } from '../../../bin/init/hosts.ts';
import { checkUserIds } from '../../../bin/init/messages.ts';
import { startTestWorkspace, type TestWorkspace } from '../../support/workspace.ts';
import { newcomer } from './wizard.ts';

/** Every answer about Discord, with the token on stdin. */
function answers(workspace: TestWorkspace) {
  const { api, channelId: channel, userId: allow } = workspace;
  return { api, channel, allow, tokenFile: '-', yes: true };
}

describe('threadmux init with flags', () => {
  it('writes a private configuration and sends a message through a real thread', async () => {
    const workspace = await startTestWorkspace();
    const person = newcomer();
    const { status, said } = await person.run(answers(workspace), `${workspace.token}\n`);
    expect({ status, said }).toMatchObject({ status: 0, said: expect.stringContaining('and back in') });
    const { api, token, channelId: channel, userId } = workspace;
    expect(person.read()).toEqual({ servers: [{ api, token, channel, allow: [userId] }] });
    expect(statSync(person.config).mode & 0o777).toBe(0o600);
    expect(statSync(person.root).mode & 0o777).toBe(0o700);
    expect(said).not.toContain(token);
    const { body } = await workspace.bot('GET', `/channels/${channel}/threads/archived/public`);
    expect(body.threads).toMatchObject([{ name: 'threadmux: setup test', thread_metadata: { archived: true } }]);
  });

  it('creates no thread if it is told not to', async () => {
    const workspace = await startTestWorkspace();
    const { status } = await newcomer().run({ ...answers(workspace), roundTrip: false }, workspace.token);
    expect(status).toBe(0);
    expect(await workspace.person.messages(workspace.channelId)).toEqual([]);
  });

  it('refers to the token file instead of copying it, and refuses one that others can read', async () => {
    const workspace = await startTestWorkspace();
    const person = newcomer();
    const tokenFile = join(person.folder, 'token');
    writeFileSync(tokenFile, `${workspace.token}\n`, { mode: 0o644 });
    const flags = { ...answers(workspace), tokenFile };
    expect(await person.run(flags)).toMatchObject({
      status: 78,
      said: expect.stringContaining(`chmod 600 ${tokenFile}`),
    });
    expect(person.hasHome()).toBe(false);
    chmodSync(tokenFile, 0o600);
    expect(await person.run(flags)).toMatchObject({ status: 0 });
    expect(person.read().servers).toMatchObject([{ tokenFile }]);
    expect(readFileSync(person.config, 'utf8')).not.toContain(workspace.token);
  });

  it('reads the token from the environment', async () => {
    const workspace = await startTestWorkspace();
    const person = newcomer();
    const { tokenFile: _, ...flags } = answers(workspace);
    const ran = await person.run(flags, '', { DISCORD_BOT_TOKEN: workspace.token });
    expect(ran.status).toBe(0);
    expect(person.read().servers).toMatchObject([{ token: workspace.token }]);
  });

  it('names the missing flag and changes nothing when there is no terminal', async () => {
    const workspace = await startTestWorkspace();
    const missing = { tokenFile: '--token-file', channel: '--channel', allow: '--allow', yes: '--yes' } as const;
    await Promise.all(
      Object.entries(missing).map(async ([left, flag]) => {
        const person = newcomer();
        const flags = { ...answers(workspace), [left]: undefined };
        expect(await person.run(flags, workspace.token)).toEqual({
          status: 2,
          said: expect.stringContaining(`${flag} is required`),
        });
        expect(person.hasHome()).toBe(false);
      }),
    );
  });

  it('asks for the first answer if none is given', async () => {
    expect(await newcomer().run({})).toMatchObject({
      status: 2,
      said: expect.stringContaining('--local or --token-file is required'),
    });
  });

  it('changes nothing if the token is refused', async () => {
    const workspace = await startTestWorkspace();
    const person = newcomer();
    expect(await person.run(answers(workspace), 'some-other-token')).toEqual({
      status: 78,
      said: expect.stringMatching(/401[\s\S]*Reset Token/),
    });
    expect(person.hasHome()).toBe(false);
  });

  it('changes nothing if the bot may not read messages', async () => {
    const workspace = await startTestWorkspace({ messageContentIntent: false });
    const person = newcomer();
    expect(await person.run(answers(workspace), workspace.token)).toEqual({
      status: 1,
      said: expect.stringMatching(/Message Content Intent is off[\s\S]*developer portal/),
    });
    expect(person.hasHome()).toBe(false);
  });

  it('changes nothing if the bot lacks permissions, and names them', async () => {
    const workspace = await startTestWorkspace({
      faults: {
        onRequest: ({ path }) =>
          path.endsWith('/roles')
            ? { kind: 'answer', status: 200, body: [{ id: path.split('/')[2], permissions: '326417615872' }] }
            : undefined,
      },
    });
    const person = newcomer();
    expect(await person.run(answers(workspace), workspace.token)).toEqual({
      status: 1,
      said: expect.stringMatching(/needs more permissions in #\S+: Add Reactions\n.*permissions=326417615936/),
    });
    expect(person.hasHome()).toBe(false);
  });

  it('changes nothing if the channel does not exist', async () => {
    const workspace = await startTestWorkspace();
    const person = newcomer();
    const flags = { ...answers(workspace), channel: '1234567890123456789' };
    expect(await person.run(flags, workspace.token)).toEqual({ status: 1, said: expect.stringMatching(/10003/) });
    expect(person.hasHome()).toBe(false);
  });

  it.each([
    ['here=elsewhere', /is the name of this machine/],
    ['a b=c', /not a valid host name/],
    ['x=-oProxyCommand=touch', /not a valid ssh name/],
    ['-x', /not a valid ssh name/],
    ['me@', /not a valid host name/],
  ])('refuses the host %s', (text, said) => {
    expect(() => readHost(text, 'here')).toThrow(said);
  });

  it.each([
    ['mini', { name: 'mini', ssh: 'mini' }],
    ['me@mini.local', { name: 'mini.local', ssh: 'me@mini.local' }],
    ['big=me@10.0.0.7', { name: 'big', ssh: 'me@10.0.0.7' }],
  ])('accepts the host %s', (text, host) => {
    expect(readHost(text, 'here')).toEqual(host);
  });

  it.each(['me', '', '12345', '123456789012345678 '])('refuses the user id "%s"', (id) => {
    expect(() => checkUserIds(id)).toThrow(/not a user id/);
  });

  it('does not add the bot to the allowed users', async () => {
    const workspace = await startTestWorkspace();
    const flags = { ...answers(workspace), allow: [workspace.userId, workspace.botId] };
    expect(await newcomer().run(flags, workspace.token)).toMatchObject({
      status: 2,
      said: expect.stringContaining('is the bot itself'),
    });
  });
});

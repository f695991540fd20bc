import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openHome } from '../../../home/home.ts';
import { startSshServer } from '../../support/ssh-server.ts';
import { startTestWorkspace, type TestWorkspace } from '../../support/workspace.ts';
import { newcomer } from './wizard.ts';

/** Every answer about Discord, with the token on stdin. */
function answers(workspace: TestWorkspace) {
  const { api, channelId: channel, userId: allow } = workspace;
  return { api, channel, allow, tokenFile: '-', yes: true };
}

describe('threadmux init over an existing configuration', () => {
  it('keeps unknown keys and everything it did not ask about, and makes a backup', async () => {
    const workspace = await startTestWorkspace();
    const { api, channelId: channel, userId } = workspace;
    const person = newcomer();
    const before = `{
    "futureKey": {"x": [1, 2]},
    "progress": "quiet",
    "hosts": {"old": {"ssh": "old", "tmux": "/opt/tmux"}},
    "servers": [
        {"name": "other", "api": "https://other.example/api", "token": "other-secret", "channel": "123456789012345678", "allow": ["123456789012345678"]},
        {"name": "mine", "api": "${api}", "token": "stale-secret", "channel": "123456789012345678", "allow": ["123456789012345678"], "onlyProjects": true}
    ]
}`;
    person.write(before);
    const { status, said } = await person.run(answers(workspace), workspace.token);
    expect(status).toBe(0);
    const was = JSON.parse(before);
    expect(person.read()).toEqual({
      ...was,
      servers: [was.servers[0], { ...was.servers[1], token: workspace.token, channel, allow: [userId] }],
    });
    expect(said).toContain('futureKey is not a key that threadmux knows');
    const [backup = '', ...more] = person.backups();
    expect(more).toEqual([]);
    expect(readFileSync(join(person.root, backup), 'utf8')).toBe(before);
    expect(statSync(join(person.root, backup)).mode & 0o777).toBe(0o600);
    expect(said).toMatch(/^ +\+ .*"token": "\[new secret\]"/m);
    for (const secret of ['other-secret', 'stale-secret', workspace.token]) expect(said).not.toContain(secret);
  });

  it('changes nothing the second time, and asks for nothing it knows', async () => {
    const workspace = await startTestWorkspace();
    const person = newcomer();
    await person.run(answers(workspace), workspace.token);
    const text = readFileSync(person.config, 'utf8');
    const again = await person.run({ yes: true });
    expect(again).toMatchObject({ status: 0, said: expect.stringContaining('is up to date') });
    expect(readFileSync(person.config, 'utf8')).toBe(text);
    expect(person.backups()).toEqual([]);
  });

  it('does not touch a file that it cannot read', async () => {
    const person = newcomer();
    person.write('{"servers": [');
    expect(await person.run({ local: true, yes: true })).toMatchObject({
      status: 78,
      said: expect.stringContaining('was not changed'),
    });
    expect(readFileSync(person.config, 'utf8')).toBe('{"servers": [');
  });
});

describe('threadmux init for the local workspace', () => {
  it('needs one flag, and tests the result', async () => {
    const person = newcomer();
    const { status, said } = await person.run({ local: true, yes: true });
    expect({ status, said }).toMatchObject({ status: 0, said: expect.stringContaining('and back in') });
    expect(person.read()).toEqual({});
  });

  it('warns that the environment still selects Discord', async () => {
    const flags = { local: true, yes: true, roundTrip: false };
    const { said } = await newcomer().run(flags, '', { DISCORD_BOT_TOKEN: 'x' });
    expect(said).toMatch(/! DISCORD_BOT_TOKEN set in the environment: threadmux would use Discord/);
  });

  it('removes Discord from the configuration, and makes a backup', async () => {
    const person = newcomer();
    person.write('{"progress": "quiet", "servers": [{"token": "a-secret"}]}');
    const { status, said } = await person.run({ local: true, yes: true, roundTrip: false });
    expect(status).toBe(0);
    expect(said).not.toContain('a-secret');
    expect(person.read()).toEqual({ progress: 'quiet', servers: [] });
    expect(person.backups()).toHaveLength(1);
  });

  it('uses the workspace that is already running', async () => {
    const person = newcomer();
    const dir = openHome(person.root).folder('workspace');
    const workspace = await startTestWorkspace({ dir });
    const { api, token, channelId: channel, userId: user } = workspace;
    const state = openHome(person.root).folder('state');
    writeFileSync(join(state, 'workspace.json'), JSON.stringify({ api, token, channel, user }));
    expect(await person.run({ local: true, yes: true })).toMatchObject({ status: 0 });
    expect(await workspace.person.messages(channel)).toHaveLength(1);
  });

  it('refuses flags for Discord', async () => {
    expect(await newcomer().run({ local: true, channel: '1', yes: true })).toMatchObject({
      status: 2,
      said: expect.stringContaining('--local cannot be used with Discord options'),
    });
  });
});

describe('threadmux init with other machines', () => {
  it('checks each one and reports what it found', async () => {
    const server = await startSshServer({ path: process.env.PATH ?? '' });
    const person = newcomer();
    person.useSsh(server.configFile);
    const flags = { local: true, yes: true, roundTrip: false, host: ['mini=far'] };
    const { status, said } = await person.run(flags);
    expect(status).toBe(0);
    expect(said).toMatch(/✓ mini is reachable\.\n✓ tmux \d.* on mini\./);
    expect(said).toContain('✓ The clock of mini matches');
    expect(said).not.toContain('Node.js');
    expect(person.read()).toEqual({ hosts: { mini: { ssh: 'far' } } });
    expect(statSync(join(person.root, 'ssh'), { throwIfNoEntry: false })).toBeUndefined();
  });

  it('adds an unreachable one only if the user confirms it', async () => {
    const server = await startSshServer();
    await server.stop();
    const person = newcomer();
    person.useSsh(server.configFile);
    const flags = { local: true, roundTrip: false, host: 'far' };
    expect(await person.run(flags)).toMatchObject({
      status: 2,
      said: expect.stringMatching(/✗ .*Connection refused[\s\S]*--yes is required/),
    });
    expect(person.hasHome()).toBe(false);
    expect(await person.run({ ...flags, yes: true })).toMatchObject({ status: 0 });
    expect(person.read()).toEqual({ hosts: { far: { ssh: 'far' } } });
  });
});

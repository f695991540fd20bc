import { describe, expect, it, vi } from 'vitest';
import { startSshServer } from '../../support/ssh-server.ts';
import { startTestWorkspace } from '../../support/workspace.ts';
import { newcomer } from './wizard.ts';

/** A busy machine needs this much time. */
describe('threadmux init at a terminal', () => {
  it('takes a new user from nothing to a working thread', async () => {
    const workspace = await startTestWorkspace();
    const server = await startSshServer({ path: process.env.PATH ?? '' });
    const { api, token, channelId: channel, userId, person: owner } = workspace;
    const person = newcomer();
    person.useSsh(server.configFile);
    const terminal = person.sit({ api });

    await terminal.sees('Bot token (hidden):');
    terminal.type('not-the-token');
    await terminal.sees('✗ Discord rejects this token.');
    await terminal.sees(/rejects[\s\S]*Bot token/);
    terminal.type(token);
    await terminal.sees('✓ Message Content Intent is on.');

    await terminal.sees(/Which channel do you want to use for the threads\?\n.*#\S+ in threadmux\n/);
    terminal.type('');
    await terminal.sees('✓ The bot has all permissions it needs');

    await terminal.sees('or press Enter to pair with a code:');
    terminal.type('');
    const [, code = ''] = await terminal.sees(/Write this code in #[\s\S]*\n│ {6}([A-Z2-9]{6})\n/);
    const [invitation] = await owner.messages(channel);
    expect(invitation?.content).toContain('write the code from your terminal');
    expect(invitation?.content).not.toContain(code);
    await owner.say(channel, 'AAAAAA');
    await owner.say(channel, code.toLowerCase());
    await terminal.sees(`you (${userId}) wrote the code. Allow this user to write to your sessions?`);
    terminal.press('y');
    await terminal.sees(`Allowed users: ${userId}`);
    expect((await owner.messages(channel)).map(({ id }) => id)).not.toContain(invitation?.id);
    await terminal.sees('Another user id');
    terminal.type('');

    await terminal.sees('Add a machine over ssh');
    terminal.type('me@-bad');
    await terminal.sees('is not a valid host name');
    terminal.type('mini=far');
    await terminal.sees('✓ The clock of mini matches');
    terminal.type('');

    await terminal.sees('● Yes / ○ No');
    expect(person.hasHome()).toBe(false);
    terminal.type('');
    await terminal.sees('and back in');
    await terminal.sees('ended with 0');
    expect(person.read()).toEqual({
      servers: [{ api, token, channel, allow: [userId] }],
      hosts: { mini: { ssh: 'far' } },
    });
    expect(terminal.screen()).not.toContain(token);
    expect(terminal.screen()).not.toContain('not-the-token');
  });

  it('allows nobody who wrote the code but was not confirmed at the terminal, even with --yes', async () => {
    const workspace = await startTestWorkspace();
    const { api, channelId: channel, userId, person: owner } = workspace;
    const person = newcomer();
    const terminal = person.sit({ api, channel, yes: true });
    await terminal.sees('Bot token');
    terminal.type(workspace.token);
    await terminal.sees('or press Enter to pair with a code:');
    terminal.type('');
    const [, code = ''] = await terminal.sees(/\n│ {6}([A-Z2-9]{6})\n/);
    await owner.say(channel, code);
    await terminal.sees('○ Yes / ● No');
    terminal.type('');
    await terminal.sees(/your sessions\?\n│ {2}No\n[\s\S]*or press Enter to pair with a code:/);
    terminal.type(userId);
    await terminal.sees('Another user id');
    terminal.type('');
    await terminal.sees('ended with 0');
    expect(person.read().servers).toMatchObject([{ allow: [userId] }]);
  });

  it('changes nothing when it is stopped with Ctrl-C, Ctrl-D or Esc', async () => {
    const workspace = await startTestWorkspace();
    const { api, token, channelId: channel, userId, person: owner } = workspace;
    const stages = [
      { flags: {}, before: 'Where do you want to chat with your sessions?' },
      { flags: { api }, before: 'Bot token' },
      { flags: { api }, before: 'Bot token', key: 'C-d' },
      { flags: { api }, before: 'Bot token', key: 'Escape' },
      {
        flags: { api, channel },
        typed: token,
        before: 'pair with a code:',
        enters: '',
        until: /\n│ {6}[A-Z2-9]{6}\n/,
      },
      {
        flags: { api, channel, allow: userId },
        typed: token,
        before: 'Add a machine',
        enters: '',
        until: /Write these changes/,
      },
    ];
    for (const { flags, typed, before, enters, until, key = 'C-c' } of stages) {
      const person = newcomer();
      const terminal = person.sit(flags);
      if (typed !== undefined) {
        await terminal.sees('Bot token');
        terminal.type(typed);
      }
      await terminal.sees(before);
      if (enters !== undefined) terminal.type(enters);
      if (until !== undefined) await terminal.sees(until);
      terminal.press(key);
      await terminal.sees(/Cancelled. Nothing was changed.\n[\s\S]*ended with 130/);
      expect(person.hasHome()).toBe(false);
      await vi.waitFor(async () => expect(await owner.messages(channel)).toEqual([]));
    }
  });

  it('shows an escape sequence in the name of a server or channel instead of sending it to the terminal', async () => {
    const workspace = await startTestWorkspace({
      faults: {
        onRequest: ({ path }) =>
          /^\/guilds\/\d+\/channels$/.test(path)
            ? {
                kind: 'answer',
                status: 200,
                body: [{ id: workspace.channelId, type: 0, name: 'a\x1b[2Jb\x1b]0;c\x07' }],
              }
            : undefined,
      },
    });
    const { api, userId: allow } = workspace;
    const terminal = newcomer().sit({ api, allow });
    await terminal.sees('Bot token');
    terminal.type(workspace.token);
    await terminal.sees('#a⟨U+001B⟩[2Jb⟨U+001B⟩]0;c⟨U+0007⟩ in threadmux');
    terminal.press('C-c');
    await terminal.sees('ended with 130');
  });

  it('checks again after the intent was switched on, without starting over', async () => {
    let flags = 0;
    const workspace = await startTestWorkspace({
      faults: {
        onRequest: ({ path }) =>
          path === '/applications/@me' ? { kind: 'answer', status: 200, body: { id: '1', flags } } : undefined,
      },
    });
    const { api, channelId: channel, userId: allow } = workspace;
    const person = newcomer();
    const terminal = person.sit({ api, channel, allow, yes: true, roundTrip: false });
    await terminal.sees('Bot token');
    terminal.type(workspace.token);
    await terminal.sees('Message Content Intent is off');
    await terminal.sees('press Enter to check again');
    flags = 1 << 19;
    terminal.type('');
    await terminal.sees('✓ Message Content Intent is on.');
    await terminal.sees('ended with 0');
  });
});

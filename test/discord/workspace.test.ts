// Our client against the workspace: everything that a discord.js client does there too.

import { describe, expect, it, vi } from 'vitest';
import {
  followUp,
  interactionSchema,
  openModal,
  registerCommands,
  replyPrivately,
  suggest,
  takeCommand,
  takeTap,
} from '../../discord/interactions.ts';
import { createMessage, editMessage, messagesAfter, react, showTyping, unreact } from '../../discord/messages.ts';
import {
  archiveThread,
  ensureThread,
  openThreadChannel,
  renameThread,
  unarchiveAndRetry,
} from '../../discord/threads.ts';
import { listenTo, restOf } from '../support/client.ts';
import { startTestWorkspace } from '../support/workspace.ts';

const RECEIVED_RESUME = 6;

async function connected() {
  const workspace = await startTestWorkspace();
  const rest = restOf(workspace);
  const listener = listenTo(workspace, rest);
  await vi.waitFor(() => expect(listener.gateway.state().at).toBe('live'));
  return { workspace, rest, listener, place: await openThreadChannel(rest, workspace.channelId) };
}

describe('our client', () => {
  it('logs in, sees the channel and receives what the user writes', async () => {
    const { workspace, listener } = await connected();
    await workspace.person.say(workspace.channelId, 'hello');
    await vi.waitFor(() => expect(listener.named('MESSAGE_CREATE')[0]?.data.content).toBe('hello'));
    expect(listener.named('GUILD_CREATE')[0]?.data.channels[0].id).toBe(workspace.channelId);
  });

  it('reopens an archived thread to edit a message in it, and archives it again if told to', async () => {
    const { workspace, rest, place } = await connected();
    const { id } = await ensureThread(place, '[agent] web', 'Welcome');
    const posted = await createMessage(rest, id, 'n1', { content: 'one' });
    const isArchived = async () => (await workspace.bot('GET', `/channels/${id}`)).body.thread_metadata.archived;
    const edit = (content: string) => () => editMessage(rest, id, posted?.id ?? '', { content });
    await archiveThread(rest, id);
    await expect(edit('refused')()).rejects.toThrow('Thread is archived');
    await unarchiveAndRetry(rest, id, edit('two'), { archiveAgain: true });
    expect((await workspace.person.messages(id))[0]?.content).toBe('two');
    expect(await isArchived()).toBe(true);
    await unarchiveAndRetry(rest, id, edit('three'));
    expect(await isArchived()).toBe(false);
    const gone = () => editMessage(rest, id, '1', { content: 'four' });
    await expect(unarchiveAndRetry(rest, id, gone)).rejects.toThrow('Unknown Message');
  });

  it('archives a reopened thread again only after the last change in it', async () => {
    const { workspace, rest, place } = await connected();
    const { id } = await ensureThread(place, '[agent] web', 'Welcome');
    const posted = (await createMessage(rest, id, 'n1', { content: 'one' }))?.id ?? '';
    await archiveThread(rest, id);
    const again = { archiveAgain: true };
    let refused = () => {};
    const bothRefused = new Promise<void>((resolve) => {
      refused = resolve;
    });
    let quick: Promise<void> | undefined;
    const edit = () => editMessage(rest, id, posted, { content: 'two' });
    const reacted = () =>
      react(rest, id, posted, '✅').catch((error) => {
        refused();
        throw error;
      });
    await unarchiveAndRetry(
      rest,
      id,
      async () => {
        if (quick !== undefined) return quick.then(edit);
        return edit().catch(async (error) => {
          quick = unarchiveAndRetry(rest, id, reacted, again);
          await bothRefused;
          throw error;
        });
      },
      again,
    );
    expect((await workspace.person.messages(id))[0]).toMatchObject({
      content: 'two',
      reactions: [{ emoji: { name: '✅' } }],
    });
    expect((await workspace.bot('GET', `/channels/${id}`)).body.thread_metadata.archived).toBe(true);
  });

  it('creates a thread, posts, edits, reacts, uploads, renames and archives', async () => {
    const { workspace, rest, place } = await connected();
    const thread = await ensureThread(place, '[agent] web', 'Welcome');
    const file = { name: 'notes.md', data: new TextEncoder().encode('# ünï') };
    const posted = await createMessage(rest, thread.id, 'n1', { content: 'one', files: [file] });
    expect(posted).toBeDefined();
    const id = posted?.id ?? '';
    await editMessage(rest, thread.id, id, { content: 'two' });
    await react(rest, thread.id, id, '👀');
    await unreact(rest, thread.id, id, '👀');
    await react(rest, thread.id, id, '✅');
    await showTyping(rest, thread.id);
    const [seen] = await workspace.person.messages(thread.id);
    expect(seen).toMatchObject({ content: 'two', reactions: [{ emoji: { name: '✅' }, count: 1 }] });
    expect(await (await fetch(seen?.attachments[0]?.url ?? '')).text()).toBe('# ünï');
    await renameThread(rest, thread.id, '[agent] shop');
    await archiveThread(rest, thread.id);
    const { body } = await workspace.bot('GET', `/channels/${thread.id}`);
    expect(body).toMatchObject({ name: '[agent] shop', thread_metadata: { archived: true } });
  });

  it('replaces the files of a message, keeps them when none are named, and removes them', async () => {
    const { workspace, rest, listener } = await connected();
    const { channelId, person } = workspace;
    const file = (name: string, words: string) => ({
      name,
      data: new TextEncoder().encode(words),
      description: `shows ${words}`,
    });
    const first = { content: 'one', files: [file('screen.png', 'before')] };
    const id = (await createMessage(rest, channelId, 'n', first))?.id ?? '';
    const seen = async () => (await person.messages(channelId))[0];
    const old = (await seen())?.attachments[0]?.url ?? '';

    await editMessage(rest, channelId, id, { content: 'two', files: [file('screen.png', 'after')] });
    const shown = await seen();
    expect(shown).toMatchObject({
      content: 'two',
      attachments: [{ filename: 'screen.png', description: 'shows after' }],
    });
    expect(await (await fetch(shown?.attachments[0]?.url ?? '')).text()).toBe('after');
    expect((await fetch(old)).status).toBe(404);
    await vi.waitFor(() =>
      // Their addresses differ: the test's client asks through a port of its own.
      expect(listener.named('MESSAGE_UPDATE').at(-1)?.data.attachments).toMatchObject(
        (shown?.attachments ?? []).map(({ id, filename }) => ({ id, filename })),
      ),
    );

    await editMessage(rest, channelId, id, { content: 'three' });
    expect(await seen()).toMatchObject({ content: 'three', attachments: shown?.attachments });
    await editMessage(rest, channelId, id, { content: 'four', files: [] });
    expect(await seen()).toMatchObject({ content: 'four', attachments: [] });
    await vi.waitFor(() => expect(listener.named('MESSAGE_UPDATE').at(-1)?.data.attachments).toEqual([]));
  });

  it('answers a slash command with a file', async () => {
    const { workspace, rest, listener } = await connected();
    const { channelId, person } = workspace;
    const commands = [{ name: 'screen', description: 'What the pane shows' }];
    await registerCommands(rest, workspace.applicationId, workspace.guildId, commands);
    await person.slash(channelId, 'screen');
    await vi.waitFor(() => expect(listener.named('INTERACTION_CREATE')).toHaveLength(1));
    const command = interactionSchema.parse(listener.named('INTERACTION_CREATE')[0]?.data);
    await takeCommand(rest, command);
    const data = Uint8Array.from({ length: 256 }, (_, n) => n);
    await followUp(rest, command, { content: 'the screen', files: [{ name: 'screen.png', data }] });
    const [answer] = await person.messages(channelId);
    expect(answer).toMatchObject({ content: 'the screen', attachments: [{ size: 256 }] });
    const back = await (await fetch(answer?.attachments[0]?.url ?? '')).arrayBuffer();
    expect(new Uint8Array(back)).toEqual(data);
    await followUp(rest, command, { content: 'no screen', files: [] });
    expect((await person.messages(channelId))[0]).toMatchObject({ attachments: [] });
  });

  it('mentions nobody, whatever the text says', async () => {
    const { workspace, rest } = await connected();
    const text = `@everyone <@${workspace.userId}>`;
    const posted = await createMessage(rest, workspace.channelId, 'n', { content: text });
    await editMessage(rest, workspace.channelId, posted?.id ?? '', { content: `${text}!` });
    const [seen] = await workspace.person.messages(workspace.channelId);
    expect(seen).toMatchObject({ content: `${text}!`, mentions: [], mention_everyone: false });
  });

  it('registers slash commands once, and answers command, autocomplete, button and modal', async () => {
    const { workspace, rest, listener } = await connected();
    const commands = [
      {
        name: 'kill',
        description: 'End a session',
        options: [{ type: 3, name: 'name', description: 'Which', required: true, autocomplete: true }],
      },
    ] as const;
    const register = () =>
      registerCommands(rest, workspace.applicationId, workspace.guildId, structuredClone(commands) as never);
    expect(await register()).toBe(true);
    expect(await register()).toBe(false);

    const next = async (count: number) => {
      await vi.waitFor(() => expect(listener.named('INTERACTION_CREATE')).toHaveLength(count));
      return interactionSchema.parse(listener.named('INTERACTION_CREATE').at(-1)?.data);
    };
    const { person, channelId } = workspace;
    await person.autocomplete(channelId, 'kill', [{ name: 'name', value: 'w', focused: true }]);
    expect(await suggest(rest, await next(1), [{ name: 'web', value: 'web' }])).toBe(true);

    await person.slash(channelId, 'kill', [{ name: 'name', value: 'web' }]);
    const command = await next(2);
    expect(command.data).toMatchObject({ name: 'kill', options: [{ name: 'name', value: 'web' }] });
    await takeCommand(rest, command);
    await followUp(rest, command, { content: 'killed web' });
    expect((await person.messages(channelId)).map(({ content }) => content)).toContain('killed web');

    const button = { type: 2, style: 1, label: 'Allow', custom_id: 'allow' } as const;
    const asked = await createMessage(rest, channelId, 'q', {
      content: 'May I?',
      components: [{ type: 1, components: [button] }],
    });
    await person.tap(channelId, asked?.id ?? '', 'allow');
    expect(await takeTap(rest, await next(3))).toBe(true);
    await person.tap(channelId, asked?.id ?? '', 'allow');
    const tap = await next(4);
    await openModal(rest, tap, {
      custom_id: 'why',
      title: 'Why?',
      components: [{ type: 1, components: [{ type: 4, custom_id: 'reason', label: 'Reason', style: 1 }] }],
    });
    await person.submitModal(channelId, tap.id, { reason: 'too risky' });
    const modal = await next(5);
    expect(modal.data?.components).toEqual([{ custom_id: 'reason', value: 'too risky' }]);
    expect(await replyPrivately(rest, modal, 'Denied.')).toBe(true);
  });

  it('reads back what it missed, over several pages, oldest first', async () => {
    const { workspace, rest } = await connected();
    const first = await workspace.person.say(workspace.channelId, 'm0');
    for (let n = 1; n <= 230; n++) await workspace.person.say(workspace.channelId, `m${n}`);
    const missed = await messagesAfter(rest, workspace.channelId, first.id);
    expect(missed.map(({ content }) => content)).toEqual(Array.from({ length: 230 }, (_, n) => `m${n + 1}`));
  });

  it('resumes after its socket was cut, and receives what it missed once', async () => {
    const { workspace, listener } = await connected();
    workspace.gateway.cutAll();
    await workspace.person.say(workspace.channelId, 'while away');
    await vi.waitFor(() => expect(listener.named('RESUMED')).toHaveLength(1));
    await workspace.person.say(workspace.channelId, 'after');
    await vi.waitFor(() =>
      expect(listener.named('MESSAGE_CREATE').map(({ data }) => data.content)).toEqual(['while away', 'after']),
    );
    expect(workspace.gateway.received).toContain(RECEIVED_RESUME);
    expect(listener.named('READY')).toHaveLength(1);
  });

  it('resumes in the next process from what was handled, not from what was received', async () => {
    const workspace = await startTestWorkspace();
    const rest = restOf(workspace);
    const store = { session: undefined };
    const stuck = listenTo(workspace, rest, {
      store,
      handle: (name, data) =>
        name === 'MESSAGE_CREATE' && (data as { content: string }).content === 'never handled'
          ? new Promise(() => {})
          : undefined,
    });
    await vi.waitFor(() => expect(stuck.gateway.state().at).toBe('live'));
    await workspace.person.say(workspace.channelId, 'handled');
    await vi.waitFor(() => expect(stuck.named('MESSAGE_CREATE')).toHaveLength(1));
    await workspace.person.say(workspace.channelId, 'never handled');
    await workspace.person.say(workspace.channelId, 'handled, but later');
    await vi.waitFor(() => expect(stuck.named('MESSAGE_CREATE')).toHaveLength(2));
    stuck.gateway.close();

    const next = listenTo(workspace, rest, { store });
    await vi.waitFor(() => expect(next.named('RESUMED')).toHaveLength(1));
    expect(next.named('MESSAGE_CREATE').map(({ data }) => data.content)).toEqual([
      'never handled',
      'handled, but later',
    ]);
  });
});

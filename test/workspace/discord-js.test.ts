// Proves that the workspace is compatible with Discord: the most common bot library works with it unchanged.

import {
  ActionRowBuilder,
  ButtonBuilder,
  ButtonStyle,
  Client,
  Events,
  GatewayIntentBits,
  type Message,
  MessageFlags,
  ModalBuilder,
  Partials,
  type TextChannel,
  TextInputBuilder,
  TextInputStyle,
  ThreadAutoArchiveDuration,
} from 'discord.js';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { startTestWorkspace, type TestWorkspace } from '../support/workspace.ts';

async function login(workspace: TestWorkspace) {
  const client = new Client({
    intents: [
      GatewayIntentBits.Guilds,
      GatewayIntentBits.GuildMessages,
      GatewayIntentBits.GuildMessageReactions,
      GatewayIntentBits.MessageContent,
    ],
    partials: [Partials.Message, Partials.Reaction],
    rest: { api: `${workspace.botUrl}/api`, version: '10' },
  });
  onTestFinished(() => client.destroy());
  const ready = new Promise((resolve) => client.once(Events.ClientReady, resolve));
  await client.login(workspace.token);
  await ready;
  const channel = (await client.channels.fetch(workspace.channelId)) as TextChannel;
  const heard: Message[] = [];
  client.on(Events.MessageCreate, (message) => void heard.push(message));
  return { client, channel, heard };
}

describe('a discord.js client', () => {
  it('logs in and receives what the user writes', async () => {
    const workspace = await startTestWorkspace();
    const { client, heard } = await login(workspace);

    await workspace.person.say(workspace.channelId, 'hello from the person');

    await vi.waitFor(() => expect(heard.map((message) => message.content)).toEqual(['hello from the person']));
    expect(heard[0]?.author.id).toBe(workspace.userId);
    expect(client.user?.id).toBe(workspace.botId);
    expect(client.guilds.cache.get(workspace.guildId)?.members.me?.permissions.has('ManageThreads')).toBe(true);
  });

  it('creates a thread, posts, edits, reacts, uploads and archives', async () => {
    const workspace = await startTestWorkspace();
    const { channel } = await login(workspace);

    const welcome = await channel.send('welcome');
    const thread = await welcome.startThread({
      name: '[agent] shop',
      autoArchiveDuration: ThreadAutoArchiveDuration.OneDay,
    });
    expect(thread.id).toBe(welcome.id);
    const posted = await thread.send({
      content: 'a file',
      files: [{ attachment: Buffer.from([0, 13, 10, 255, 45, 45]), name: 'bytes.bin' }],
    });
    await posted.edit('a file, edited');
    await posted.react('✅');

    const [newest] = await workspace.person.messages(thread.id);
    expect(newest).toMatchObject({ content: 'a file, edited', reactions: [{ emoji: { name: '✅' }, count: 1 }] });
    const url = newest?.attachments[0]?.url ?? '';
    const bytes = Buffer.from(await (await fetch(url)).arrayBuffer());
    expect([...bytes]).toEqual([0, 13, 10, 255, 45, 45]);
    const other = { attachment: Buffer.from('two'), name: 'two.txt' };
    const replaced = await posted.edit({ content: 'another', files: [other], attachments: [] });
    expect(replaced.attachments.map(({ name, size }) => [name, size])).toEqual([['two.txt', 3]]);

    await thread.setArchived(true);
    const archived = await channel.threads.fetchArchived();
    expect([...archived.threads.keys()]).toEqual([thread.id]);
    const active = await channel.threads.fetchActive();
    expect(active.threads.size).toBe(0);
    await thread.send('this wakes it up');
    await vi.waitFor(() => expect(thread.archived).toBe(false));
  });

  it('registers a slash command, completes it and answers it', async () => {
    const workspace = await startTestWorkspace();
    const { client } = await login(workspace);
    await client.application?.commands.set(
      [
        {
          name: 'new',
          description: 'Starts a session',
          options: [{ name: 'name', description: 'Its name', type: 3, required: true, autocomplete: true }],
        },
      ],
      workspace.guildId,
    );
    client.on(Events.InteractionCreate, async (interaction) => {
      if (interaction.isAutocomplete())
        await interaction.respond([{ name: 'Shop', value: `${interaction.options.getFocused()}op` }]);
      if (!interaction.isChatInputCommand()) return;
      await interaction.deferReply();
      await interaction.editReply(`started ${interaction.options.getString('name', true)}`);
      await interaction.followUp({ content: 'only you see this', flags: MessageFlags.Ephemeral });
    });

    const asked = await workspace.person.autocomplete(workspace.channelId, 'new', [
      { name: 'name', value: 'sh', focused: true },
    ]);
    expect(asked).toMatch(/^\d{17,20}$/);
    await workspace.person.slash(workspace.channelId, 'new', [{ name: 'name', value: 'shop' }]);

    await vi.waitFor(async () => {
      const messages = await workspace.person.messages(workspace.channelId);
      expect(messages.map(({ content, flags }) => [content, flags])).toEqual([['started shop', 0]]);
    });
  });

  it('answers a button with a modal and reads what was written into it', async () => {
    const workspace = await startTestWorkspace();
    const { client, channel } = await login(workspace);
    const row = new ActionRowBuilder<ButtonBuilder>().addComponents(
      new ButtonBuilder().setCustomId('deny').setLabel('Deny').setStyle(ButtonStyle.Danger),
    );
    const prompt = await channel.send({ content: 'Allow?', components: [row] });
    client.on(Events.InteractionCreate, async (interaction) => {
      if (interaction.isButton()) {
        const input = new TextInputBuilder().setCustomId('why').setLabel('Why?').setStyle(TextInputStyle.Paragraph);
        await interaction.showModal(
          new ModalBuilder()
            .setCustomId('reason')
            .setTitle('Reason')
            .addComponents(new ActionRowBuilder<TextInputBuilder>().addComponents(input)),
        );
      }
      if (interaction.isModalSubmit() && interaction.isFromMessage())
        await interaction.update({ content: `Denied: ${interaction.fields.getTextInputValue('why')}`, components: [] });
    });

    const tapped = await workspace.person.tap(workspace.channelId, prompt.id, 'deny');
    await vi.waitFor(() => workspace.person.submitModal(workspace.channelId, tapped, { why: 'too risky' }));

    await vi.waitFor(async () => {
      const [message] = await workspace.person.messages(workspace.channelId);
      expect(message).toMatchObject({ id: prompt.id, content: 'Denied: too risky', components: [] });
    });
  });

  it('resumes after its socket was cut and receives what it missed exactly once', async () => {
    const workspace = await startTestWorkspace();
    const { client, heard } = await login(workspace);
    let resumed = 0;
    client.on(Events.ShardResume, () => {
      resumed++;
    });

    workspace.gateway.cutAll();
    await workspace.person.say(workspace.channelId, 'said while it was away');

    await vi.waitFor(() => expect(resumed).toBe(1), { timeout: 15_000 });
    await workspace.person.say(workspace.channelId, 'said afterwards');
    await vi.waitFor(() => expect(heard).toHaveLength(2));
    expect(heard.map((message) => message.content)).toEqual(['said while it was away', 'said afterwards']);
    expect(workspace.gateway.received.filter((op) => op === 2)).toHaveLength(1);
    expect(workspace.gateway.received.filter((op) => op === 6)).toHaveLength(1);
  });
});

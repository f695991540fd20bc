// Taps and slash commands. Each is acknowledged at once, asked the same question as a message
// (who is this?), and then acted on in its own time.

import type { ServerConfig } from '../core/config.ts';
import type { Log } from '../core/log.ts';
import { snowflakeTime } from '../core/snowflake.ts';
import { button, row } from '../discord/buttons.ts';
import {
  AUTOCOMPLETE_INTERACTION,
  COMMAND_INTERACTION,
  COMPONENT_INTERACTION,
  followUp,
  followUpPrivately,
  type Interaction,
  interactionSchema,
  MODAL_INTERACTION,
  replyPrivately,
  suggest,
  takeCommand,
  takeTap,
} from '../discord/interactions.ts';
import { type ComponentRow, editMessage } from '../discord/messages.ts';
import type { Rest } from '../discord/rest.ts';
import type { ThreadRef } from '../discord/threads.ts';
import { refusalReason } from './allow-list.ts';
import type { CommandCall, CommandContext } from './commands/command.ts';
import { runCommand } from './commands/commands.ts';
import { pressUnder, type UsedScreens } from './commands/keys.ts';
import { restOf, suggestions } from './commands/slash.ts';
import type { PromptTaps } from './prompt-taps.ts';

interface InteractionHandlerOptions {
  readonly rest: Rest;
  readonly server: ServerConfig;
  readonly channels: readonly string[];
  readonly botId: string;
  readonly tools: CommandContext;
  readonly prompts: PromptTaps;
  readonly log: Log;
}

export function createInteractionHandler(
  options: InteractionHandlerOptions,
): (data: unknown, liveAt: number | undefined) => Promise<void> {
  const { rest, server, tools, log } = options;
  const used: UsedScreens = new Map();
  const startedAt = Date.now();
  /** The messages with a screen that this process has shown. */
  const renewed = new Set<string>();

  async function whereFrom(interaction: Interaction): Promise<{ thread: ThreadRef | undefined } | undefined> {
    const id = interaction.channel_id ?? '';
    if (options.channels.includes(id)) return { thread: undefined };
    const thread = await tools.known.find(id);
    return thread === undefined ? undefined : { thread };
  }

  async function onCommand(interaction: Interaction, order: CommandCall): Promise<void> {
    if (!(await takeCommand(rest, interaction))) return;
    const answer = await runCommand(interaction.data?.name ?? '', order, tools);
    await followUp(rest, interaction, answer);
    await answer.after?.(interaction.channel_id ?? '');
  }

  async function onTap(interaction: Interaction, order: CommandCall): Promise<void> {
    if (await options.prompts.tapped(interaction, order.thread)) return;
    const [kind, what = '', print] = (interaction.data?.custom_id ?? '').split(':', 3);
    if (!(await takeTap(rest, interaction)) || interaction.message === undefined) return;
    if (kind !== 'retry' && kind !== 'retry-asks' && kind !== 'key')
      return log.info('a button nobody made', { kind: kind ?? '' });
    if (kind === 'retry-asks')
      return followUp(rest, interaction, {
        content: 'It was typed and may have arrived. Send it again?',
        components: [row(button('Send it again', `retry:${what}`, 'bad'))],
      });
    if (kind === 'retry') {
      const answer = await runCommand('retry', { ...order, rest: what }, tools);
      return followUp(rest, interaction, { content: answer.content, components: [] });
    }
    const under = { key: what, print, messageId: interaction.message.id };
    // Only the process that showed a screen knows whether a key was pressed under it: an older message shows the screen first.
    const isOld = snowflakeTime(interaction.message.id) < startedAt && !renewed.has(interaction.message.id);
    const shown =
      what === 'look' || isOld
        ? await runCommand('screen', order, tools)
        : await pressUnder(order, under, used, tools).catch(() => runCommand('screen', order, tools));
    if (shown === undefined)
      return followUpPrivately(
        rest,
        interaction,
        '⚠️ Not pressed: a key was pressed under this screen already. Tap “Screen” to see what the pane shows now.',
      );
    // The way to try again stays, whatever keys are pressed meanwhile.
    const kept = (interaction.message.components as ComponentRow[]).filter((one) =>
      /"retry(?:-asks)?:/.test(JSON.stringify(one)),
    );
    const components = [...kept, ...(shown.components ?? [])];
    await editMessage(rest, interaction.channel_id ?? '', interaction.message.id, {
      files: [],
      ...shown,
      components,
    });
    if (isOld) renewed.add(interaction.message.id);
    // The message shows the screen as it is now. A dialog that is still there may have been answered: that has to be looked at.
    const thread = order.thread?.id ?? '';
    const last = used.get(thread);
    if (what === 'look' || (last?.tap === order.id && !last.isDialog)) used.delete(thread);
  }

  return async (data, liveAt) => {
    const interaction = interactionSchema.safeParse(data).data;
    if (interaction === undefined) return;
    const user = interaction.member?.user ?? interaction.user;
    const stranger = refusalReason({ userId: user?.id ?? '', isBot: false, isWebhook: false }, server);
    const where = stranger === undefined ? await whereFrom(interaction) : undefined;
    const isForged = interaction.message !== undefined && interaction.message.author.id !== options.botId;
    if (stranger !== undefined || where === undefined || isForged) {
      log.info('ignored', {
        what: 'interaction',
        because: stranger ?? (isForged ? 'not our message' : 'elsewhere'),
      });
      if (interaction.type !== AUTOCOMPLETE_INTERACTION)
        await replyPrivately(rest, interaction, 'You may not use this here.');
      return;
    }
    const asked = restOf(interaction);
    const order: CommandCall = { id: interaction.id, thread: where.thread, rest: asked, liveAt };
    switch (interaction.type) {
      case AUTOCOMPLETE_INTERACTION:
        await suggest(rest, interaction, await suggestions(interaction, tools));
        return;
      case COMMAND_INTERACTION:
        return onCommand(interaction, order);
      case COMPONENT_INTERACTION:
      case MODAL_INTERACTION:
        return onTap(interaction, order);
    }
  };
}

// Handles button taps, forms and slash commands. Each is checked against the allow-list like a message, and
// acknowledged before it is acted on.

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
import { button, type ComponentRow, editIfThere, editMessage, row } from '../discord/messages.ts';
import { type ThreadRef, unarchiveAndRetry } from '../discord/threads.ts';
import { START_AGAIN } from '../threads/ended-notice.ts';
import { LIMIT_BUTTON } from '../threads/limit-record.ts';
import type { CommandCall, CommandContext } from './commands/command.ts';
import { runCommand } from './commands/commands.ts';
import { pressUnder } from './commands/keys.ts';
import { SCHEDULE_BUTTON, tapSchedule } from './commands/schedule.ts';
import { CLAUDE_COMMAND, restOf, suggestions } from './commands/slash.ts';
import { startAgain } from './commands/start-again.ts';
import { tapCard } from './dialogs/tap-card.ts';
import { tapPanel } from './panel/panel-taps.ts';
import { tapPrompt } from './prompt-taps.ts';
import { refusalReason } from './route.ts';
import { createSuddenTaps, TOO_SUDDEN } from './sudden-taps.ts';
import type { UnfinishedInteractions } from './unfinished-interactions.ts';
import { tapWorktree } from './worktree-taps.ts';

export function createInteractionHandler(
  context: CommandContext,
  unfinished: UnfinishedInteractions,
): (data: unknown, liveAt: number | undefined) => Promise<void> {
  const { rest, server, log } = context;
  const isSudden = createSuddenTaps();

  async function whereFrom(interaction: Interaction): Promise<{ thread: ThreadRef | undefined } | undefined> {
    const id = interaction.channel_id ?? '';
    const thread = await context.known.find(id);
    return thread !== undefined || context.channels.includes(id) ? { thread } : undefined;
  }

  async function onCommand(interaction: Interaction, order: CommandCall): Promise<void> {
    if (!(await takeCommand(rest, interaction))) return;
    if (interaction.data?.name === CLAUDE_COMMAND) return sendToClaude(interaction, order);
    const answer = await runCommand(interaction.data?.name ?? '', order, context);
    const reply = await followUp(rest, interaction, answer);
    await answer.after?.(interaction.channel_id ?? '', reply, 'replied');
  }

  /** The reply carries the marks, like a message that the user wrote. */
  async function sendToClaude(interaction: Interaction, order: CommandCall): Promise<void> {
    const { thread, by, byId, rest: text } = order;
    if (thread === undefined)
      return void (await followUp(rest, interaction, { content: '⚠️ Use this in a session’s thread.' }));
    const id = await followUp(rest, interaction, { content: text.slice(0, 1_900) });
    context.accept({ id, channelId: thread.id, authorId: byId, author: by, text, attachments: [] }, thread);
  }

  async function onTap(interaction: Interaction, order: CommandCall): Promise<void> {
    if (await tapPrompt(interaction, order, context)) return;
    if (await tapCard(interaction, order, context)) return;
    if (await tapWorktree(interaction, order, context)) return;
    if (await tapPanel(interaction, order, context)) return;
    const [kind, what = '', print] = (interaction.data?.custom_id ?? '').split(':', 3);
    if (kind === START_AGAIN) return startAgain({ thread: what, conversation: print }, interaction, order, context);
    if (!(await takeTap(rest, interaction)) || interaction.message === undefined) return;
    if (kind === SCHEDULE_BUTTON)
      return void (await followUp(rest, interaction, tapSchedule(Number(what), print === 'list', order, context)));
    if (kind === LIMIT_BUTTON) {
      const said = context.limits.cancel(interaction.channel_id ?? '', what, order.by);
      await editMessage(rest, interaction.channel_id ?? '', interaction.message.id, { components: [] });
      return followUpPrivately(rest, interaction, said ?? 'Nothing waits for this limit any more.');
    }
    if (kind === 'held') {
      const on = { id: what, choice: print ?? '', thread: interaction.channel_id ?? '', tap: interaction.id };
      if (context.slash.tapped(on)) return;
      await editMessage(rest, on.thread, interaction.message.id, { components: [] });
      return followUpPrivately(
        rest,
        interaction,
        'This question is no longer open. If your message has no ✅, send it again.',
      );
    }
    if (kind !== 'retry' && kind !== 'retry-asks' && kind !== 'key')
      return log.info('a button nobody made', { kind: kind ?? '' });
    if (kind === 'retry-asks')
      return void (await followUp(rest, interaction, {
        content: 'This message was typed and may have been submitted. Send it again anyway?',
        components: [row(button('Send it again', `retry:${what}`, 'bad'))],
      }));
    if (kind === 'retry') {
      const answer = await runCommand('retry', { ...order, rest: what }, context);
      return void (await followUp(rest, interaction, { content: answer.content, components: [] }));
    }
    const under = { key: what, print, message: interaction.message.id };
    const isLook = what === 'look' || what === 'picture';
    const shown = isLook
      ? await runCommand('screen', { ...order, rest: what === 'picture' ? 'image' : '' }, context)
      : await pressUnder(order, under, context).catch(() => runCommand('screen', order, context));
    if (shown === undefined)
      return followUpPrivately(
        rest,
        interaction,
        '⚠️ Not pressed: the key before is not shown yet. Tap again under the next screen, or “Screen” to see it.',
      );
    // Keep the Retry button.
    const kept = (interaction.message.components as ComponentRow[]).filter((one) =>
      /"retry(?:-asks)?:/.test(JSON.stringify(one)),
    );
    const components = [...kept, ...(shown.components ?? [])];
    // The notice about a message is deleted when the key made room for the message.
    const { message, channel_id: channel = '' } = interaction;
    const show = () => editIfThere(rest, channel, message.id, { files: [], ...shown, components });
    // The session may have ended at this moment, and its thread is archived.
    const isShown = await unarchiveAndRetry(rest, channel, show, { archiveAgain: true });
    if (isShown) await shown.after?.(channel, message.id, 'edited');
  }

  return async (data, liveAt) => {
    const interaction = interactionSchema.safeParse(data).data;
    if (interaction === undefined) return;
    const user = interaction.member?.user ?? interaction.user;
    const stranger = refusalReason({ userId: user?.id ?? '' }, server);
    const where = stranger === undefined ? await whereFrom(interaction) : undefined;
    const isForged = interaction.message !== undefined && interaction.message.author.id !== context.botId;
    if (stranger !== undefined || where === undefined || isForged) {
      log.info('ignored', { what: 'interaction', because: stranger ?? (isForged ? 'not our message' : 'elsewhere') });
      if (interaction.type !== AUTOCOMPLETE_INTERACTION)
        await replyPrivately(rest, interaction, 'You are not allowed to use this here.');
      return;
    }
    const asked = restOf(interaction);
    const by = user?.username ?? '';
    const { id, channel_id: channel = '' } = interaction;
    const byId = user?.id ?? '';
    const order: CommandCall = { id, thread: where.thread, channel, rest: asked, by, byId, liveAt };
    switch (interaction.type) {
      case AUTOCOMPLETE_INTERACTION:
        await suggest(rest, interaction, await suggestions(interaction, context));
        return;
      case COMMAND_INTERACTION:
        return unfinished.during(interaction, () => onCommand(interaction, order));
      case COMPONENT_INTERACTION:
        if (isSudden(interaction)) return void (await replyPrivately(rest, interaction, TOO_SUDDEN));
        return onTap(interaction, order);
      case MODAL_INTERACTION:
        return unfinished.during(interaction, () => onTap(interaction, order));
    }
  };
}

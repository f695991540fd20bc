// The buttons under a worktree that was kept: keep it, show what is in it, or remove it after one more question.

import { insideFence, neutralise, untrustedCode, untrustedHint } from '../core/untrusted-text.ts';
import { followUp, followUpPrivately, type Interaction, takeTap } from '../discord/interactions.ts';
import type { MessageDraft } from '../discord/messages.ts';
import type { KnownWorktree } from '../threads/known-worktree.ts';
import type { CommandCall, CommandContext } from './commands/command.ts';
import { endDraft, isUsed, reallyDraft, WORKTREE_TAP } from './worktree-ends.ts';

const DIFF_INLINE = 1_700;

/** False if it is a button of something else. */
export async function tapWorktree(
  interaction: Interaction,
  order: CommandCall,
  context: CommandContext,
): Promise<boolean> {
  const { rest } = context;
  const [kind, act = '', thread = '', print = ''] = (interaction.data?.custom_id ?? '').split(':');
  if (kind !== WORKTREE_TAP) return false;
  // A tap cannot be answered in an archived thread.
  if (order.thread?.archived) await context.threads.reopen(order.thread.id).catch(() => {}); // the tap's answer fails with a reason
  if (!(await takeTap(rest, interaction))) return true;
  // A tap counts only in the thread of its worktree.
  const one = order.thread?.id === thread ? context.worktrees.ofThread(thread) : undefined;
  if (one === undefined || context.threads.registry.get(thread)?.server !== context.server.name) {
    await followUp(rest, interaction, { content: '🌿 This worktree no longer exists.', components: [] });
    return true;
  }
  const said = await answerTo(act, { one, print, tap: interaction.id }, context).catch((error: Error) => error);
  if (said instanceof Error) await followUpPrivately(rest, interaction, `⚠️ ${untrustedHint(said)}`);
  else if (typeof said === 'string') await followUpPrivately(rest, interaction, said);
  else if (said !== undefined) await followUp(rest, interaction, said);
  const isOver =
    said !== undefined && typeof said === 'object' && 'components' in said && said.components?.length === 0;
  if (isOver && context.threads.registry.get(thread)?.closed) await context.threads.archive(thread);
  return true;
}

interface WorktreeTap {
  readonly one: KnownWorktree;
  readonly print: string;
  readonly tap: string;
}

/** A draft replaces the message; a text is for the user who tapped. */
async function answerTo(
  act: string,
  { one, print, tap }: WorktreeTap,
  context: CommandContext,
): Promise<MessageDraft | string | undefined> {
  const where = `${untrustedCode(one.path)} on ${untrustedCode(one.host)}`;
  switch (act) {
    case 'keep':
      return {
        content: `🌿 The worktree is kept: ${where}. ${untrustedCode(`!new ${one.session}`)} starts the session there again.`,
        components: [],
      };
    case 'diff':
      await context.postNotice(one.thread, [tap, 'diff'], diffDraft(one, await context.worktrees.diff(one)));
      return undefined;
    case 'ask':
      return reallyDraft(one, print);
    case 'end':
    case 'anyway': {
      const end = await context.worktrees.end(one, () => isUsed(one, context), act === 'end' ? '' : print);
      if (end.is === 'used') return 'Its session runs again, so nothing was removed.';
      if (end.is === 'gone') return { content: '🌿 This worktree no longer exists.', components: [] };
      if (end.is !== 'removed') return endDraft(one, end);
      const tip =
        act === 'end' || !/^[0-9a-f]{7,64}$/.test(end.tip) ? '' : ` Its last commit was \`${end.tip.slice(0, 12)}\`.`;
      return {
        content: `🌿 The worktree and its branch ${untrustedCode(one.branch)} were removed.${tip}`,
        components: [],
      };
    }
    default:
      return undefined;
  }
}

function diffDraft(one: KnownWorktree, diff: string | undefined): MessageDraft {
  if (diff === undefined) return { content: '🌿 This worktree no longer exists.' };
  const shown = insideFence(neutralise(diff.trimEnd()), 'diff');
  if (diff.length < DIFF_INLINE && shown.length < DIFF_INLINE) return { content: shown, silent: true };
  const file = { name: `${one.name}.diff`, data: Buffer.from(diff) };
  return { content: `🌿 What is in ${untrustedCode(one.path)}:`, files: [file], silent: true };
}

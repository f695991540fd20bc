// Taps on prompts and the fields they open. Acknowledged at once, carried to the waiting hook, and
// said on the message if nobody waits for it any more. What an answer means is the hook's to say.

import type { Log } from '../core/log.ts';
import { reason } from '../core/outside-words.ts';
import { parseCustomId, type Tap } from '../core/prompt-id.ts';
import { type Interaction, openModal, takeTap, tellThem } from '../discord/interactions.ts';
import { editMessage } from '../discord/messages.ts';
import type { Rest } from '../discord/rest.ts';
import type { ThreadRef } from '../discord/threads.ts';
import type { Carry } from './carry.ts';
import type { OpenPrompts } from './open-prompts.ts';

export interface PromptsOptions {
  readonly rest: Rest;
  readonly carry: Carry;
  readonly open: OpenPrompts;
  readonly log: Log;
}

export interface Prompts {
  /** False if the tap does not belong to a prompt. */
  tapped(interaction: Interaction, thread: ThreadRef | undefined): Promise<boolean>;
  /** Whether this text was taken as the answer to an open prompt. */
  wrote(
    text: string,
    thread: ThreadRef,
    order: string,
    by: { id: string; name: string },
  ): Promise<boolean>;
}

const FIELD = 'words';
const TITLES: Readonly<Record<string, string>> = {
  reason: 'Why not?',
  other: 'In your own words',
};

export function createPrompts({ rest, carry, open, log }: PromptsOptions): Prompts {
  async function onTap(interaction: Interaction, thread: ThreadRef, tap: Tap): Promise<void> {
    if (tap.asksForText && interaction.data?.components.length === 0) {
      await openModal(
        rest,
        interaction,
        modal(interaction.data.custom_id ?? '', TITLES[tap.action] ?? 'Your words'),
      );
      return;
    }
    if (!(await takeTap(rest, interaction))) return;
    const user = interaction.member?.user ?? interaction.user;
    const values = tap.value === undefined ? (interaction.data?.values ?? []) : [tap.value];
    const text =
      interaction.data?.components.find(({ custom_id }) => custom_id === FIELD)?.value ?? '';
    const by = { id: user?.id ?? '', name: user?.username ?? '' };
    const carried = await carry(thread, interaction.id, {
      prompt: tap.prompt,
      action: tap.action,
      values,
      text,
      by,
    }).catch((error: Error) => error);
    if (carried === 'taken' || carried === 'refused') return; // the hook shows and logs it
    log.info('answer for nobody', {
      prompt: tap.prompt,
      because: carried instanceof Error ? carried.message : 'it is over',
    });
    if (carried instanceof Error)
      return tellThem(
        rest,
        interaction,
        `⚠️ Your answer did not get there: ${reason(carried)}\nThe dialog in the terminal is still open; tap again when the host is back.`,
      );
    open.forget(thread.id, tap.prompt);
    await tellThem(rest, interaction, 'This prompt is over; nothing was changed.');
    if (interaction.message !== undefined)
      await editMessage(rest, thread.id, interaction.message.id, { components: [] });
  }

  return {
    async tapped(interaction, thread) {
      const tap = parseCustomId(interaction.data?.custom_id ?? '');
      if (tap === undefined) return false;
      if (thread !== undefined) await onTap(interaction, thread, tap);
      return true;
    },
    async wrote(text, thread, order, by) {
      const prompt = await open.find(thread.id);
      if (prompt === undefined) return false;
      const answer = { prompt, action: 'text', values: [], text, by };
      const carried = await carry(thread, order, answer);
      if (carried === 'left') open.forget(thread.id, prompt);
      return carried === 'taken';
    },
  };
}

function modal(customId: string, title: string) {
  const field = {
    type: 4 as const,
    custom_id: FIELD,
    style: 2 as const,
    label: title,
    required: true,
    max_length: 2_000,
  };
  return { custom_id: customId, title, components: [{ type: 1 as const, components: [field] }] };
}

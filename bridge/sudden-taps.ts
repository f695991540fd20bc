// A tap counts only on buttons that the person could read: under a double click, other buttons may have taken the place of the first ones.
// The times are Discord's.

import { isDiscordId, snowflakeTime } from '../core/snowflake.ts';
import { COMPONENT_INTERACTION, type Interaction } from '../discord/interactions.ts';
import { parseCardId } from './dialogs/card-text.ts';

const TAP_AFTER_MS = 1_000;
const MOST_KEPT = 1_000;
/** They approve nothing, and are tapped one after the other. */
const MOVING: readonly string[] = ['Up', 'Down', 'Left', 'Right', 'Escape'];

export const TOO_SUDDEN =
  '⚠️ Nothing was done: these buttons appeared only a moment ago, or you have just tapped others. Check what they are for, then tap again.';

interface Tapped {
  readonly at: number;
  readonly message: string;
  readonly button: string;
}

/** True if the tap must not count. Buttons that press keys have their own rule (`decideKeys`). */
export function createSuddenTaps(): (interaction: Interaction) => boolean {
  /** The last one in each thread. */
  const taps = new Map<string, Tapped>();
  return ({ type, id, channel_id: channel = '', message, data }) => {
    const button = data?.custom_id ?? '';
    if (type !== COMPONENT_INTERACTION || message === undefined || isMoving(button)) return false;
    const tap = { at: timeOf(id), message: message.id, button };
    const last = taps.get(channel);
    const edited = Date.parse(message.edited_timestamp ?? '') || 0;
    if (isSuddenTap(tap, Math.max(timeOf(message.id), edited), last)) return true;
    taps.delete(channel);
    taps.set(channel, tap);
    const [oldest = ''] = taps.keys();
    if (taps.size > MOST_KEPT) taps.delete(oldest);
    return false;
  };
}

/** `shownAt`: since when the message shows these buttons. The same button may be tapped again: its first tap has decided. */
export function isSuddenTap(tap: Tapped, shownAt: number, last: Tapped | undefined): boolean {
  const isAgain = last?.message === tap.message && last.button === tap.button;
  if (isAgain) return false;
  const isAfterAnother = last !== undefined && last.message !== tap.message && tap.at - last.at < TAP_AFTER_MS;
  return isAfterAnother || tap.at - shownAt < TAP_AFTER_MS;
}

function isMoving(button: string): boolean {
  const action = parseCardId(button, undefined)?.action;
  return button.startsWith('key:') || (action?.do === 'press' && MOVING.includes(action.key));
}

const timeOf = (id: string) => (isDiscordId(id) ? snowflakeTime(id) : 0);

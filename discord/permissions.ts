// Computes what a member may do in a channel, by Discord's rules: roles first, then the channel's overwrites. Pure.

import { type DiscordMessage, isWritten } from './payloads.ts';

interface Overwrite {
  /** The id of a role or a member. */
  readonly id: string;
  readonly allow: string;
  readonly deny: string;
}

export interface MemberPermissions {
  readonly guildId: string;
  readonly ownerId: string | undefined;
  readonly memberId: string;
  readonly memberRoles: readonly string[];
  readonly roles: readonly { readonly id: string; readonly permissions: string }[];
  readonly overwrites: readonly Overwrite[];
  /** The member is in a time-out. */
  readonly timedOut: boolean;
}

interface Permission {
  readonly name: string;
  readonly bit: number;
}

/** The same as in docs/discord-setup.md. */
export const NEEDED_PERMISSIONS: readonly Permission[] = [
  { name: 'View Channel', bit: 10 },
  { name: 'Send Messages', bit: 11 },
  { name: 'Create Public Threads', bit: 35 },
  { name: 'Send Messages in Threads', bit: 38 },
  { name: 'Manage Threads', bit: 34 },
  { name: 'Attach Files', bit: 15 },
  { name: 'Add Reactions', bit: 6 },
  { name: 'Read Message History', bit: 16 },
];

const ADMINISTRATOR = 1n << 3n;
const EVERYTHING = (1n << 64n) - 1n;
/** The permissions of a member in a time-out. */
const SILENCED = (1n << 10n) | (1n << 16n);

export function neededInteger(): string {
  return String(NEEDED_PERMISSIONS.reduce((sum, { bit }) => sum | (1n << BigInt(bit)), 0n));
}

/** The link that adds the bot to a server with these permissions. */
export function inviteLink(applicationId: string): string {
  return `https://discord.com/oauth2/authorize?client_id=${applicationId}&scope=bot+applications.commands&permissions=${neededInteger()}`;
}

export function missingPermissions(granted: bigint): readonly string[] {
  return NEEDED_PERMISSIONS.filter(({ bit }) => (granted & (1n << BigInt(bit))) === 0n).map(({ name }) => name);
}

export function permissionsIn(standing: MemberPermissions): bigint {
  const { guildId, memberId, memberRoles, roles, overwrites } = standing;
  if (standing.ownerId === memberId) return EVERYTHING;
  const held = roles.filter(({ id }) => id === guildId || memberRoles.includes(id));
  const base = held.reduce((sum, { permissions }) => sum | BigInt(permissions), 0n);
  if ((base & ADMINISTRATOR) !== 0n) return EVERYTHING;
  const steps = [
    overwrites.filter(({ id }) => id === guildId),
    overwrites.filter(({ id }) => id !== guildId && memberRoles.includes(id)),
    overwrites.filter(({ id }) => id === memberId),
  ];
  const granted = steps.reduce(applied, base);
  return standing.timedOut ? granted & SILENCED : granted;
}

/** Within one step, allow wins over deny. */
function applied(granted: bigint, step: readonly Overwrite[]): bigint {
  const deny = step.reduce((sum, one) => sum | BigInt(one.deny), 0n);
  const allow = step.reduce((sum, one) => sum | BigInt(one.allow), 0n);
  return (granted & ~deny) | allow;
}

// Without the message content intent, Discord delivers empty messages and no error. These functions detect that.

const MAY_READ = (1 << 18) | (1 << 19);

export const CONTENT_HINT =
  'Turn on "Message Content Intent" in the Discord developer portal (Bot, Privileged Gateway Intents) and restart threadmux.';

/** From READY: whether the intent is enabled for the application. */
export function mayReadContent(applicationFlags: number): boolean {
  return (applicationFlags & MAY_READ) !== 0;
}

/** A user cannot send a completely empty message, so Discord has removed its content. */
export function looksEmptied(message: DiscordMessage): boolean {
  const parts = [
    message.attachments,
    message.embeds,
    message.components,
    message.sticker_items,
    message.message_snapshots,
  ];
  return (
    isWritten(message) &&
    !message.author.bot &&
    message.content === '' &&
    message.poll === undefined &&
    parts.every((part) => part.length === 0)
  );
}

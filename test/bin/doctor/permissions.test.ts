import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  inviteLink,
  type MemberPermissions,
  missingPermissions,
  NEEDED_PERMISSIONS,
  neededInteger,
  permissionsIn,
} from '../../../discord/permissions.ts';

const ALL = neededInteger();
const NONE = NEEDED_PERMISSIONS.map(({ name }) => name);
const bit = (at: number) => String(1n << BigInt(at));

const standing: MemberPermissions = {
  guildId: 'everyone',
  ownerId: 'owner',
  memberId: 'bot',
  memberRoles: ['role'],
  roles: [
    { id: 'everyone', permissions: '0' },
    { id: 'role', permissions: ALL },
    { id: 'foreign', permissions: bit(3) },
  ],
  overwrites: [],
  timedOut: false,
};

const missing = (change: Partial<MemberPermissions>) => missingPermissions(permissionsIn({ ...standing, ...change }));

describe("the bot's permissions in a channel", () => {
  it('come from its own roles, and not from those of others', () => {
    expect(missing({})).toEqual([]);
    expect(missing({ memberRoles: [] })).toEqual(NONE);
  });

  it('include those of everyone', () => {
    const roles = [{ id: 'everyone', permissions: ALL }];
    expect(missing({ memberRoles: [], roles })).toEqual([]);
  });

  it('are complete for an administrator and for the owner, whatever a channel denies', () => {
    const overwrites = [{ id: 'everyone', allow: '0', deny: ALL }];
    expect(missing({ overwrites, memberRoles: ['foreign'] })).toEqual([]);
    expect(missing({ overwrites, memberRoles: [], ownerId: 'bot' })).toEqual([]);
  });

  it('exclude what the channel denies to everyone', () => {
    expect(missing({ overwrites: [{ id: 'everyone', allow: '0', deny: bit(38) }] })).toEqual([
      'Send Messages in Threads',
    ]);
  });

  it('include what the channel allows to a role, and exclude what it denies to the bot', () => {
    const overwrites = [
      { id: 'everyone', allow: '0', deny: ALL },
      { id: 'role', allow: ALL, deny: bit(6) },
      { id: 'foreign', allow: '0', deny: ALL },
      { id: 'bot', allow: '0', deny: bit(16) },
    ];
    expect(missing({ overwrites })).toEqual(['Read Message History']);
  });

  it('are almost none during a time-out', () => {
    expect(missing({ timedOut: true })).not.toContain('View Channel');
    expect(missing({ timedOut: true })).toContain('Send Messages');
  });

  it('are requested with the number in the documentation', () => {
    expect(neededInteger()).toBe('326417615936');
    expect(readFileSync('docs/discord-setup.md', 'utf8')).toContain(inviteLink('APPLICATION_ID'));
  });
});

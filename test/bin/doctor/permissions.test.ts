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
  it('are those of its roles, and not of the roles of others', () => {
    expect(missing({})).toEqual([]);
    expect(missing({ memberRoles: [] })).toEqual(NONE);
  });

  it('include what everybody has', () => {
    const roles = [{ id: 'everyone', permissions: ALL }];
    expect(missing({ memberRoles: [], roles })).toEqual([]);
  });

  it('are all there are for an administrator and for the owner, whatever a channel denies', () => {
    const overwrites = [{ id: 'everyone', allow: '0', deny: ALL }];
    expect(missing({ overwrites, memberRoles: ['foreign'] })).toEqual([]);
    expect(missing({ overwrites, memberRoles: [], ownerId: 'bot' })).toEqual([]);
  });

  it('lose what the channel denies to everybody', () => {
    expect(missing({ overwrites: [{ id: 'everyone', allow: '0', deny: bit(38) }] })).toEqual([
      'Send Messages in Threads',
    ]);
  });

  it('get back what the channel allows to a role, and lose what it denies to the bot itself', () => {
    const overwrites = [
      { id: 'everyone', allow: '0', deny: ALL },
      { id: 'role', allow: ALL, deny: bit(6) },
      { id: 'foreign', allow: '0', deny: ALL },
      { id: 'bot', allow: '0', deny: bit(16) },
    ];
    expect(missing({ overwrites })).toEqual(['Read Message History']);
  });

  it('are next to none during a time-out', () => {
    expect(missing({ timedOut: true })).not.toContain('View Channel');
    expect(missing({ timedOut: true })).toContain('Send Messages');
  });

  it('are asked for with the number that the documentation gives', () => {
    expect(neededInteger()).toBe('326417615936');
    expect(readFileSync('docs/discord-setup.md', 'utf8')).toContain(inviteLink('APPLICATION_ID'));
  });
});

import { describe, expect, it } from 'vitest';
import { concernedBy } from '../../bridge/open-gateways.ts';

const side = (name: string, guild: string, ...channels: readonly string[]) => ({
  name,
  guildIds: [guild],
  owns: async (id: string) => channels.includes(id),
});
const SIDES = [side('home', 'g1', 'c1'), side('work', 'g2', 'c2'), side('ops', 'g2', 'c3')];

describe('an event', () => {
  it.each([
    ['READY', { session_id: 's' }, 'home work ops'],
    ['GUILD_CREATE', { id: 'g1' }, 'home'],
    ['GUILD_CREATE', { id: 'g9' }, ''],
    ['MESSAGE_CREATE', { guild_id: 'g2', channel_id: 'c3' }, 'work ops'],
    ['MESSAGE_CREATE', { guild_id: 'g9', channel_id: 'c9' }, ''],
    ['MESSAGE_CREATE', { channel_id: 'direct' }, 'home work ops'],
    ['INTERACTION_CREATE', { guild_id: 'g2', channel_id: 'c3' }, 'ops'],
    ['INTERACTION_CREATE', { guild_id: 'g2', channel_id: 'c9' }, 'work'],
    ['INTERACTION_CREATE', { guild_id: 'g9', channel_id: 'c9' }, 'home'],
    ['INTERACTION_CREATE', { channel_id: 'direct' }, 'home'],
    ['INTERACTION_CREATE', { channel_id: 'c2' }, 'work'],
  ])('%s %j goes to: %s', async (name, data, names) => {
    const concerned = await concernedBy(name, data, SIDES);
    expect(concerned.map((one) => one.name).join(' ')).toBe(names);
  });
});

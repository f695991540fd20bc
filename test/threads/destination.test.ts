import { describe, expect, it } from 'vitest';
import type { ServerConfig } from '../../core/config.ts';
import { destinationOf } from '../../threads/destination.ts';

const server = (name: string, more: Partial<ServerConfig> = {}): ServerConfig => ({
  name,
  api: 'http://127.0.0.1:1',
  token: 't',
  channel: `${name}-channel`,
  allow: ['1'],
  projects: [],
  onlyProjects: false,
  ...more,
});

const home = server('home', {
  projects: [
    { path: '~/shop', channel: 'shop' },
    { path: '~/shop/api', channel: 'api' },
  ],
});
const work = server('work', {
  projects: [{ path: '/srv/work/', channel: 'work' }],
  onlyProjects: true,
});
const where = (cwd: string, servers: readonly ServerConfig[]) => {
  const to = destinationOf(cwd, servers, (path) => path.replace('~', '/home/me'));
  return to === undefined ? undefined : `${to.server.name}: ${to.channel}`;
};

describe('a session in the directory', () => {
  it.each([
    ['/home/me/shop', 'home: shop'],
    ['/home/me/shop/src', 'home: shop'],
    ['/home/me/shop/api', 'home: api'],
    ['/home/me/shop/api/v1', 'home: api'],
    ['/home/me/shop/api-docs', 'home: shop'],
    ['/home/me/shopping', 'home: home-channel'],
    ['/srv/work', 'work: work'],
    ['/srv/work/deep/down', 'work: work'],
    ['/srv/workshop', 'home: home-channel'],
    ['/', 'home: home-channel'],
  ])('%s goes to %s', (cwd, to) => {
    expect(where(cwd, [work, home])).toBe(to);
  });

  it('of no project goes nowhere if every server takes projects only', () => {
    expect(where('/home/me', [work])).toBeUndefined();
    expect(where('/home/me', [])).toBeUndefined();
  });
});

import { describe, expect, it } from 'vitest';
import { parseConfig, type ServerConfig } from '../../core/config.ts';
import { projectsOf } from '../../core/project.ts';
import { projectOfPlace } from '../../threads/destination.ts';

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
const work = server('work', { projects: [{ path: '/srv/work/', channel: 'work' }], onlyProjects: true });
const top = parseConfig({ env: {}, hostname: 'here' });
const where = (cwd: string, servers: readonly ServerConfig[], host = 'here') => {
  const to = projectOfPlace({ host, directory: cwd }, projectsOf(top, servers), (path) =>
    path.replace('~', '/home/me'),
  );
  return to === undefined ? undefined : `${to.server}: ${to.channel}`;
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

  it('of a project on another host belongs to it only there', () => {
    const far = server('far', { projects: [{ path: '~/shop', channel: 'shop', host: 'mini' }] });
    expect(where('/home/me/shop', [far], 'mini')).toBe('far: shop');
    expect(where('/home/me/shop', [far])).toBe('far: far-channel');
  });
});

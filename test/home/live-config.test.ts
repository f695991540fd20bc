import { writeFileSync } from 'node:fs';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { changeText } from '../../core/config-change.ts';
import { loadConfig } from '../../home/config-file.ts';
import { type ConfigReport, openLiveConfig } from '../../home/live-config.ts';
import { tempHome } from '../support/temp-home.ts';

const ID = '123456789012345678';
const OTHER = '223456789012345678';
const server = { token: 'secret-one', channel: ID, allow: [ID] };

function open(first: object) {
  const home = tempHome();
  const write = (file: object | string) =>
    writeFileSync(home.path('config.json'), typeof file === 'string' ? file : JSON.stringify(file), { mode: 0o600 });
  write(first);
  const config = loadConfig(home, {});
  const live = openLiveConfig(home, {}, config);
  const reports: ConfigReport[] = [];
  live.onReport((about) => void reports.push(about));
  onTestFinished(() => live.close());
  return { config, live, write, reports };
}

describe('a change of config.json', () => {
  it('reaches everybody who holds the configuration or one of its servers', () => {
    const { config, live, write, reports } = open({ servers: [server], strip: ['a'], talk: 'main' });
    const [held] = config.servers;
    write({ servers: [{ ...server, allow: [OTHER], projects: [{ path: '~/shop', channel: ID }] }], progress: 'quiet' });
    live.check();
    expect(config).toMatchObject({ progress: 'quiet', strip: [] });
    expect(config.talk).toBeUndefined();
    expect(held).toMatchObject({ allow: [OTHER], projects: [{ path: '~/shop' }] });
    expect(config.servers[0]).toBe(held);
    expect(reports).toEqual([
      { applied: ['progress', 'strip', 'talk', 'servers[0].allow', 'servers[0].projects'], needRestart: [] },
    ]);
  });

  it('that needs a restart says which keys', () => {
    const { live, write, reports } = open({ servers: [server] });
    write({
      hosts: { mini: { ssh: 'mini' } },
      servers: [
        { ...server, token: 'secret-two', projects: [{ path: '~/shop', channel: OTHER }] },
        { ...server, name: 'second' },
      ],
    });
    live.check();
    const [about] = reports;
    if (about === undefined || 'problem' in about) throw new Error('no change was reported');
    expect(changeText(about)).toBe(
      '⚙️ config.json has changed. `servers[0].projects` took effect. Restart threadmux to apply `hosts`, `servers[0].token`, `servers[0].projects[0].channel`, `servers[1]`.',
    );
  });

  it('that needs a restart moves no session to a channel that nobody listens to', () => {
    const shop = { path: '~/shop', channel: ID };
    const { config, live, write } = open({ servers: [{ ...server, projects: [shop] }] });
    const { host, hosts } = config;
    const projects = [
      { ...shop, channel: OTHER, talk: 'shop' },
      { path: '~/new', channel: OTHER },
    ];
    write({ host: 'renamed', servers: [{ ...server, channel: OTHER, projects }] });
    live.check();
    expect(config).toMatchObject({ host, hosts });
    expect(config.servers).toMatchObject([{ channel: ID, projects: [{ ...shop, talk: 'shop' }] }]);
    expect(config.servers[0]?.projects).toHaveLength(1);
  });

  it('with a mistake changes nothing and is reported once, without what the file contains', () => {
    const { config, live, write, reports } = open({ servers: [server], progress: 'quiet' });
    write('{\n  "progress": "verbose",\n  "servers": [{"token": secret-two}]\n}');
    live.check();
    live.check();
    expect(config.progress).toBe('quiet');
    expect(reports).toEqual([{ problem: expect.stringContaining('config.json: the file is not JSON') }]);
    expect(JSON.stringify(reports)).not.toContain('secret');
  });

  it('is noticed at once while it is watched, and one that changes no value is not reported', async () => {
    const { config, live, write, reports } = open({ progress: 'quiet' });
    live.watch();
    write({ progress: 'quiet', strip: [] });
    write({ progress: 'verbose' });
    await vi.waitFor(() => expect(config.progress).toBe('verbose'));
    await vi.waitFor(() => expect(reports).toEqual([{ applied: ['progress'], needRestart: [] }]));
  });
});

import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { addThreadmux } from '../../../agents/claude/settings.ts';
import type { Finding } from '../../../bin/doctor/finding.ts';
import { judgeClock, judgeMachine, judgeNode } from '../../../bin/doctor/machine.ts';
import { cksum } from '../../../hosts/probe.ts';
import { installOn } from '../../../install/install-on-host.ts';
import { filesForHosts } from '../../../install/program-files.ts';
import { tmuxOn } from '../../../tmux/tmux.ts';
import { folderListing } from '../../install/folder-listing.ts';
import { startBareHost } from '../../support/bare-host.ts';
import { correctSetup, fault, troubles } from './doctor-setup.ts';

/** A host with tmux and an agent. */
async function hostOf(entry: Record<string, unknown> = {}) {
  const server = await startBareHost();
  const sick = await correctSetup();
  const hosts = { far: { ssh: 'far', socket: server.socket, ...entry } };
  sick.configure((config) => Object.assign(config, { host: 'laptop', hosts }));
  server.program('claude', 'true');
  return {
    server,
    sick,
    program: server.program,
    ours: join(server.home, '.threadmux', 'for', 'laptop'),
    examine: (): Promise<readonly Finding[]> => sick.examine({ host: 'far', sshConfig: server.configFile }),
    install: () =>
      installOn({
        root: sick.root,
        name: 'laptop',
        files: filesForHosts('laptop', true),
        host: server.host(),
        tmux: tmuxOn(server.host(), server.socket),
      }),
  };
}

describe('doctor, checking a host over ssh,', () => {
  it('reports nothing where all is well, without Node.js on the host', async () => {
    const host = await hostOf();
    host.server.tmux('new-session', '-d', '-s', 'shop');
    await host.install();
    const before = folderListing(host.server.home);
    const findings = await host.examine();
    expect(troubles(findings)).toEqual([]);
    expect(findings.map(({ part }) => part)).toEqual(['host', 'tmux', 'home', 'hooks']);
    expect(folderListing(host.server.home)).toEqual(before);
  });

  it('checks every configured host if none is named', async () => {
    const { sick, server } = await hostOf();
    expect(await sick.examine({ sshConfig: server.configFile })).toContainEqual(
      expect.objectContaining({ part: 'host', level: 'ok', says: 'far is reachable.' }),
    );
  });

  it('finds a host that is switched off', async () => {
    const host = await hostOf();
    await host.server.stop();
    expect(await host.examine()).toEqual([fault('host', 'far: .*Connection refused', 'Check that it is running')]);
  });

  it('finds that the host refuses our key', async () => {
    const host = await hostOf();
    host.server.faults.passwordOnly = true;
    expect(await host.examine()).toEqual([fault('host', 'far: .*Permission denied', 'ssh-copy-id far')]);
  });

  it('finds that the host key has changed', async () => {
    const host = await hostOf();
    expect(await host.examine()).toContainEqual(expect.objectContaining({ part: 'host', level: 'ok' }));
    host.server.changeHostKey();
    expect(await host.examine()).toEqual([fault('host', 'HAS CHANGED', 'ssh-keygen -R')]);
  });

  it('finds that tmux and the agent are missing', async () => {
    const host = await hostOf({ tmux: '/opt/gone/tmux' });
    writeFileSync(join(host.server.home, '.profile'), 'PATH=/usr/bin:/bin; export PATH\n');
    const findings = await host.examine();
    expect(findings).toContainEqual(fault('tmux', 'not installed on far', 'Install tmux 3.2'));
    expect(findings).toContainEqual(fault('agent', '`claude` is not installed on far', 'Install it', 'warn'));
  });

  it('looks for the agents of its projects, and not for those of other hosts', async () => {
    const host = await hostOf();
    const projects = [
      { path: '/srv/a', channel: '1000000000000000001', host: 'far', agent: 'codex' },
      {
        path: '/srv/b',
        channel: '1000000000000000001',
        host: 'far',
        sessions: [{ name: 'b', start: 'manual', agent: 'opencode' }],
      },
      { path: '/srv/c', channel: '1000000000000000001', agent: 'gemini' },
    ];
    host.sick.configure((config) => Object.assign(config.servers[0] ?? {}, { projects }));
    host.server.program('opencode', 'true');
    const agents = (await host.examine()).filter(({ part }) => part === 'agent');
    expect(agents).toEqual([fault('agent', '`codex` is not installed on far', 'Install it', 'warn')]);
  });

  it('finds a clock that is off', async () => {
    const host = await hostOf();
    host.program('date', 'echo $(($(/bin/date +%s) - 600))');
    expect(await host.examine()).toContainEqual(
      fault('clock', 'clock of far is (9 min 59 s|10 min) behind', 'timedatectl'),
    );
  });

  it('finds that nothing of ours is installed', async () => {
    const host = await hostOf();
    const remedy = 'threadmux install --host far';
    expect(troubles(await host.examine())).toEqual([
      fault('home', 'The threadmux scripts are not on far yet', 'threadmux up', 'warn'),
      fault('hooks', 'only sessions started with `!new` report to their threads', remedy, 'warn'),
    ]);
  });

  it('does not mistake the hooks of another threadmux for ours', async () => {
    const host = await hostOf();
    mkdirSync(join(host.server.home, '.claude'));
    const paths = { dist: '/x/dist', home: '/home/me/.threadmux/for/desk' };
    const settings = join(host.server.home, '.claude', 'settings.json');
    writeFileSync(settings, addThreadmux('', paths));
    const findings = await host.examine();
    expect(findings).toContainEqual(fault('hooks', 'hooks are not installed', 'install', 'warn'));
  });

  it('finds scripts of another version, and a bell that is not a pipe', async () => {
    const host = await hostOf();
    await host.install();
    writeFileSync(join(host.ours, 'bin', 'drop'), '#!/bin/sh\n');
    expect(troubles(await host.examine())).toEqual([
      fault('home', 'from another version: bin/drop', 'Restart threadmux', 'warn'),
    ]);
    rmSync(join(host.ours, 'bell'));
    expect(await host.examine()).toContainEqual(fault('home', 'bell on far is missing', 'install'));
    writeFileSync(join(host.ours, 'bell'), '');
    expect(await host.examine()).toContainEqual(fault('home', 'bell on far is not a named pipe', 'install'));
  });

  it('finds a running tmux server that has lost our hooks', async () => {
    const host = await hostOf();
    await host.install();
    host.server.tmux('-f', '/dev/null', 'new-session', '-d', '-s', 'shop');
    expect(troubles(await host.examine())).toEqual([
      fault('tmux-hooks', 'does not report new and closed sessions', 'threadmux install --host far', 'warn'),
    ]);
  });

  it('finds roots that do not exist', async () => {
    const roots = ['~/code', '~', '/nowhere', "~/it's; $(x)"];
    const { server, examine } = await hostOf({ roots });
    mkdirSync(join(server.home, 'code'));
    writeFileSync(join(server.home, "it's; $(x)"), 'a file');
    const found = (await examine()).filter(({ part }) => part === 'config');
    expect(found).toEqual([
      fault('config', '"roots" of far contains /nowhere, which', 'Create the folder there, or', 'warn'),
      fault('config', /contains ~\/it's; \$\(x\), which does not exist/, '', 'warn'),
    ]);
  });

  it('finds letters that wait on the host', async () => {
    const host = await hostOf();
    await host.install();
    mkdirSync(join(host.ours, 'outbox', '12.3'), { recursive: true });
    writeFileSync(join(host.ours, 'outbox', '12.3', '100000001.7'), 'threadmux 2\n\n{}\n');
    expect(troubles(await host.examine())).toEqual([
      fault('letters', '^1 letter is waiting on far', 'threadmux up', 'warn'),
    ]);
  });

  it('finds a disk that is almost full', async () => {
    const host = await hostOf();
    host.program('df', 'echo header; echo "/dev/disk 1000 900 500 99% /"');
    expect(await host.examine()).toContainEqual(fault('disk', 'disk of far has only 0 MB left', 'Free some space'));
  });

  it('refuses the name of a host that is not configured', async () => {
    const sick = await correctSetup();
    await expect(sick.examine({ host: 'nowhere' })).rejects.toMatchObject({
      code: 'bad_usage',
      message: expect.stringContaining('`nowhere`'),
    });
  });
});

describe('the assessment of a machine', () => {
  it.each([
    ['v20.19.0', 'ok'],
    ['v20.18.3', 'fail'],
    ['v24.1.0', 'ok'],
    ['v9.99.0', 'fail'],
  ])('for Node.js %s is %s', (version, level) => {
    expect(judgeNode(version, 'here').level).toBe(level);
  });

  it.each([
    ['tmux 3.2', 'ok'],
    ['tmux 3.3a', 'ok'],
    ['tmux next-3.6', 'ok'],
    ['tmux master', 'ok'],
    ['tmux 3.1c', 'fail'],
    [undefined, 'fail'],
  ])('for %s is %s', (tmux, level) => {
    const probe = { tmux, secrets: [], missingAgents: [] };
    expect(judgeMachine(probe, 'here').map((one) => one.level)).toEqual([level]);
  });

  it.each([
    [0, 'ok'],
    [4_000, 'ok'],
    [-20_000, 'warn'],
    [3_600_000, 'fail'],
  ])('for a clock that is %i ms ahead is %s', (aheadMs, level) => {
    expect(judgeClock(aheadMs, 'The clock').level).toBe(level);
  });
});

describe('our checksum', () => {
  it.each([0, 1, 3, 255, 256, 70_000])('of %i bytes equals that of cksum', (length) => {
    const bytes = Buffer.from(Array.from({ length }, (_, at) => (at * 7 + 3) % 256));
    const theirs = execFileSync('cksum', { input: bytes, encoding: 'utf8' });
    expect(cksum(bytes)).toBe(theirs.trim());
  });
});

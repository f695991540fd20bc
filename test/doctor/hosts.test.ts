import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Finding } from '../../bin/doctor-finding.ts';
import { judgeClock, judgeMachine, judgeNode } from '../../bin/doctor-machine.ts';
import { addThreadmux } from '../../claude/settings.ts';
import { startSshServer } from '../support/ssh-server.ts';
import { tempFolder } from '../support/temp-home.ts';
import { packageAt, patient } from './patient.ts';

function fault(part: string, says: string | RegExp, remedy: string | RegExp, level = 'fail') {
  return expect.objectContaining({
    part,
    level,
    says: expect.stringMatching(says),
    remedy: expect.stringMatching(remedy),
  });
}

/** A host with tmux, Node.js and an agent, and a way to put a program of ours before the real one. */
async function hostOf(entry: Record<string, unknown> = {}) {
  const bin = tempFolder();
  const server = await startSshServer({ path: `${bin}:${process.env.PATH}` });
  const sick = await patient();
  sick.configure((config) => Object.assign(config, { hosts: { far: { ssh: 'far', ...entry } } }));
  const program = (name: string, body: string) =>
    writeFileSync(join(bin, name), `#!/bin/sh\n${body}\n`, { mode: 0o755 });
  program('claude', 'true');
  return {
    server,
    sick,
    program,
    examine: (): Promise<readonly Finding[]> =>
      sick.examine({ host: 'far', sshConfig: server.configFile }),
  };
}

/** Our home and Claude Code's settings there, as an install leaves them. */
function setUp(home: string): void {
  const dist = packageAt(join(home, 'package', 'dist'));
  mkdirSync(join(home, '.threadmux', 'state'), { recursive: true, mode: 0o700 });
  mkdirSync(join(home, '.claude'));
  writeFileSync(join(home, '.threadmux', 'config.json'), '{}', { mode: 0o600 });
  writeFileSync(join(home, '.threadmux', 'state', 'node'), `${process.execPath}\n`);
  writeFileSync(
    join(home, '.claude', 'settings.json'),
    addThreadmux('', { node: process.execPath, dist }),
  );
}

describe('the doctor, of a host over ssh', () => {
  it('finds nothing where all is well', async () => {
    const host = await hostOf();
    setUp(host.server.home);
    const findings = await host.examine();
    expect(findings.filter(({ level }) => level !== 'ok')).toEqual([]);
    expect(findings.map(({ part }) => part)).toEqual(['host', 'node', 'clock', 'tmux', 'hooks']);
  });

  it('looks at every host of the configuration if it is asked for none', async () => {
    const { sick, server } = await hostOf();
    expect(await sick.examine({ sshConfig: server.configFile })).toContainEqual(
      expect.objectContaining({ part: 'host', level: 'ok', says: 'far can be reached.' }),
    );
  });

  it('finds a host that is switched off', async () => {
    const host = await hostOf();
    await host.server.stop();
    expect(await host.examine()).toEqual([
      fault('host', 'far: .*Connection refused', 'Is it switched on'),
    ]);
  });

  it('finds that our key is not welcome', async () => {
    const host = await hostOf();
    host.server.faults.passwordOnly = true;
    expect(await host.examine()).toEqual([
      fault('host', 'far: .*Permission denied', 'ssh-copy-id far'),
    ]);
  });

  it('finds that the key of the host has changed', async () => {
    const host = await hostOf();
    expect(await host.examine()).toContainEqual(
      expect.objectContaining({ part: 'host', level: 'ok' }),
    );
    host.server.changeHostKey();
    expect(await host.examine()).toEqual([fault('host', 'HAS CHANGED', 'ssh-keygen -R')]);
  });

  it('finds that there is no tmux, and no new enough Node.js', async () => {
    const host = await hostOf({ tmux: '/opt/gone/tmux' });
    host.program('node', 'echo v16.3.0');
    const findings = await host.examine();
    expect(findings).toContainEqual(fault('tmux', 'not found on far', 'Install tmux 3.2'));
    expect(findings).toContainEqual(
      fault('node', 'v16.3.0 on far is too old', 'Install Node.js 20.19'),
    );
  });

  it('finds a Node.js that does not run', async () => {
    const host = await hostOf();
    host.program('node', 'exit 127');
    expect(await host.examine()).toContainEqual(
      fault('node', 'No Node.js that runs was found on far', 'Install Node.js'),
    );
  });

  it('finds a clock that is off', async () => {
    const host = await hostOf();
    host.program('date', 'echo $(($(/bin/date +%s) - 600))');
    expect(await host.examine()).toContainEqual(
      fault('clock', 'clock of far is 10 minutes behind', 'timedatectl'),
    );
  });

  it('finds that nothing of ours is installed there', async () => {
    const host = await hostOf();
    const findings = await host.examine();
    const remedy = 'threadmux install --host far';
    expect(findings).toContainEqual(fault('hooks', 'Claude Code on far', remedy, 'warn'));
    expect(findings).toContainEqual(
      fault('config', 'There is no .*config.json on far', remedy, 'warn'),
    );
  });

  it('finds that others can read the token there', async () => {
    const host = await hostOf();
    setUp(host.server.home);
    chmodSync(join(host.server.home, '.threadmux', 'config.json'), 0o640);
    expect(await host.examine()).toContainEqual(
      fault('config', 'config.json on far can be read by others', 'chmod 600'),
    );
  });

  it('refuses the name of a host that is not configured', async () => {
    const sick = await patient();
    await expect(sick.examine({ host: 'nowhere' })).rejects.toMatchObject({
      code: 'bad_usage',
      message: expect.stringContaining('"nowhere"'),
    });
  });
});

describe('the judgement of a machine', () => {
  it.each([
    ['v20.19.0', 'ok'],
    ['v20.18.3', 'fail'],
    ['v24.1.0', 'ok'],
    ['v9.99.0', 'fail'],
    [undefined, 'fail'],
  ])('of Node.js %s is %s', (version, level) => {
    expect(judgeNode(version, 'here').level).toBe(level);
  });

  it.each([
    ['tmux 3.2', 'ok'],
    ['tmux 3.3a', 'ok'],
    ['tmux next-3.6', 'ok'],
    ['tmux master', 'ok'],
    ['tmux 3.1c', 'fail'],
    [undefined, 'fail'],
  ])('of %s is %s', (tmux, level) => {
    const probe = { tmux, secrets: [], agent: true } as unknown as Parameters<
      typeof judgeMachine
    >[0];
    expect(judgeMachine(probe, 'here', 'claude').map((one) => one.level)).toEqual([level]);
  });

  it.each([
    [0, 'ok'],
    [4_000, 'ok'],
    [-20_000, 'warn'],
    [3_600_000, 'fail'],
  ])('of a clock that is %i ms ahead is %s', (aheadMs, level) => {
    expect(judgeClock(aheadMs, 'The clock').level).toBe(level);
  });
});

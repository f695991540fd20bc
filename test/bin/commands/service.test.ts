import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { launchdPlist, systemdUnit, UNLESS_78 } from '../../../bin/commands/service.ts';
import { pathInService } from '../../../bin/commands/service-environment.ts';
import { tempFolder } from '../../support/temp-home.ts';
import { binWith, startCli } from '../cli.ts';

const HOSTILE = `/odd "dir" 100%n/$HOME/'x\\y`;
const facts = {
  node: '/usr/bin/env',
  program: `${HOSTILE}/threadmux.js`,
  env: { PATH: '/usr/bin:/bin', THREADMUX_HOME: HOSTILE },
};

/** Reads a quoted word like systemd: backslash escapes, "%%" is "%", and in commands "$$" is "$". */
function unitValues(text: string, key: string): string[] {
  return [...text.matchAll(new RegExp(`^${key}=(.*)$`, 'gm'))].map(([, value]) => value as string);
}
function words(value: string): string[] {
  return [...value.matchAll(/"((?:\\.|[^"\\])*)"/g)].map(([, word = '']) =>
    word.replace(/\\(.)/g, '$1').replaceAll('%%', '%'),
  );
}

describe('the systemd unit', () => {
  const text = systemdUnit(facts);

  it('does not restart on exit code 78, and stops only our own process', () => {
    expect(unitValues(text, 'RestartPreventExitStatus')).toEqual(['78']);
    expect(unitValues(text, 'KillMode')).toEqual(['process']);
    expect(unitValues(text, 'Restart')).toEqual(['on-failure']);
    expect(unitValues(text, 'WantedBy')).toEqual(['default.target']);
    expect(unitValues(text, 'StandardOutput')).toEqual(['null']);
    expect(text).not.toMatch(/^User=|multi-user/m);
  });

  it('keeps every path intact', () => {
    const [command = ''] = unitValues(text, 'ExecStart');
    expect(words(command).map((word) => word.replaceAll('$$', '$'))).toEqual([facts.node, facts.program, 'up']);
    expect(unitValues(text, 'Environment').flatMap(words)).toContain(`THREADMUX_HOME=${HOSTILE}`);
    expect(() => systemdUnit({ ...facts, program: 'a\nExecStartPre=x' })).toThrow('control');
  });

  it('is accepted by systemd, where systemd is installed', () => {
    const folder = tempFolder();
    const path = join(folder, 'threadmux.service');
    writeFileSync(path, text);
    const asked = spawnSync('systemd-analyze', ['verify', '--man=no', path], { encoding: 'utf8' });
    if (asked.error !== undefined) return expect(text).toMatch(/^\[Service\]$/m);
    expect([asked.stderr, asked.status]).toEqual(['', 0]);
  });
});

describe('the launchd agent', () => {
  it('is well-formed, and leaves the sessions alone when it ends', () => {
    const text = launchdPlist(facts, '/log/service.log');
    expect(text).toMatch(/<key>AbandonProcessGroup<\/key>\s*<true\/>/);
    expect(text).toMatch(/<key>SuccessfulExit<\/key>\s*<false\/>/);
    const open: string[] = [];
    for (const [, close, name = '', self] of text.matchAll(/<(\/?)([a-z]+)[^<>]*?(\/?)>/g)) {
      if (close) expect(open.pop()).toBe(name);
      else if (!self) open.push(name);
    }
    expect(open).toEqual([]);
    expect(text).toContain(`<string>${facts.program.replaceAll('"', '&quot;')}</string>`);
    expect(text.replace(/&(amp|lt|gt|quot);/g, '')).not.toContain('&');
  });

  it.each([
    ['exit 0', 0],
    ['exit 1', 1],
    ['exit 78', 0],
    ['kill -9 $$', 137],
  ])('turns "%s" into exit code %i: 78 looks like success, so launchd does not restart it', (script, status) => {
    expect(spawnSync('/bin/sh', ['-c', UNLESS_78, 'sh', 'sh', '-c', script]).status).toBe(status);
  });

  it('passes the signal on, and waits for the program to exit', async () => {
    const folder = tempFolder();
    const program = `trap 'sleep 0.2; echo closed > "${folder}/closed"; exit 0' TERM; echo up; while :; do sleep 0.05; done`;
    const child = spawn('/bin/sh', ['-c', UNLESS_78, 'sh', 'sh', '-c', program], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    await once(child.stdout, 'data');
    child.kill('SIGTERM');
    expect((await once(child, 'exit'))[0]).toBe(0);
    expect(existsSync(join(folder, 'closed'))).toBe(true);
  });
});

it.each([
  ['systemd', (env: typeof facts.env) => systemdUnit({ ...facts, env })],
  ['launchd', (env: typeof facts.env) => launchdPlist({ ...facts, env }, '/log')],
])('the PATH of the service is found in the file for %s', (_, text) => {
  const PATH = `/bin:${HOSTILE} & <x>`;
  expect(pathInService(text({ ...facts.env, PATH }))).toBe(PATH);
});

describe('service install and remove', () => {
  const isMac = process.platform === 'darwin';
  const manager = isMac ? 'launchctl' : 'systemctl';

  /** A service manager that records its arguments, and succeeds or fails. */
  function startService(exit: string) {
    const cli = startCli();
    const told = join(cli.dir, 'told');
    const script = `echo "$*" >> '${told}'; env > '${told}.env'; ${exit}`;
    const PATH = `${binWith(cli.dir, manager, script)}:${cli.env.PATH}`;
    const env = { PATH, XDG_CONFIG_HOME: join(cli.dir, 'xdg') };
    return {
      dir: cli.dir,
      run: (args: readonly string[], more = {}) => cli.run(args, { env: { ...env, ...more } }),
      unit: isMac
        ? join(cli.dir, 'Library', 'LaunchAgents', 'threadmux.plist')
        : join(cli.dir, 'xdg', 'systemd', 'user', 'threadmux.service'),
      told: () => readFileSync(told, 'utf8').split('\n').filter(Boolean),
      env: () => readFileSync(`${told}.env`, 'utf8'),
    };
  }

  it('write the unit and start it, and undo both', async () => {
    const { run, unit, told, env } = startService('exit 0');
    const printed = await run(['service', 'install', '--print']);
    expect(existsSync(unit)).toBe(false);
    const token = 'MTIzNDU2Nzg5MDEyMzQ1Njc4OQ.GabcDE.secretsecretsecretsecretsecret';
    const done = await run(['service', 'install'], { DISCORD_BOT_TOKEN: token });
    expect(done).toMatchObject({ status: 0, stdout: `${unit}\n` });
    expect(done.stderr).toContain('does not get DISCORD_BOT_TOKEN from this shell');
    expect(readFileSync(unit, 'utf8')).toBe(printed.stdout);
    expect(statSync(dirname(unit)).mode & 0o077).toBe(0);
    expect(readFileSync(unit, 'utf8') + env()).not.toContain('secretsecret');
    expect((await run(['service', 'remove'])).status).toBe(0);
    expect(existsSync(unit)).toBe(false);
    const domain = `gui/${process.getuid?.()}`;
    expect(told()).toEqual(
      isMac
        ? [`bootout ${domain}/threadmux`, `bootstrap ${domain} ${unit}`, `bootout ${domain}/threadmux`]
        : [
            '--user daemon-reload',
            '--user enable threadmux.service',
            '--user restart threadmux.service',
            '--user disable --now threadmux.service',
            '--user daemon-reload',
          ],
    );
    expect((await run(['service', 'remove'])).stderr).toContain('nothing to remove');
  });

  it('copy API keys and proxies only on request, into a file that only the user can read', async () => {
    const { run, unit, dir } = startService('exit 0');
    const copy = join(dir, '.threadmux', 'state', 'service-environment.json');
    const env = { ANTHROPIC_API_KEY: 'sk-secret', HTTPS_PROXY: 'http://p', CLAUDECODE: '1' };
    const plain = await run(['service', 'install'], env);
    expect(plain.stderr).toContain('do not get ANTHROPIC_API_KEY, HTTPS_PROXY from this shell');
    expect(plain.stderr).toContain('--keep-environment');
    expect(existsSync(copy)).toBe(false);
    const kept = await run(['service', 'install', '--keep-environment'], env);
    expect(JSON.parse(readFileSync(copy, 'utf8'))).toMatchObject({ ANTHROPIC_API_KEY: 'sk-secret' });
    expect(statSync(copy).mode & 0o777).toBe(0o600);
    expect([readFileSync(unit, 'utf8'), plain.stderr, kept.stderr, kept.stdout].join()).not.toContain('sk-secret');
    await run(['service', 'remove']);
    expect(existsSync(copy)).toBe(false);
  });

  it('keep the file and say so where the service manager does not answer', async () => {
    const { run, unit } = startService('echo "Failed to connect to bus" >&2; exit 1');
    const done = await run(['service', 'install']);
    expect(done.status).toBe(1);
    expect(done.stderr).toContain('Failed to connect to bus');
    expect(done.stderr).toContain(`To start it yourself, run: ${manager} `);
    expect(existsSync(unit)).toBe(true);
  });

  it('do not wait for a named pipe or a device in the place of the file', async () => {
    const { run, unit } = startService('exit 0');
    mkdirSync(dirname(unit), { recursive: true });
    for (const make of [() => spawnSync('mkfifo', [unit]), () => symlinkSync('/dev/zero', unit)]) {
      make();
      for (const act of ['install', 'remove']) {
        const done = await run(['service', act]);
        expect(done.stderr).toContain(`${unit} is not a file`);
        expect(done.status).toBe(78);
      }
      rmSync(unit);
    }
  });

  it('touch no file that someone else wrote, and are refused under sudo', async () => {
    const { run, unit } = startService('exit 0');
    mkdirSync(dirname(unit), { recursive: true });
    writeFileSync(unit, 'somebody wrote this');
    expect((await run(['service', 'install'])).stderr).toContain('was not written by threadmux');
    expect((await run(['service', 'remove'])).status).toBe(1);
    expect(readFileSync(unit, 'utf8')).toBe('somebody wrote this');
    const asRoot = await run(['service', 'install'], { SUDO_UID: '1000' });
    expect(asRoot.status).toBe(process.getuid?.() === 0 ? 2 : 1);
  });
});

// An agent that is run as on another host, with the shells that a host may have: nothing of it is left when its connection falls
// silent, or when the next turn of its thread begins.

import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Host, StartedScript } from '../../../hosts/host.ts';
import { localHost } from '../../../hosts/host.ts';
import { startRemoteAgentProcess } from '../../../streams/agent/remote-process.ts';
import { cpuMs } from '../../support/cpu-time.ts';
import { processesWith } from '../../support/hook-process.ts';
import { tempFolder } from '../../support/temp-home.ts';

const WAIT = { timeout: 40_000, interval: 50 } as const;
const SHELLS = ['/bin/dash', '/bin/bash', '/bin/busybox sh'].filter((shell) => existsSync(shell.split(' ')[0] ?? ''));

/** A host whose `sh` is this shell. */
function hostWith(shell: string): Host {
  const bin = tempFolder();
  writeFileSync(join(bin, 'sh'), `#!/bin/sh\nexec ${shell} "$@"\n`, { mode: 0o755 });
  const PATH = `${bin}:${process.env.PATH}`;
  return localHost({ name: 'far', env: { ...process.env, PATH, SHELL: '/bin/sh' } });
}

function setUp(shell = '/bin/sh') {
  const [host, home, dir] = [hostWith(shell), tempFolder(), tempFolder()];
  const files = () => readdirSync(home);
  const start = (script: string, more: { beatMs?: number; silentSeconds?: number; asks?: boolean } = {}) => {
    const lines: string[] = [];
    const agent = startRemoteAgentProcess({
      asks: true,
      host,
      home,
      dir,
      thread: '77',
      command: ['sh', '-c', script],
      onLine: (line) => lines.push(line),
      ...more,
    });
    onTestFinished(() => agent.end());
    return { agent, lines };
  };
  return { home, dir, files, start, left: () => processesWith(`THREADMUX_HOME=${home}`) };
}

describe.each(SHELLS)('an agent on a host with %s', (shell) => {
  it('gets its input line by line, until it ends, and its errors and status come back', async () => {
    const { start, dir, files, left } = setUp(shell);
    const { agent, lines } = start(`sed 's/^/got /'; echo "$PWD $THREADMUX_THREAD"; echo bad >&2; exit 3`);
    const odd = `{"a":"\\n \\\\ $HOME \`id\` 'x' > . beat ${'ü'.repeat(9_000)}"}`;
    agent.write(`${odd}\n`);
    agent.write('beat\n');
    agent.write('many\n.\n\n>lines\u2028here');
    agent.endInput();
    expect(await agent.ended).toEqual({ status: 3, stderr: 'bad' });
    const many = ['got many', 'got .', 'got ', 'got >lines\u2028here'];
    expect(lines).toEqual([`got ${odd}`, 'got beat', ...many, `${dir} 77`]);
    await vi.waitFor(() => expect([files(), left()]).toEqual([[], []]), WAIT);
  });

  it('gets a prompt of several lines, and no thread if its hooks do not ask there', async () => {
    const { start } = setUp(shell);
    const { agent, lines } = start(`sed 's/^/got /'; echo "thread: $THREADMUX_THREAD"`, { asks: false });
    agent.write('one\n\n  two\u2028.\n.');
    agent.endInput();
    await agent.ended;
    expect(lines).toEqual(['got one', 'got ', 'got   two\u2028.', 'got .', 'thread: ']);
  });

  it('ends with everything that it has started', async () => {
    const { start, files, left } = setUp(shell);
    const { agent, lines } = start('(setsid sleep 600 &); setsid sleep 600 & echo up; sleep 600');
    await vi.waitFor(() => expect(lines).toEqual(['up']), WAIT);
    await agent.end();
    await vi.waitFor(() => expect([files(), left()]).toEqual([[], []]), WAIT);
  });

  it('ends when there was no beat for too long, and not before', async () => {
    const { start, files, left } = setUp(shell);
    const beating = start('echo up; sleep 7; echo done', { beatMs: 500, silentSeconds: 4 });
    expect(await beating.agent.ended).toEqual({ status: 0, stderr: '' });
    expect(beating.lines).toEqual(['up', 'done']);
    const silent = start('echo up; sleep 600', { beatMs: 3_600_000, silentSeconds: 4 });
    await vi.waitFor(() => expect(silent.lines).toEqual(['up']), WAIT);
    await silent.agent.ended;
    await vi.waitFor(() => expect([files(), left()]).toEqual([[], []]), WAIT);
  });
});

it('the next turn of a thread begins when nothing of the last one is left', async () => {
  const { start, dir, home } = setUp();
  const first = start(
    `trap 'sleep 1; echo first ended >> ${dir}/log; exit' TERM; echo up; while :; do sleep 0.1; done`,
  );
  await vi.waitFor(() => expect(first.lines).toEqual(['up']), WAIT);
  // Another thread is left alone.
  writeFileSync(join(home, 'turn.777.x'), '');
  const second = start(`echo second >> ${dir}/log`);
  expect(await second.agent.ended).toMatchObject({ status: 0 });
  await first.agent.ended;
  expect(readFileSync(join(dir, 'log'), 'utf8')).toBe('first ended\nsecond\n');
  expect(readdirSync(home)).toEqual(['turn.777.x']);
});

it('an agent that prints lines without end keeps us busy for a small part of the time', async () => {
  const [host, home] = [localHost({ name: 'far', env: process.env }), tempFolder()];
  let lines = 0;
  const onLine = () => {
    lines++;
    for (const began = performance.now(); performance.now() - began < 0.05; ); // about as long as a line takes
  };
  const agent = { asks: false, home, dir: home, thread: '77', command: ['x'], onLine };
  let script: StartedScript | undefined;
  const start = () => {
    script = host.start('exec yes 11111111111111111111111111111111111111111111111111', []);
    return script;
  };
  const began = performance.now();
  const busyMs = await cpuMs(() => {
    startRemoteAgentProcess({ ...agent, host: { ...host, start } });
    return sleep(4_000);
  });
  script?.stop();
  expect(lines).toBeGreaterThan(100);
  expect(busyMs / (performance.now() - began)).toBeLessThan(0.5); // it was all of it
});

// The files of a prompt are removed, but never an answer that its hook has not taken yet.

import { execFileSync, spawn } from 'node:child_process';
import { closeSync, constants, existsSync, openSync, renameSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { silentLog } from '../../core/log.ts';
import { createHookAnswers, withRemoteAnswers } from '../../threads/prompts/answers.ts';
import { startSshServer } from '../support/ssh-server.ts';
import { tempHome } from '../support/temp-home.ts';

const ID = 'a'.repeat(32);

/** A waiting hook that is too slow to read its bell. */
function slowHook() {
  const home = tempHome();
  const path = (suffix = '') => `${home.folder('answers')}/${ID}${suffix}`;
  execFileSync('mkfifo', [path('.bell')]);
  const bell = openSync(path('.bell'), constants.O_RDWR);
  const child = spawn('sleep', ['600']);
  onTestFinished(() => void child.kill('SIGKILL'));
  return {
    ...{ home, path, asker: child.pid ?? 0 },
    take: () => renameSync(path(), path('.taken')),
    async leave() {
      closeSync(bell);
      child.kill('SIGKILL');
      await vi.waitFor(() => expect(child.signalCode).toBe('SIGKILL'));
    },
  };
}

describe('an answer', () => {
  it('that releases a hook stays until the hook has taken it', async () => {
    const hook = slowHook();
    const answers = createHookAnswers(hook.home);
    answers.release(ID);
    answers.clear(ID);
    expect(existsSync(hook.path())).toBe(true);
    hook.take();
    answers.clear(ID);
    expect(existsSync(hook.path('.taken'))).toBe(true);
    await hook.leave();
    answers.clear(ID);
    for (const suffix of ['', '.taken', '.bell']) expect(existsSync(hook.path(suffix))).toBe(false);
  });

  it('of a hook that is gone is removed', async () => {
    const hook = slowHook();
    const answers = createHookAnswers(hook.home);
    answers.release(ID);
    await hook.leave();
    answers.clear(ID);
    for (const suffix of ['', '.bell']) expect(existsSync(hook.path(suffix))).toBe(false);
  });

  it('that releases a hook on another host stays until the hook has taken it', async () => {
    const hook = slowHook();
    const ssh = await startSshServer();
    const answers = withRemoteAnswers(createHookAnswers(tempHome()), {
      hosts: { get: () => ssh.host(), isLocal: () => false } as never,
      remote: { home: async () => hook.home.root } as never,
      log: silentLog,
    });
    answers.from(ID, 'far', hook.asker);
    answers.release(ID);
    await vi.waitFor(() => expect(existsSync(hook.path())).toBe(true), 20_000);
    writeFileSync(hook.path('.withdrawn'), '');
    answers.clear(ID);
    await vi.waitFor(() => expect(existsSync(hook.path('.withdrawn'))).toBe(false), 20_000);
    expect(existsSync(hook.path())).toBe(true);
    hook.take();
    await sleep(1_500); // it is looked at once a second
    expect(existsSync(hook.path('.taken'))).toBe(true);
    await hook.leave();
    await vi.waitFor(() => expect(existsSync(hook.path('.taken'))).toBe(false), 20_000);
  });
});

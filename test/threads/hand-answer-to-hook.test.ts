// The files of a prompt are removed, but never an answer that its hook has not taken yet.

import { execFileSync, spawn } from 'node:child_process';
import {
  closeSync,
  constants,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { silentLog } from '../../core/log.ts';
import { createHookAnswers, withRemoteAnswers } from '../../threads/prompts/hand-answer-to-hook.ts';
import { type SshServer, startSshServer } from '../support/ssh-server.ts';
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
    home,
    path,
    asker: child.pid ?? 0,
    take: () => renameSync(path(), path('.taken')),
    async leave() {
      closeSync(bell);
      child.kill('SIGKILL');
      await vi.waitFor(() => expect(child.signalCode).toBe('SIGKILL'));
    },
  };
}

/** Gives answers over ssh. */
function answersThere({ home, asker }: ReturnType<typeof slowHook>, ssh: SshServer) {
  const answers = withRemoteAnswers(createHookAnswers(tempHome()), {
    hosts: { get: () => ssh.host(), isLocal: () => false } as never,
    remote: { home: async () => home.root } as never,
    log: silentLog,
  });
  answers.from(ID, 'far', asker);
  return answers;
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
    const answers = answersThere(hook, await startSshServer());
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

  it('of which only a part arrives on another host is not given, and is given when all of it arrives', async () => {
    const hook = slowHook();
    const ssh = await startSshServer({ shell: '/bin/bash' });
    writeFileSync(join(ssh.home, '.bashrc'), 'read -r line\n'); // takes the first line of every stdin
    const answers = answersThere(hook, ssh);
    await expect(answers.give(ID, '{"a":\n1}\n')).rejects.toThrow('only a part of it arrived');
    expect(readdirSync(hook.home.folder('answers'))).toEqual([`${ID}.bell`]);
    rmSync(join(ssh.home, '.bashrc'));
    const given = answers.give(ID, '{"a":\n"ä"}\n');
    await vi.waitFor(() => expect(readFileSync(hook.path(), 'utf8')).toBe('{"a":\n"ä"}\n'), 20_000);
    hook.take();
    expect(await given).toBe('taken');
  });
});

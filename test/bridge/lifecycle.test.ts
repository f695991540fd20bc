// Threads follow sessions that users create, rename and close in their own terminal.

import { existsSync, writeFileSync } from 'node:fs';
import { describe, expect, it, vi } from 'vitest';
import { saveAutoThreads } from '../../home/installed.ts';
import { eventScript, hooksConf, loadHooks } from '../../tmux/tmux-hooks.ts';
import { aWhile, type Setting, startSetting, WAIT } from './bridge-setup.ts';
import { startFar } from './remote-host.ts';

interface Thread {
  readonly id: string;
  readonly name: string;
  readonly thread_metadata: { readonly archived: boolean };
}

async function active({ workspace }: Setting): Promise<readonly string[]> {
  const { body } = await workspace.bot('GET', `/guilds/${workspace.guildId}/threads/active`);
  return (body.threads as Thread[]).map(({ name }) => name).sort();
}

const untilActive = (setting: Setting, names: readonly string[]) =>
  vi.waitFor(async () => expect(await active(setting)).toEqual(names), WAIT);

/** The real hooks, in the tmux server of the test. */
async function withHooks(setting: Setting): Promise<void> {
  const { home, tmux } = setting.machine;
  const script = home.path('tmux-event');
  writeFileSync(script, eventScript, { mode: 0o700 });
  writeFileSync(home.path('tmux.conf'), hooksConf(script));
  await loadHooks(tmux.tmux, home.path('tmux.conf'));
}

describe('sessions made by hand', () => {
  it('get a thread, keep it when renamed, and lose it when closed', async () => {
    const setting = await startSetting();
    const { tmux } = setting.machine;
    tmux.call('new-session', '-d', '-s', 'keeper');
    await withHooks(setting);
    tmux.call('new-session', '-d', '-s', 'web');
    await untilActive(setting, ['[agent] keeper', '[agent] web']);
    tmux.call('rename-session', '-t', '=web', 'shop');
    await untilActive(setting, ['[agent] keeper', '[agent] shop']);
    tmux.call('kill-session', '-t', '=shop');
    await untilActive(setting, ['[agent] keeper']);
  });

  it('get none if they are infrastructure, or while automatic threads are off', async () => {
    const setting = await startSetting({ file: { ignoreSessions: ['^infra-'] } });
    const { tmux, home } = setting.machine;
    tmux.call('new-session', '-d', '-s', 'infra-db');
    await withHooks(setting);
    saveAutoThreads(home, false);
    tmux.call('new-session', '-d', '-s', 'private');
    await aWhile(1_500);
    expect(await active(setting)).toEqual([]);
    saveAutoThreads(home, true);
    tmux.call('new-session', '-d', '-s', 'public');
    await untilActive(setting, ['[agent] private', '[agent] public']);
  });

  it('get a thread also while those of another host wait for Discord', async () => {
    let waiting = 0;
    const onRequest = ({ body }: { readonly body: unknown }) => {
      if (!JSON.stringify(body ?? '').includes('@far')) return undefined;
      waiting++;
      return { kind: 'delay', ms: 1_500 } as const;
    };
    const far = await startFar({ faults: { onRequest } });
    saveAutoThreads(far.machine.home, true);
    for (let at = 0; at < 30; at++) far.place.tmux.call('new-session', '-d', '-s', `flood-${at}`, 'cat');
    far.shared.sessionsChanged.tell();
    await vi.waitFor(() => expect(waiting).toBeGreaterThan(0), WAIT);
    far.machine.tmux.call('new-session', '-d', '-s', 'web');
    far.shared.sessionsChanged.tell();
    await vi.waitFor(async () => expect(await active(far)).toContain('[agent] web'), WAIT);
    expect(await active(far)).not.toContain('[agent] flood-29@far');
  });

  it('execute nothing in a hostile name', async () => {
    const setting = await startSetting();
    const { tmux } = setting.machine;
    const pwned = `${tmux.dir}/pwned`;
    tmux.call('new-session', '-d', '-s', 'keeper');
    await withHooks(setting);
    tmux.call('new-session', '-d', '-s', 'plain');
    tmux.call('rename-session', '-t', '=plain', `x"; touch ${pwned}; $(touch ${pwned}) \`touch ${pwned}\``);
    await vi.waitFor(
      async () => expect((await active(setting)).some((name) => name.includes('touch'))).toBe(true),
      WAIT,
    );
    expect(existsSync(pwned)).toBe(false);
  });

  it('do not count as closed when their host is unreachable', async () => {
    const setting = await startSetting({ file: { hosts: { mini: { ssh: 'no-such-host.invalid' } } } });
    const { workspace } = setting;
    const welcome = await workspace.bot('POST', `/channels/${workspace.channelId}/messages`, { content: 'Welcome' });
    await workspace.bot('POST', `/channels/${workspace.channelId}/messages/${welcome.body.id}/threads`, {
      name: '[agent] web@mini',
    });
    await setting.restart();
    await vi.waitFor(() => expect(setting.log.join('\n')).toMatch(/lifecycle host=mini because=/), WAIT);
    expect(await active(setting)).toEqual(['[agent] web@mini']);
  });

  it('of Claude that were closed while the bridge was down are noticed when it starts', async () => {
    const setting = await startSetting();
    const claude = await setting.claude('web');
    await setting.bridge.close();
    setting.machine.tmux.call('kill-session', '-t', '=web');
    await setting.restart();
    await untilActive(setting, []);
    await setting.answer(claude.thread, /^⏹️ The session has ended\.$/);
  });
});

// The states that the bridge tells, compared with what real panes show.

import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import type { TimedState } from '../../threads/session-state.ts';
import { promptIn, startHook, startPromptPane } from '../support/prompt-pane.ts';
import { type Setting, startSetting, tellOfSession, WAIT } from './bridge-setup.ts';
import { farHook, farPromptPane, startFar } from './remote-host.ts';

/** A pane that shows recorded screens, and reports to the bridge. */
const paneIn = ({ machine }: Setting, inShell = false) =>
  startPromptPane(machine, 'web', { inShell, report: (env, input) => machine.write(env, input) });
const shown = (state: TimedState | undefined) => [state?.state, state?.for].filter(Boolean).join(' ');
const stateOf = (setting: Setting, thread: string) => shown(setting.bridge.states.get(thread));
const untilState = (setting: Setting, thread: string, wanted: string) =>
  vi.waitFor(() => expect(stateOf(setting, thread)).toBe(wanted), WAIT);

async function threadOf(setting: Setting, session: string): Promise<string> {
  return vi.waitFor(() => {
    const found = setting.shared.threads.registry.all().find((one) => one.sessionName === session && !one.closed);
    if (found === undefined) throw new Error(`${session} has no thread yet`);
    return found.thread;
  }, WAIT);
}

describe('the state of a session here', () => {
  it('follows the screen: dialogs, work, drafts, copy mode, exit', async () => {
    const setting = await startSetting();
    const pane = await paneIn(setting, true);
    const see = async (screen: string, wanted: string) => {
      await pane.show(screen);
      await untilState(setting, pane.thread, wanted);
    };
    await see('empty-fresh', 'idle');
    await see('busy-empty-box', 'working');
    await see('dialog-permission-bash', 'needs_person permission');
    await see('dialog-model', 'needs_person dialog: Select model');
    await see('draft-one-line', 'idle');
    await see('busy-with-draft', 'working');
    // In copy mode the program goes on below.
    setting.machine.tmux.call('copy-mode', '-t', '=web:');
    await see('dialog-trust', 'needs_person dialog: Accessing workspace');
    setting.machine.tmux.call('send-keys', '-t', '=web:', '-X', 'cancel');
    await see('empty-after-reply', 'idle');
    // What cannot be read changes nothing.
    await pane.show('view-transcript');
    await sleep(1_500);
    expect(stateOf(setting, pane.thread)).toBe('idle');
    await pane.exit();
    await untilState(setting, pane.thread, 'shell');
  });

  it('is true of shells, renamed sessions, other panes and closed sessions', async () => {
    const setting = await startSetting();
    const { tmux } = setting.machine;
    tmux.call('new-session', '-d', '-s', 'plain', 'sh');
    tellOfSession(setting.machine, 'plain');
    const plain = await threadOf(setting, 'plain');
    await untilState(setting, plain, 'shell');
    const web = await setting.claude('web');
    await untilState(setting, web.thread, 'idle');
    tmux.call('rename-session', '-t', '=web', 'shop');
    await web.tell('busy');
    await untilState(setting, web.thread, 'working');
    await web.tell('idle');
    await untilState(setting, web.thread, 'idle');
    tmux.call('new-window', '-d', '-t', '=shop:', 'sh');
    await web.tell('exit').catch(() => {});
    await untilState(setting, web.thread, 'shell');
    tmux.call('kill-session', '-t', '=shop');
    await untilState(setting, web.thread, 'ended');
    tmux.call('kill-session', '-t', '=plain');
    await untilState(setting, plain, 'ended');
  });

  it('keeps a dead pane as ended', async () => {
    const setting = await startSetting();
    const web = await setting.claude('web', { remainOnExit: true });
    await untilState(setting, web.thread, 'idle');
    await web.tell('exit').catch(() => {});
    await untilState(setting, web.thread, 'ended');
  });

  it('is delivering while a message waits, and needs a person as long as a prompt is open', async () => {
    const setting = await startSetting();
    const pane = await paneIn(setting);
    await pane.show('empty-fresh');
    await untilState(setting, pane.thread, 'idle');
    // Nothing is typed into the transcript, so the message waits.
    await pane.show('view-transcript');
    await setting.say(pane.thread, 'hello');
    await untilState(setting, pane.thread, 'delivering');
    // Without its dialog on the screen, a prompt would count as answered if its letter came late.
    await pane.show('dialog-permission-bash');
    const hook = startHook(setting.machine, pane, pane.input('Bash'));
    await untilState(setting, pane.thread, 'needs_person permission');
    await promptIn(setting.workspace, pane.thread);
    await sleep(1_000);
    expect(stateOf(setting, pane.thread)).toBe('needs_person permission');
    await pane.show('busy-empty-box');
    pane.result();
    await vi.waitFor(() => expect(stateOf(setting, pane.thread)).toMatch(/^(working|delivering)$/), WAIT);
    hook.child.kill('SIGKILL');
  });

  it('tells each change once, with its time, and keeps the time over a restart', async () => {
    const setting = await startSetting();
    const web = await setting.claude('web');
    await untilState(setting, web.thread, 'idle');
    const heard: string[] = [];
    setting.bridge.states.onState((thread, state) => thread === web.thread && heard.push(shown(state)));
    const { since } = setting.bridge.states.get(web.thread) as TimedState;
    expect(since).toBeLessThanOrEqual(Date.now());
    await web.tell('busy');
    await untilState(setting, web.thread, 'working');
    await sleep(1_500);
    expect(heard).toEqual(['working']);
    const working = setting.bridge.states.get(web.thread)?.since;
    await setting.restart();
    await untilState(setting, web.thread, 'working');
    expect(setting.bridge.states.get(web.thread)?.since).toBe(working);
  });

  it('tells screens when they stand still: a dialog, and that it is gone', async () => {
    const setting = await startSetting();
    const pane = await paneIn(setting);
    const kinds: string[] = [];
    setting.bridge.states.onScreen((thread, { screen, look }) => {
      if (thread === pane.thread) kinds.push(look.kind === 'gone' ? 'gone' : screen.kind);
    });
    const untilSeen = (...wanted: string[]) => vi.waitFor(() => expect(kinds).toEqual(wanted), WAIT);
    await pane.show('empty-fresh');
    await untilSeen('empty');
    await pane.show('dialog-trust');
    await untilSeen('empty', 'dialog');
    await pane.show('dialog-permission-bash');
    await untilSeen('empty', 'dialog', 'dialog');
    await pane.show('empty-fresh');
    await untilSeen('empty', 'dialog', 'dialog', 'empty');
    setting.machine.tmux.call('kill-session', '-t', '=web');
    await untilSeen('empty', 'dialog', 'dialog', 'empty', 'gone');
  });
});

describe('the state of a session on another host', () => {
  it('follows its reports and its screen, costs nothing while it is idle, and is unreachable when the host is', async () => {
    const far = await startFar();
    const pane = await farPromptPane(far, far, 'web');
    await pane.show('empty-fresh');
    await untilState(far, pane.thread, 'idle');
    const execs = await vi.waitFor(async () => {
      const before = far.ssh.counts.execs;
      await sleep(2_500);
      expect(far.ssh.counts.execs).toBe(before);
      return before;
    }, WAIT);
    expect(execs).toBeGreaterThan(0);
    // No hook reports a panel that a person opens in the terminal.
    await pane.show('dialog-trust');
    await untilState(far, pane.thread, 'needs_person dialog: Accessing workspace');
    await pane.show('empty-fresh');
    await untilState(far, pane.thread, 'idle');
    // A prompt is a reason to look, and its answer in the terminal is seen.
    await pane.show('dialog-permission-bash');
    const hook = farHook(far, pane, pane.input('Bash'));
    await untilState(far, pane.thread, 'needs_person permission');
    await pane.show('busy-empty-box');
    await untilState(far, pane.thread, 'working');
    hook.child.kill('SIGKILL');
    await far.ssh.stop();
    await untilState(far, pane.thread, 'unreachable');
    await pane.show('empty-fresh');
    await far.ssh.start(far.ssh.port);
    await untilState(far, pane.thread, 'idle');
    far.place.tmux.call('kill-session', '-t', '=web');
    far.bridge.states.lookSoon(pane.thread);
    await untilState(far, pane.thread, 'ended');
  });
});

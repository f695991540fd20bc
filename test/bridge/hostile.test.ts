// Hostile names and texts through the whole program: no byte reaches a wrong pane, and no command runs.

import { spawn, spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { openCursors, openInbox } from '../../bridge/inbox.ts';
import { snowflakeAt } from '../../core/snowflake.ts';
import { cleanInbound } from '../../core/untrusted-text.ts';
import { START_OPTION } from '../../tmux/tmux.ts';
import type { FakeClaude } from '../support/fake-claude.ts';
import { DROP, paneEnv } from '../support/hook-process.ts';
import { tempFolder } from '../support/temp-home.ts';
import { aWhile, type Setting, startSetting, tellOfSession, untilPrompts, WAIT } from './bridge-setup.ts';
import { startFar } from './remote-host.ts';

const NAMES = ['web', 'web2', 'a b', "it's", '$(touch pwned)', '`touch pwned`', '-x', '"q"', '~', '%0', '*'];

const TEXTS = [
  '\u001b[201~touch pwned\r',
  'a\u001b[201~\u001b[200~b',
  '\u001b\u001b\u001b',
  'nul\u0000byte',
  'bell\u0007 back\b\b\bspace del\u007f',
  '\u009b201~c1 escape',
  'lone \ud800 and \udfff surrogates',
  'carriage\rreturns\r\nand\rmore',
  'tab\tstays',
  '\u0003\u0004\u001a control keys',
  '\u0013 the stash key',
  '$(touch pwned) `touch pwned` $IFS ; touch pwned | touch pwned & touch pwned',
  "'; touch pwned; '",
  '"; touch pwned; "',
  '#(touch pwned) #{pane_id} #{q:x} %%',
  '\\; run-shell "touch pwned"',
  '; kill-server',
  '} ; kill-server ; {',
  'threadmux-end-0 0\nENTER\nTEXT\nALREADY',
  '--\n-t %0\n-X cancel',
  'C-c Enter Escape q',
  '\u202e\u2066 bidi \u2069\u200b\u200d\ufeff.',
  '1',
  'y',
  '\n\n\n2\n',
  'Esc to cancel',
  '❯\u00a0\n────────────────────\n  ? for shortcuts',
  '› stashed',
  '[Pasted text #1 +3 lines]',
  'a'.repeat(1_999),
  `${'\ud83d\udc69\u200d\ud83d\udc67'.repeat(200)}!`,
];

/** Longer than any chat allows: put into the inbox like a message that was accepted before a crash. */
function leave(setting: Setting, claude: FakeClaude, texts: readonly string[]): void {
  const { home } = setting.machine;
  const inbox = openInbox(home.folder('inbox'), openCursors(home.path('state', 'unused.json'), 0));
  for (const [at, text] of texts.entries())
    inbox.put({
      id: String(BigInt(snowflakeAt(Date.now())) + BigInt(at)),
      channelId: claude.thread,
      authorId: setting.workspace.userId,
      author: 'someone',
      text,
      attachments: [],
    });
}

describe('hostile input', () => {
  it('in session names does not misdirect a message', async () => {
    const setting = await startSetting();
    const claudes: FakeClaude[] = [];
    for (const name of NAMES) claudes.push(await setting.claude(name, { replies: false }));
    expect(new Set(claudes.map(({ thread }) => thread)).size).toBe(NAMES.length);
    await Promise.all(claudes.map((claude) => setting.say(claude, `for ${claude.session}`)));
    for (const claude of claudes) await untilPrompts(claude, [`for ${claude.session}`]);
    for (const claude of claudes) expect(claude.noted()).toEqual([{ kind: 'prompt', text: `for ${claude.session}` }]);
    expect(existsSync(join(setting.machine.tmux.dir, 'pwned'))).toBe(false);
  });

  it('in texts arrives as cleaned text, never as keys', async () => {
    const setting = await startSetting();
    const claude = await setting.claude('web', { replies: false });
    const bystander = await setting.claude('web2', { replies: false });
    await setting.bridge.close();
    const megabyte = 'x"$(touch pwned)\n'.repeat(62_000);
    leave(setting, claude, [...TEXTS, megabyte]);
    await setting.restart();
    const wanted = [...TEXTS, megabyte].map((text) => cleanInbound(text).trim());
    await untilPrompts(claude, wanted.filter(Boolean), 240_000);
    expect(claude.noted().filter(({ kind }) => kind !== 'prompt')).toEqual([]);
    expect(bystander.noted()).toEqual([]);
    expect(existsSync(join(setting.machine.tmux.dir, 'pwned'))).toBe(false);
  });
});

describe('a hostile host', () => {
  it('writes no link into the welcome of its session', async () => {
    const setting = await startSetting();
    const { tmux } = setting.machine;
    const started = {
      directory: '/',
      command: [],
      agent: 'codex',
      weaker: '[Tap here](https://example.invalid)\n# Now',
    };
    tmux.call('new-session', '-d', '-s', 'web', 'sh');
    tmux.call('set-option', '-t', '=web:', START_OPTION, JSON.stringify(started));
    tellOfSession(setting.machine, 'web');
    const welcome = await setting.answer(setting.workspace.channelId, /`web`/);
    expect(welcome.content).toContain('example.invalid');
    expect(welcome.content).not.toMatch(/(?<!\\)\]\(https|^# Now/m);
  });

  it('freezes nobody with a screen of spaces', async () => {
    const tmux = join(tempFolder(), 'tmux');
    const spaces = 's/evil/$(printf "%100000s" "")x/';
    const script = `case "$*" in *capture-pane*) tmux "$@" | sed "${spaces}" ;; *) exec tmux "$@" ;; esac`;
    writeFileSync(tmux, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    const far = await startFar({ tmux });
    far.place.tmux.call('new-session', '-d', '-s', 'web', 'sh', '-c', 'echo evil; exec cat');
    const drop = join(far.ours, 'bin', 'drop');
    await vi.waitFor(() => expect(existsSync(drop)).toBe(true), WAIT);
    const report = { event: 'waiting', session: 'ses_1', cwd: '/', transcript: '', message: 'Look.' };
    const env = { ...far.place.env, ...paneEnv(far.place.tmux, '=web:'), THREADMUX_HOME: far.ours };
    const before = process.cpuUsage();
    spawnSync(drop, ['pi'], { input: JSON.stringify(report), env });
    const { threads } = far.shared;
    await vi.waitFor(() => expect(threads.registry.all()).toMatchObject([{ state: 'waiting' }]), WAIT);
    expect(process.cpuUsage(before).user / 1_000).toBeLessThan(5_000);
  });

  it('writes no link into the answer to !status', async () => {
    const setting = await startSetting();
    const claude = await setting.claude('web', { replies: false });
    await claude.tell('choice', { title: '[Tap here](https://example.invalid)', options: ['Yes', 'No'], at: 0 });
    await setting.answer(claude, /example\.invalid/);
    await setting.say(claude, '!status');
    const status = await setting.answer(claude, /`web` needs you/);
    expect(status.content).toContain('needs you (`dialog: [Tap here](https://example.invalid)`)');
  });

  it('does not end a prompt of another host with its ids', async () => {
    const setting = await startSetting();
    const { machine, shared } = setting;
    const pane = machine.session('web');
    const asked = {
      event: 'asked',
      session: 'ses_1',
      cwd: '/',
      kind: 'permission',
      tool: 'Bash',
      input: {},
      ask: 'per_1',
    };
    const hook = spawn(join(dirname(DROP), 'ask'), ['opencode'], { env: { ...machine.env, ...pane } });
    onTestFinished(() => void hook.kill('SIGKILL'));
    hook.stdin.end(JSON.stringify(asked));
    const open = () => shared.threads.registry.all().flatMap(({ thread }) => shared.prompts.inThread(thread));
    await vi.waitFor(() => expect(open()).toHaveLength(1), WAIT);
    shared.prompts.resolve('mini', 'ses_1', 'per_1');
    await aWhile();
    expect(open()).toHaveLength(1);
    shared.prompts.resolve(setting.config.host, 'ses_1', 'per_1');
    await vi.waitFor(() => expect(open()).toHaveLength(0), WAIT);
  });
});

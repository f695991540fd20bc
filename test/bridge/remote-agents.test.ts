// Headless agents on another host, over a real ssh, with a scripted Claude Code: the same as here, and nothing is left running there.

import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { loadPromptRecords } from '../../threads/prompts/prompt-record.ts';
import { processesWith } from '../support/hook-process.ts';
import { buttonOf, promptIn, verdictOf } from '../support/prompt-pane.ts';
import { tempFolder } from '../support/temp-home.ts';
import { aWhile, WAIT } from './bridge-setup.ts';
import { type FarOptions, startFar, startFarHost } from './remote-host.ts';

const FAKE = fileURLToPath(new URL('../support/headless-claude.mjs', import.meta.url));
const CODEX = fileURLToPath(new URL('../support/headless-codex.sh', import.meta.url));
const SLOW = { ...WAIT, timeout: 60_000 } as const;

async function start(options: FarOptions = {}) {
  const log = join(tempFolder(), 'log');
  const far = await startFar({
    ...options,
    sshServer: { sshd: true },
    roots: ['~/code'],
    file: {
      agents: {
        claude: { command: ['env', `CLAUDE_FAKE_LOG=${log}`, process.execPath, FAKE] },
        codex: { command: ['sh', CODEX] },
      },
    },
    before: (ssh) => void mkdirSync(join(ssh.home, 'code/shop'), { recursive: true }),
  });
  const { channelId } = far.workspace;
  return {
    far,
    channelId,
    shop: join(far.ssh.home, 'code/shop'),
    runs: (): { argv: string[]; cwd: string; env: Record<string, string> }[] =>
      readFileSync(log, 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    /** What runs there for agents. */
    left: () => processesWith(`CLAUDE_FAKE_LOG=${log}`),
    files: () => readdirSync(far.ours).filter((name) => name.startsWith('turn.')),
    async agent(prompt: string | readonly object[]) {
      await far.say(channelId, `!agent far:shop ${typeof prompt === 'string' ? prompt : JSON.stringify(prompt)}`);
      const up = await far.answer(channelId, /^🤖 `shop-agent` is at work/);
      return /<#(\d+)>/.exec(up.content)?.[1] ?? '';
    },
  };
}

const permissionIn = (cwd: string) => ({
  hook_event_name: 'PermissionRequest',
  session_id: 's',
  transcript_path: '/x',
  cwd,
  tool_name: 'Bash',
  tool_input: { command: 'touch made-there' },
});

describe('!agent on another host', () => {
  it('runs there, streams what it says, continues the conversation, and shows the errors of a failed turn', async () => {
    const { far, channelId, agent, runs, shop, files, left } = await start();
    const thread = await agent([{ say: 'I look first.' }, { tool: 'Bash', input: { command: 'npm test' } }]);
    await far.answer(thread, /^I look first\.\n\n-# 🔧 Bash.*npm test$/);
    await far.answer(thread, /^✅ 2 turns/);
    await far.untilMarked(await far.say(thread, 'über\u2028 "all" \\n $HOME `id`'), '✅');
    await far.answer(thread, /^Echo: über\s+"all" \\n \$HOME `id`$/);
    await far.untilMarked(await far.say(thread, JSON.stringify([{ echo: true }, { say: 'and done' }])), '✅');
    await far.answer(thread, /I look first.*and done/s);
    await far.untilMarked(await far.say(thread, JSON.stringify([{ stderr: 'no key\n' }, { exit: 3 }])), '⚠️');
    await far.answer(thread, /^⚠️ Claude ended with exit code 3 before it was done\.\n```\nno key/);
    const [first] = runs();
    expect([first?.cwd, first?.env.THREADMUX_HOME, first?.env.THREADMUX_THREAD]).toEqual([shop, far.ours, thread]);
    expect(first?.argv.join(' ')).toContain(`--settings ${far.ours}/settings.json`);
    expect(JSON.stringify(first?.env)).not.toContain(far.workspace.token);
    await far.say(channelId, '!status');
    await far.answer(channelId, /🤖 agent `shop-agent` <#\d+> idle · .*`far:.*shop`/);
    await vi.waitFor(() => expect([files(), left()]).toEqual([[], []]), SLOW);
  });

  it('runs another agent, whose prompt is its whole input', async () => {
    const { far, channelId, shop } = await start();
    await far.say(channelId, '!agent far:shop --agent codex first line\n>second "line"\n.');
    const up = await far.answer(channelId, /^🤖 `shop-agent` is at work/);
    const thread = /<#(\d+)>/.exec(up.content)?.[1] ?? '';
    await far.answer(thread, /^Got: first line\|>second "line"\|\.\|\nThread: \nIn: /);
    await far.answer(thread, /^✅ \d+ s$/);
    expect(readFileSync(join(shop, 'argv'), 'utf8')).toBe('exec --json --skip-git-repo-check -\n');
    await far.untilMarked(await far.say(thread, 'again'), '✅');
    await vi.waitFor(
      () => expect(readFileSync(join(shop, 'argv'), 'utf8')).toContain('--skip-git-repo-check resume t-1 -\n'),
      SLOW,
    );
  });

  it('asks for a permission with the hook there, and gets the answer of a tap', async () => {
    const { far, agent, shop } = await start();
    const hook = `printf %s '${JSON.stringify(permissionIn(shop))}' | "$THREADMUX_HOME/bin/ask" > decided`;
    const thread = await agent([{ run: hook }, { say: 'It goes on.' }]);
    const prompt = await promptIn(far.workspace, thread);
    expect(prompt.content).toContain('touch made-there');
    await far.workspace.person.tap(thread, prompt.id, buttonOf(prompt, 'Allow'));
    await far.answer(thread, /^It goes on\.$/);
    expect(readFileSync(join(shop, 'decided'), 'utf8')).toContain('"behavior":"allow"');
    expect(await verdictOf(far.workspace, prompt)).toBe('✅ **Allowed** — you');
  });

  it('is stopped by !stop with everything that it started, and ends with the bridge, which says so', async () => {
    const { far, agent, left, files } = await start();
    const busy = [{ leave: 'sleep 600' }, { say: 'working' }, { waitMs: 60_000 }];
    const thread = await agent(busy);
    await far.answer(thread, /^working$/);
    expect(left().length).toBeGreaterThan(1);
    await far.say(thread, '!stop');
    await far.answer(thread, /^⏹️ Stopped after/);
    await vi.waitFor(() => expect([left(), files()]).toEqual([[], []]), SLOW);

    await far.say(thread, JSON.stringify([...busy.slice(0, 1), { say: 'again' }, { waitMs: 60_000 }]));
    await far.answer(thread, /^again$/);
    await far.restart();
    await far.answer(thread, /^⚠️ The bridge was restarted while this turn ran/);
    await vi.waitFor(() => expect([left(), files()]).toEqual([[], []]), SLOW);
  });

  it('ends with its connection, says so once, and continues the conversation when the host is back', async () => {
    const { far, agent, left, files } = await start();
    const thread = await agent([{ say: 'before' }, { waitMs: 60_000 }]);
    await far.answer(thread, /^before$/);
    await far.ssh.stop();
    await vi.waitFor(() => far.answer(thread, /^⚠️ The turn ended: .*far.*\n-# The conversation is kept/), SLOW);
    await vi.waitFor(() => expect([left(), files()]).toEqual([[], []]), SLOW);
    await far.untilMarked(await far.say(thread, 'while it is away'), '⚠️');
    await far.ssh.start();
    await vi.waitFor(() => expect(far.shared.remote.state('far').kind).toBe('reachable'), SLOW);
    await far.untilMarked(await far.say(thread, JSON.stringify([{ echo: true }])), '✅');
    await far.answer(thread, /before/);
    await aWhile();
    const ends = (await far.answers(thread)).filter(({ content }) => /^⚠️ The turn ended/.test(content));
    expect(ends).toHaveLength(1);
  });

  it('is asked for by its own host only', async () => {
    const mini = await startFarHost('mini');
    const { far, agent, shop } = await start({ others: [mini] });
    const thread = await agent('hello');
    await far.answer(thread, /^Echo: hello/);
    await vi.waitFor(() => expect(existsSync(join(mini.ours, 'bin/ask'))).toBe(true), SLOW);
    const ask = spawn(join(mini.ours, 'bin/ask'), {
      env: { ...mini.place.env, THREADMUX_HOME: mini.ours, THREADMUX_THREAD: thread },
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    onTestFinished(() => void ask.kill());
    ask.stdin.end(JSON.stringify(permissionIn(shop)));
    const box = join(mini.ours, 'outbox', `0.${thread}`);
    await vi.waitFor(() => expect(existsSync(box)).toBe(true), SLOW);
    await vi.waitFor(() => expect(readdirSync(box)).toEqual([]), SLOW);
    await aWhile(1_000);
    expect(loadPromptRecords(far.machine.home)).toEqual([]);
    expect((await far.answers(thread)).some(({ content }) => content.includes('made-there'))).toBe(false);
  });

  it('never skips permissions there, and only works in the roots of that host', async () => {
    const { far, channelId } = await start();
    await far.say(channelId, '!agent far:shop --skip-permissions hello');
    await far.answer(channelId, /^⚠️ An agent may not skip permissions on `far`/);
    await far.say(channelId, `!agent far:${far.ssh.home} hello`);
    await far.answer(channelId, /is not a directory to work in/);
  });
});

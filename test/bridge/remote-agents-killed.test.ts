// The program is killed with SIGKILL during a turn of a headless agent on a host, behind the real sshd: the thread says what happened,
// nothing runs twice, and no process stays on the host.

import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, vi } from 'vitest';
import { processesWith } from '../support/hook-process.ts';
import { promptIn, verdictOf } from '../support/prompt-pane.ts';
import { tempFolder } from '../support/temp-home.ts';
import { startRemoteProgram } from './remote-program.ts';

const FAKE = fileURLToPath(new URL('../support/headless-claude.mjs', import.meta.url));
const PATIENCE = { timeout: 60_000, interval: 100 } as const;

async function start() {
  const log = join(tempFolder(), 'log');
  const agent = { command: ['env', `CLAUDE_FAKE_LOG=${log}`, process.execPath, FAKE] };
  const program = await startRemoteProgram({}, { config: { agent }, sshd: true });
  const { workspace, far } = program;
  const { person, botId, channelId } = workspace;
  mkdirSync(join(far.ssh.home, 'code/shop'), { recursive: true });
  const answers = async (channel: string) =>
    (await person.messages(channel))
      .filter(({ author }) => author.id === botId)
      .toReversed()
      .map(({ content }) => content);
  const said = (channel: string, what: RegExp) =>
    vi.waitFor(async () => {
      const all = await answers(channel);
      return all.find((text) => what.test(text)) ?? expect.fail(`nothing fits ${what}: ${JSON.stringify(all)}`);
    }, PATIENCE);
  return {
    ...{ ...program, answers, said },
    async begin(steps: readonly object[]) {
      await person.say(channelId, `!agent far:shop ${JSON.stringify(steps)}`);
      const up = await said(channelId, /^🤖 `shop-agent` is at work/);
      return /<#(\d+)>/.exec(up)?.[1] ?? '';
    },
    say: (thread: string, text: string | readonly object[]) =>
      person.say(thread, typeof text === 'string' ? text : JSON.stringify(text)),
    marksOf: async (thread: string) =>
      (await person.messages(thread))
        .filter(({ author }) => author.id !== botId)
        .toReversed()
        .map(({ reactions }) => reactions?.map(({ emoji }) => emoji.name).join() ?? ''),
    /** How often the agent was started. */
    runs: () => readFileSync(log, 'utf8').trim().split('\n').length,
    /** Processes and files of turns on the host. */
    left: () => [
      ...processesWith(`CLAUDE_FAKE_LOG=${log}`),
      ...readdirSync(far.ours).filter((name) => name.startsWith('turn.')),
    ],
  };
}

const CUT = /^⚠️ The bridge was restarted while this turn ran/;
const BUSY = [{ leave: 'sleep 600' }, { say: 'working' }, { waitMs: 120_000 }];

describe('the program is killed while a headless agent works on a host', () => {
  it('the turn ends there with everything that it started, and the thread says so once', async () => {
    const all = await start();
    const thread = await all.begin(BUSY);
    await all.said(thread, /^working$/);
    expect(all.left().length).toBeGreaterThan(2);
    await all.killProgram();
    await vi.waitFor(() => expect(all.left()).toEqual([]), PATIENCE);
    await all.up();
    await all.said(thread, CUT);
    await all.say(thread, [{ echo: true }, { say: 'and on' }]);
    await all.said(thread, /working.*and on/s); // the same conversation
    expect(all.runs()).toBe(2);
    const texts = await all.answers(thread);
    expect(texts.filter((text) => CUT.test(text))).toHaveLength(1);
    expect(texts.filter((text) => text === 'working')).toHaveLength(1);
    await vi.waitFor(() => expect(all.left()).toEqual([]), PATIENCE);
  });

  it('prompts that wait run once, in order, after the restart', async () => {
    const all = await start();
    const thread = await all.begin(BUSY);
    await all.said(thread, /^working$/);
    await all.say(thread, 'second');
    await all.say(thread, 'third');
    await vi.waitFor(async () => expect((await all.marksOf(thread)).filter(Boolean)).toHaveLength(2), PATIENCE);
    await all.killProgram();
    await all.up();
    await all.said(thread, /^Echo: third/);
    await vi.waitFor(async () => expect(await all.marksOf(thread)).toEqual(['✅', '✅']), PATIENCE);
    const texts = await all.answers(thread);
    const told = texts.flatMap((text) => (CUT.test(text) ? 'cut' : (/^Echo: \w+/.exec(text)?.[0] ?? [])));
    expect(told).toEqual(['cut', 'Echo: second', 'Echo: third']);
    expect(all.runs()).toBe(3);
    await vi.waitFor(() => expect(all.left()).toEqual([]), PATIENCE);
  });

  it('a permission that it asked for is closed, and its hook does not stay on the host', async () => {
    const all = await start();
    const input = {
      ...{ hook_event_name: 'PermissionRequest', session_id: 's', transcript_path: '/x' },
      ...{ cwd: join(all.far.ssh.home, 'code/shop'), tool_name: 'Bash', tool_input: { command: 'touch made-there' } },
    };
    const hook = `printf %s '${JSON.stringify(input)}' | "$THREADMUX_HOME/bin/ask" > decided`;
    const thread = await all.begin([{ run: hook }, { say: 'It goes on.' }]);
    const prompt = await promptIn(all.workspace, thread);
    await all.killProgram();
    await vi.waitFor(() => expect(all.left()).toEqual([]), PATIENCE);
    await all.up();
    await all.said(thread, CUT);
    const verdict = await verdictOf(all.workspace, prompt, PATIENCE.timeout);
    expect(verdict).not.toContain('Allowed');
    expect(readdirSync(join(all.far.ours, 'answers'))).toEqual([]);
  });
});

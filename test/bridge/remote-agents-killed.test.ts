// The program is killed with SIGKILL during a turn of a headless agent on a host, behind the real sshd: the thread says what happened,
// nothing runs twice, and no process stays on the host.

import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, vi } from 'vitest';
import { processesWith } from '../support/hook-process.ts';
import { promptIn, verdictOf } from '../support/prompt-pane.ts';
import { tempFolder } from '../support/temp-home.ts';
import { startRemoteProgram } from './remote-program.ts';

const FAKE = fileURLToPath(new URL('../support/headless-claude.mjs', import.meta.url));
const PATIENCE = { timeout: 60_000, interval: 100 } as const;

async function start() {
  const log = join(tempFolder(), 'log');
  const agents = { claude: { command: ['env', `CLAUDE_FAKE_LOG=${log}`, process.execPath, FAKE] } };
  const program = await startRemoteProgram({}, { config: { agents }, sshd: true });
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
    ...program,
    answers,
    said,
    async begin(steps: readonly object[]) {
      const begun = async () => (await answers(channelId)).filter((text) => /^🤖 `shop-agent.*` is at work/.test(text));
      const before = (await begun()).length;
      await person.say(channelId, `!agent far:shop ${JSON.stringify(steps)}`);
      const up = await vi.waitFor(async () => (await begun())[before] ?? expect.fail('it is not at work'), PATIENCE);
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

it('the program is killed while headless agents work on a host: their turns end there, the threads say so once, and prompts that wait run once', async () => {
  const all = await start();
  const busy = await all.begin(BUSY);
  const waiting = await all.begin(BUSY);
  for (const thread of [busy, waiting]) await all.said(thread, /^working$/);
  await all.say(waiting, 'second');
  await all.say(waiting, 'third');
  await vi.waitFor(async () => expect((await all.marksOf(waiting)).filter(Boolean)).toHaveLength(2), PATIENCE);
  const input = {
    hook_event_name: 'PermissionRequest',
    session_id: 's',
    transcript_path: '/x',
    cwd: join(all.far.ssh.home, 'code/shop'),
    tool_name: 'Bash',
    tool_input: { command: 'touch made-there' },
  };
  const hook = `printf %s '${JSON.stringify(input)}' | "$THREADMUX_HOME/bin/ask" > decided`;
  const asking = await all.begin([{ run: hook }, { say: 'It goes on.' }]);
  const prompt = await promptIn(all.workspace, asking);
  expect(all.left().length).toBeGreaterThan(4);
  expect(all.runs()).toBe(3);
  await all.killProgram();
  await vi.waitFor(() => expect(all.left()).toEqual([]), PATIENCE);
  await all.up();

  for (const thread of [busy, waiting, asking]) await all.said(thread, CUT);
  await all.say(busy, [{ echo: true }, { say: 'and on' }]);
  await all.said(busy, /working.*and on/s); // the same conversation
  const texts = await all.answers(busy);
  expect(texts.filter((text) => CUT.test(text))).toHaveLength(1);
  expect(texts.filter((text) => text === 'working')).toHaveLength(1);

  await all.said(waiting, /^Echo: third/);
  await vi.waitFor(async () => expect(await all.marksOf(waiting)).toEqual(['✅', '✅']), PATIENCE);
  const told = (await all.answers(waiting)).flatMap((text) =>
    CUT.test(text) ? 'cut' : (/^Echo: \w+/.exec(text)?.[0] ?? []),
  );
  expect(told).toEqual(['cut', 'Echo: second', 'Echo: third']);

  // The permission is closed, and its hook does not stay on the host.
  const verdict = await verdictOf(all.workspace, prompt, PATIENCE.timeout);
  expect(verdict).not.toContain('Allowed');
  expect(readdirSync(join(all.far.ours, 'answers'))).toEqual([]);
  expect(all.runs()).toBe(6);
  await vi.waitFor(() => expect(all.left()).toEqual([]), PATIENCE);
});

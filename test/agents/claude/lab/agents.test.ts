// Headless agents with the real Claude Code, as a user sees them: started with `!agent`, prompted, answered, stopped.

import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type ClaudeLab, startClaudeLab } from '../../../support/claude-lab.ts';
import { PATIENCE, untilPosted } from '../../../support/lab-session.ts';
import { buttonOf, promptIn, verdictOf } from '../../../support/prompt-pane.ts';
import type { WireMessage } from '../../../support/workspace.ts';

const COST = /^✅ \d+ turns? · \d+ s · \$\d+\.\d{4}$/;

let lab: ClaudeLab;

beforeAll(async () => {
  lab = await startClaudeLab();
  await lab.start('demo'); // starts the model, and a Claude in a pane that must not be affected
});
afterAll(() => lab?.stop());

async function fromBot(channel: string): Promise<readonly WireMessage[]> {
  const you = (await lab.person.call('GET', '/users/@me')).body.id;
  const messages = await lab.person.messages(channel);
  return messages.filter(({ type, author }) => (type === 0 || type === 19) && author.id !== you).toReversed();
}

/** Writes `!agent` in the channel and waits for its thread. */
async function begin(asked: string): Promise<Thread> {
  const before = (await fromBot(lab.channelId)).length;
  await lab.person.say(lab.channelId, `!agent project ${asked}`);
  const thread = await vi.waitFor(async () => {
    const said = (await fromBot(lab.channelId)).slice(before).map(({ content }) => content);
    const found = /is at work: <#(\d+)>/.exec(said.join('\n'))?.[1];
    if (found === undefined) throw new Error(`no thread: ${said.join('\n')}`);
    return found;
  }, PATIENCE);
  return openThread(thread);
}

type Thread = ReturnType<typeof openThread>;

function openThread(id: string) {
  let seen = id;
  const news = async () => (await fromBot(id)).filter((one) => BigInt(one.id) > BigInt(seen));
  return {
    id,
    news,
    say: (text: string) => lab.person.say(id, text),
    /** Waits until the bot has posted exactly these since the last call; each is the whole content or a part of it. */
    async next(...contents: (string | RegExp)[]): Promise<readonly WireMessage[]> {
      const found = await untilPosted(news, contents);
      seen = found.at(-1)?.id ?? seen;
      return found;
    },
    /** The same for a prompt and the text before it, in any order: two processes post them independently. */
    async nextTwo(before: RegExp, prompt: RegExp, ...after: (string | RegExp)[]): Promise<void> {
      await vi.waitFor(async () => {
        const [one = '', two = '', ...others] = (await news()).map(({ content }) => content);
        expect([one, two].sort((a) => (prompt.test(a) ? 1 : -1))).toEqual([
          expect.stringMatching(before),
          expect.stringMatching(prompt),
        ]);
        expect(others).toEqual(after.map((said) => (typeof said === 'string' ? said : expect.stringMatching(said))));
      }, PATIENCE);
      seen = (await news()).at(-1)?.id ?? seen;
    },
    /** Waits until the last message is this one. */
    async last(content: string | RegExp): Promise<WireMessage> {
      return vi.waitFor(async () => {
        const message = (await news()).at(-1);
        expect(message?.content).toEqual(typeof content === 'string' ? content : expect.stringMatching(content));
        return message as WireMessage;
      }, PATIENCE);
    },
    /** Waits for the last line of the turn. */
    async stopped(): Promise<void> {
      await vi.waitFor(async () => {
        const messages = await news();
        const texts = messages.map(({ content }) => content);
        expect(texts).toContainEqual(expect.stringMatching(/^⏹️ Stopped after \d+ s\.$/));
        seen = messages.at(-1)?.id ?? seen;
      }, PATIENCE);
    },
    async marked(message: WireMessage, mark: string): Promise<void> {
      await vi.waitFor(async () => {
        const now = (await lab.person.messages(id)).find((one) => one.id === message.id);
        const marks = now?.reactions?.filter(({ count }) => count > 0);
        expect(marks?.map(({ emoji }) => emoji.name)).toEqual([mark]);
      }, PATIENCE);
    },
    tap: async (prompt: WireMessage, label: string) => lab.person.tap(id, prompt.id, buttonOf(prompt, label)),
  };
}

/** The last request to the model: the whole conversation as Claude Code remembers it. */
function lastRequest(): string {
  const requests = readFileSync(join(lab.dir, 'model.log'), 'utf8').trim().split('\n');
  return requests.findLast((line) => line.includes('"tools":[{')) ?? '';
}

function left(word: string): readonly string[] {
  return execFileSync('ps', ['-A', '-o', 'stat=,args='], { encoding: 'utf8' })
    .split('\n')
    .filter((line) => line.includes(word) && !line.startsWith('Z'));
}

const sleepName = () => `sleep ${30_000 + Math.floor(Math.random() * 1e6)}`;

/** Newer versions refuse a command that only sleeps. */
const slow = (name: string) => `echo begun; ${name}`;

describe('a headless agent', () => {
  let agent: Thread;

  it('streams what Claude says into one message that it edits', async () => {
    agent = await begin('bash sleep 4');
    const begun = 'Running it.\n\n-# 🔧 Bash · sleep 4';
    const early = await agent.last(begun);
    const [said] = await agent.next(new RegExp(`^${begun}\n\nDone\\. The tool said`), COST);
    expect(said?.id).toBe(early.id);
  });

  it('shows one line per tool, in order', async () => {
    await agent.say('steps 2');
    const step = (at: number) => `Step ${at} of 2: looking around.\n\n-# 🔧 Bash · echo step ${at}\n\n`;
    await agent.next(`${step(1)}${step(2)}Done. The tool said: step 1\nstep 2`, COST);
  });

  it('ends a turn with turns, duration and cost, and only that line notifies', async () => {
    const message = await agent.say('hello');
    const [said, result] = await agent.next('Echo: hello', /^✅ 1 turn · \d+ s · \$0\.0\d{3}$/);
    const isSilent = (one: WireMessage | undefined) => ((one?.flags ?? 0) & (1 << 12)) !== 0;
    expect([isSilent(said), isSilent(result)]).toEqual([true, false]);
    await agent.marked(message, '✅');
  });

  it('remembers the conversation in a follow-up', async () => {
    await agent.say('and this');
    await agent.next('Echo: and this', COST);
    for (const text of ['bash sleep 4', 'steps 2', 'hello', 'and this']) expect(lastRequest()).toContain(`:"${text}"`);
  });

  it('runs a tool that is allowed with a button', async () => {
    const file = join(lab.project, 'allowed');
    await agent.say(`bash touch ${file}`);
    const prompt = await promptIn(lab, agent.id, /touch .*allowed/);
    expect(existsSync(file)).toBe(false);
    await agent.tap(prompt, 'Allow');
    await agent.nextTwo(/^Running it\.\n\n-# 🔧 Bash · touch /, /Allowed/, /^Done\. The tool said/, COST);
    expect(existsSync(file)).toBe(true);
  });

  it('gives Claude the reason of a denial that was written as text', async () => {
    const file = join(lab.project, 'denied');
    await agent.say(`bash touch ${file}`);
    const prompt = await promptIn(lab, agent.id, /touch .*denied/);
    await agent.marked(await agent.say('use a temp dir instead'), '✅');
    expect(await verdictOf(lab, prompt)).toMatch(/^⛔ \*\*Denied\*\*: use a temp dir instead/);
    const reason = 'use a temp dir instead';
    await agent.nextTwo(/^Running it\./, /Denied/, `-# ✘ ${reason}\n\nDone. The tool said: ${reason}`, COST);
    expect(existsSync(file)).toBe(false);
  });

  it('answers a question with the option that was tapped', async () => {
    await agent.say('ask');
    const prompt = await promptIn(lab, agent.id, /Which database/);
    await agent.tap(prompt, 'Postgres');
    await agent.nextTwo(/^I need one decision/, /Postgres/, /^Done\. .*="Postgres"/, COST);
  });

  it('queues later prompts in order, and says so', async () => {
    const first = await agent.say('slow 4');
    const second = await agent.say('second');
    const third = await agent.say('third');
    await agent.marked(third, '📨');
    await agent.last(/two|2/);
    await vi.waitFor(async () => {
      const texts = (await agent.news()).map(({ content }) => content);
      const said = texts.filter((text) => /^(Slept|Echo)/.test(text));
      expect(said).toEqual(['Slept 4 s.', 'Echo: second', 'Echo: third']);
      expect(texts.at(-1)).toMatch(COST);
    }, PATIENCE);
    for (const message of [first, second, third]) await agent.marked(message, '✅');
    await agent.next(...(await agent.news()).map(({ content }) => content));
  });

  it('leaves no process after /stop, not even a tool in its own session', async () => {
    const name = sleepName();
    await agent.say(`bash ${slow(name)}`);
    await agent.last(`Running it.\n\n-# 🔧 Bash · ${slow(name)}`);
    await vi.waitFor(() => expect(left(name)).not.toEqual([]), PATIENCE);
    await agent.say('!stop');
    await vi.waitFor(async () => {
      expect((await agent.news()).some(({ content }) => content.startsWith('⏹️'))).toBe(true);
    }, PATIENCE);
    expect(left(name)).toEqual([]);
    expect(left(`${lab.dir}/claude`)).toEqual([]);
    await agent.stopped();
  });

  it('continues the conversation after /stop', async () => {
    await agent.say('still there');
    await agent.next('Echo: still there', COST);
    expect(lastRequest()).toContain(':"hello"');
  });

  it('removes the buttons of an open permission on /stop', async () => {
    await agent.say(`bash touch ${join(lab.project, 'never')}`);
    const prompt = await promptIn(lab, agent.id, /touch .*never/);
    await agent.say('!stop');
    expect(await verdictOf(lab, prompt)).toBe('⏹️ The agent was stopped.');
    await agent.stopped();
  });

  // Last in this conversation, because the scripted model keeps failing in it.
  it('reports an API error once', async () => {
    const message = await agent.say('fail 400');
    await agent.next(/^⚠️ API Error: 400 scripted failure\n-# 1 turn · /);
    await agent.marked(message, '⚠️');
  });

  it('remembers nothing after /new', async () => {
    await agent.say('!new');
    await agent.last(/./);
    await agent.say('who are you');
    await agent.last(COST);
    expect(lastRequest()).toContain(':"who are you"');
    expect(lastRequest()).not.toContain(':"hello"');
  });

  it('posts in no other thread, and is not listed as a pane', async () => {
    const { body } = await lab.person.call('GET', `/channels/${agent.id}`);
    expect(body.name).toMatch(/project/);
    expect((await lab.find('demo')).prompts()).toEqual([]);
  });

  it('ends with the bridge, even a killed one; the next bridge says so and continues', async () => {
    const name = sleepName();
    const cut = await agent.say(`bash ${slow(name)}`);
    await agent.last(`Running it.\n\n-# 🔧 Bash · ${slow(name)}`);
    await vi.waitFor(() => expect(left(name)).not.toEqual([]), PATIENCE);
    await lab.restart(async () => {
      await vi.waitFor(() => expect(left(name)).toEqual([]), PATIENCE);
      await vi.waitFor(() => expect(left(`${lab.dir}/claude`)).toEqual([]), PATIENCE);
    });
    await agent.last(/^⚠️ The bridge was restarted while this turn ran/);
    await agent.marked(cut, '⚠️');
    await agent.say('and after it');
    await agent.last(COST);
    expect(lastRequest()).toContain(':"and after it"');
    expect(lastRequest()).toContain(':"who are you"');
    const told = (await agent.news()).filter(({ content }) => /restarted/.test(content));
    expect(told).toHaveLength(1);
  });
});

describe('a session with a worktree', () => {
  it('works there, is continued there, and its work is kept when it ends', async () => {
    const shop = join(lab.dir, 'shop');
    const git = (...args: string[]) =>
      execFileSync('git', ['-C', shop, '-c', 'user.name=a', '-c', 'user.email=a@a', ...args]);
    execFileSync('git', ['init', '-q', shop]);
    git('commit', '-q', '--allow-empty', '-m', 'first');
    const { channelId, person } = lab;
    const says = (channel: string, what: RegExp) =>
      vi.waitFor(async () => {
        const found = (await fromBot(channel)).findLast(({ content }) => what.test(content));
        expect(found, String(what)).toBeDefined();
        return found as WireMessage;
      }, PATIENCE);
    await person.say(channelId, `!new web ${shop}`);
    const web = await lab.find('web');
    await says(web.thread, /prepared/);
    // Claude Code does not know the folder yet.
    const trust = await says(web.thread, /Accessing workspace/);
    await person.tap(web.thread, trust.id, buttonOf(trust, 'Yes, I trust this folder'));
    await web.idle();
    await web.submit('hello');
    await says(web.thread, /Echo: hello/);
    const at = web.record().cwd;
    expect(at).toMatch(/\/\.threadmux\/worktrees\/shop\/web$/);
    await person.say(channelId, '!kill web');
    await vi.waitFor(() => expect(existsSync(at)).toBe(false), PATIENCE);

    const ended = await says(web.thread, /^⏹️/);
    await person.tap(web.thread, ended.id, buttonOf(ended, 'Continue the conversation'));
    await says(web.thread, /▶️ Continued by/);
    const again = await lab.find('web');
    await again.idle();
    expect(again.screen()).toContain('Echo: hello');
    expect(again.record().cwd).toBe(at);
    writeFileSync(join(at, 'new.txt'), 'work');
    await person.say(channelId, '!kill web');
    await says(web.thread, /The worktree is kept: it has 1 changed file/);
    expect(git('branch', '--list', 'threadmux/web').toString()).toContain('threadmux/web');
  });
});

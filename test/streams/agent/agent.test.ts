// A headless agent in a real thread of a real workspace; Claude is a script that prints what the real one prints.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { configuredAgent } from '../../../agents/configured-agent.ts';
import { ThreadmuxError } from '../../../core/errors.ts';
import { silentLog } from '../../../core/log.ts';
import { connectRest, type Rest } from '../../../discord/rest.ts';
import { writeJson } from '../../../home/atomic-write.ts';
import { saveStreamRecord, streamRecordSchema } from '../../../home/stream-record.ts';
import { type AgentParts, openAgent } from '../../../streams/agent/agent.ts';
import type { FinishedTurn } from '../../../streams/agent/state.ts';
import { processesWith } from '../../support/processes.ts';
import { tempFolder, tempHome } from '../../support/temp-home.ts';
import { startTestWorkspace, type WireMessage } from '../../support/workspace.ts';

const FAKE = fileURLToPath(new URL('../../support/headless-claude.mjs', import.meta.url));
const PATIENCE = { timeout: 20_000, interval: 50 };
const RESULT = '✅ 2 turns · 12 s · $0.0421';

type Step = Readonly<Record<string, unknown>>;
const steps = (...all: Step[]) => JSON.stringify(all);
let asked = 0;
const prompt = (text: string) => ({ id: String(++asked), text });
const isSilent = ({ flags }: WireMessage) => (flags & (1 << 12)) !== 0;

interface Options extends Partial<AgentParts> {
  readonly command?: readonly string[];
  readonly skipPermissions?: boolean;
  /** While it is true, the server is unreachable. */
  readonly away?: () => boolean;
  /** A message with this text is refused. */
  readonly refused?: RegExp;
}

async function startSetting({ away = () => false, refused, ...more }: Options = {}) {
  const onRequest = ({ body }: { readonly body: unknown }) => {
    if (away()) return { kind: 'answer', status: 503 } as const;
    return refused?.test(JSON.stringify(body) ?? '')
      ? ({ kind: 'answer', status: 400, body: { code: 50035, message: 'no' } } as const)
      : undefined;
  };
  const workspace = await startTestWorkspace({ faults: { onRequest } });
  const home = tempHome();
  const dir = tempFolder();
  const log = join(tempFolder(), 'claude.log');
  const opened = await workspace.bot('POST', `/channels/${workspace.channelId}/messages`, { content: 'welcome' });
  const thread = opened.body.id;
  await workspace.bot('POST', `/channels/${workspace.channelId}/messages/${thread}/threads`, { name: '[agent] demo' });
  const record = streamRecordSchema.parse({
    thread,
    server: 'local',
    kind: 'agent',
    name: 'demo',
    dir,
    asked: 'x',
    order: '1',
    startedAt: 1,
    skipPermissions: more.skipPermissions ?? false,
  });
  saveStreamRecord(home, record);
  const calls: { method: string; path: string; at: number }[] = [];
  const real = connectRest({ token: workspace.token, api: workspace.api, patienceMs: 100 });
  onTestFinished(() => real.close());
  const rest: Rest = {
    ...real,
    call(method, path, options) {
      calls.push({ method, path, at: Date.now() });
      return real.call(method, path, options);
    },
  };
  const env = { PATH: process.env.PATH, HOME: dir, CLAUDE_FAKE_LOG: log, DISCORD_BOT_TOKEN: 'no' };
  const parts: AgentParts = {
    home,
    rest,
    botId: workspace.botId,
    log: silentLog,
    env,
    shell: '/bin/sh',
    agentOf: () => ({ ...configuredAgent({ agents: {} }, 'claude'), command: more.command ?? [FAKE] }),
    agentSettings: '/settings.json',
    ...more,
  };
  const open = () => {
    const agent = openAgent(parts, record);
    onTestFinished(() => agent.close());
    return agent;
  };
  return {
    workspace,
    home,
    thread,
    dir,
    calls,
    open,
    agent: open(),
    messages: async () => (await workspace.person.messages(thread)).filter(({ type }) => type === 0).toReversed(),
    contents: async () =>
      (await workspace.person.messages(thread))
        .filter(({ type }) => type === 0)
        .map(({ content }) => content)
        .toReversed(),
    /** The arguments, directory, environment and pid of each start. */
    starts: (): { argv: string[]; cwd: string; env: Record<string, string>; pid: number }[] =>
      existsSync(log)
        ? readFileSync(log, 'utf8')
            .trim()
            .split('\n')
            .map((line) => JSON.parse(line))
        : [],
  };
}

const done = { kind: 'done' } satisfies FinishedTurn;

describe('the environment of an agent', () => {
  const env = { PATH: process.env.PATH, AWS_SECRET_ACCESS_KEY: 'k', ANTHROPIC_API_KEY: 'a', CLAUDE_FAKE_LOG: '' };

  it.each([
    ['has what its provider needs', undefined, ['ANTHROPIC_API_KEY', 'AWS_SECRET_ACCESS_KEY']],
    ['has only what the configuration lists', ['PATH', 'CLAUDE_*', 'ANTHROPIC_*'], ['ANTHROPIC_API_KEY']],
  ])('%s', async (_, environment, passed) => {
    const log = join(tempFolder(), 'log');
    const agents = environment === undefined ? {} : { claude: { environment } };
    const { agent } = await startSetting({
      env: { ...env, CLAUDE_FAKE_LOG: log },
      agentOf: () => ({ ...configuredAgent({ agents }, 'claude'), command: [FAKE] }),
    });
    expect(await agent.ask({ id: '1', text: 'hello' }).done).toEqual(done);
    const [start] = readFileSync(log, 'utf8').trim().split('\n');
    expect(
      Object.keys(JSON.parse(start ?? '').env)
        .filter((name) => /^A/.test(name))
        .sort(),
    ).toEqual(passed);
  });
});

describe('a turn', () => {
  it('posts what Claude said and did, in order, silently, and then a line that notifies', async () => {
    const { agent, messages } = await startSetting();
    const text = steps(
      { say: 'I look around.' },
      { tool: 'Bash', input: { command: 'npm test', description: 'Run the tests' } },
      { tool: 'Read', input: { file_path: '/a/*b*.ts' } },
      { print: toolResult('exit code 1\nand more') },
      { say: 'All *done*, @everyone.' },
    );
    expect(await agent.ask(prompt(text)).done).toEqual(done);
    const [said, result, ...more] = await messages();
    expect(more).toEqual([]);
    expect(said?.content).toBe(
      'I look around.\n\n-# 🔧 Bash · npm test\n-# 🔧 Read · /a/\\*b\\*.ts\n-# ✘ exit code 1 and more\n\nAll *done*, @everyone.',
    );
    expect(said?.mention_everyone).toBe(false);
    expect(result?.content).toBe(RESULT);
    expect([said, result].map((one) => one && isSilent(one))).toEqual([true, false]);
  });

  it('is edited in place, at most once per second', async () => {
    const { agent, calls, contents, thread } = await startSetting();
    const words = Array.from({ length: 60 }, (_, at) => `word${at}`).join(' ');
    const { done: turn } = agent.ask(prompt(steps({ say: words, everyMs: 50 })));
    await vi.waitFor(async () => expect((await contents())[0]).toMatch(/^word0 .*word\d+$/), PATIENCE);
    expect((await contents())[0]).not.toContain('word59');
    await turn;
    expect(await contents()).toEqual([words, RESULT]);
    const shown = calls.filter(
      ({ method, path }) => method !== 'GET' && path.startsWith(`/channels/${thread}/messages`),
    );
    const edits = shown.filter(({ method }) => method === 'PATCH');
    expect(edits.length).toBeGreaterThanOrEqual(2);
    for (const [at, { at: time }] of shown.slice(1, -1).entries())
      expect(time - (shown[at]?.at ?? 0)).toBeGreaterThanOrEqual(990);
  });

  it('shows that it is working', async () => {
    const { agent, calls } = await startSetting();
    await agent.ask(prompt('hello')).done;
    expect(calls.some(({ path }) => path.endsWith('/typing'))).toBe(true);
  });

  it('gets the prompt on stdin and in no command line, and none of our variables', async () => {
    const { agent, starts, dir, thread, home } = await startSetting();
    const secret = 'the $(prompt) `itself` "and" \'more\'\nof it';
    await agent.ask(prompt(secret)).done;
    const [start] = starts();
    expect(start?.cwd).toBe(dir);
    expect(JSON.stringify(start?.argv)).not.toContain('itself');
    expect(start?.argv).toEqual([
      ...['-p', '--output-format', 'stream-json', '--verbose', '--include-partial-messages'],
      ...['--input-format', 'stream-json', '--permission-prompt-tool', 'stdio'],
      ...['--settings', '/settings.json'],
    ]);
    expect(start?.env).toMatchObject({ THREADMUX_HOME: home.root, THREADMUX_THREAD: thread });
    expect(start?.env).not.toHaveProperty('DISCORD_BOT_TOKEN');
  });

  it('runs a Claude Code command only if that is allowed', async () => {
    const { agent, contents } = await startSetting({ isCommand: async (text: string) => text.startsWith('/compact ') });
    for (const text of ['/etc/hosts is wrong', '/clear', '/compact now']) await agent.ask(prompt(text)).done;
    expect((await contents()).filter((text) => text !== RESULT)).toEqual([
      'Echo:  /etc/hosts is wrong',
      'Echo:  /clear',
      'Echo: /compact now',
    ]);
  });

  it('skips permissions only if its record says so', async () => {
    const flag = '--dangerously-skip-permissions';
    const { agent, starts } = await startSetting({ skipPermissions: true });
    await agent.ask(prompt('hello')).done;
    expect(starts()[0]?.argv).toContain(flag);
  });

  it('skips permissions only as long as that is allowed', async () => {
    const allowed = { skipPermissions: true };
    const check = async () => ({ ...allowed });
    const { agent, starts } = await startSetting({ skipPermissions: true, check });
    await agent.ask(prompt('one')).done;
    allowed.skipPermissions = false;
    await agent.ask(prompt('two')).done;
    const flag = '--dangerously-skip-permissions';
    expect(starts().map(({ argv }) => argv.includes(flag))).toEqual([true, false]);
  });

  it('skips no permissions that nobody asked to skip', async () => {
    const { agent, starts } = await startSetting({ check: async () => ({ skipPermissions: true }) });
    await agent.ask(prompt('one')).done;
    expect(starts()[0]?.argv).not.toContain('--dangerously-skip-permissions');
  });

  it('does not start in a directory that is no longer allowed, and says why', async () => {
    const refusal = new ThreadmuxError('bad_usage', 'it is outside of all roots', { hint: 'Go in.' });
    const check = () => Promise.reject(refusal);
    const { agent, starts, contents } = await startSetting({ check });
    expect(await agent.ask(prompt('one')).done).toEqual({ kind: 'failed', because: 'it is outside of all roots' });
    expect(starts()).toEqual([]);
    expect(await contents()).toEqual(['⚠️ The agent could not be started: it is outside of all roots\nGo in.']);
  });

  it('does not start if it is stopped before', async () => {
    let allow = (_: { skipPermissions: boolean }) => {};
    const checked = new Promise<{ skipPermissions: boolean }>((resolve) => {
      allow = resolve;
    });
    const { agent, starts } = await startSetting({ check: () => checked });
    const { begun, done: turn } = agent.ask(prompt('one'));
    await begun;
    expect(await agent.stop()).toBe(true);
    allow({ skipPermissions: false });
    expect(await turn).toEqual({ kind: 'stopped' });
    expect(starts()).toEqual([]);
  });

  it('skips garbage, half lines and the output of a shell', async () => {
    const { agent, contents } = await startSetting();
    const text = steps(
      { raw: 'Welcome to this machine\n{"type":"assis\n\n\u0000\u0001\n' },
      { raw: '{"type":"assistant","parent_tool_use_id":null,"mess' },
      { waitMs: 100 },
      { raw: 'age":{"content":[{"type":"text","text":"half and half"}]}}\n' },
      { print: { type: 'something_new', message: 7 } },
      { say: 'still here' },
    );
    expect(await agent.ask(prompt(text)).done).toEqual(done);
    expect(await contents()).toEqual(['half and half\n\nstill here', RESULT]);
  });

  it('that is far too long is posted with an attachment, and loses nothing', async () => {
    const { agent, messages } = await startSetting();
    const long = Array.from({ length: 3_000 }, (_, at) => `Paragraph ${at}: lorem ipsum.`).join('\n\n');
    await agent.ask(prompt(steps({ say: long }))).done;
    const all = await messages();
    const shown = all.slice(0, -2).map(({ content }) => content);
    expect(shown).toHaveLength(19);
    expect(long.startsWith(shown.join('\n\n'))).toBe(true);
    const [file] = all.at(-2)?.attachments ?? [];
    expect(all.at(-2)?.content).toMatch(/^\*… [\d,]+ more characters\. All of it is attached\.\*$/);
    expect(await (await fetch(file?.url ?? '')).text()).toBe(long);
    expect(all.at(-1)?.content).toBe(RESULT);
  });

  it('accepts a line of 10 MB', async () => {
    const { agent, messages } = await startSetting();
    await agent.ask(prompt(steps({ big: 10_000_000 }, { say: 'after it' }))).done;
    expect((await messages()).map(({ content }) => content)).toEqual(['after it', RESULT]);
  });

  it('that crashes is reported, with its last output', async () => {
    const { agent, contents } = await startSetting();
    const text = steps({ say: 'So far so good.' }, { stderr: 'out of memory\nsk-ant-abcdefghijkl\n' }, { exit: 3 });
    expect(await agent.ask(prompt(text)).done).toMatchObject({ kind: 'failed' });
    expect(await contents()).toEqual([
      'So far so good.',
      '⚠️ Claude ended with exit code 3 before it was done.\n```\nout of memory\n[secret]\n```',
    ]);
  });

  it('that ends in an error reports the error', async () => {
    const { agent, contents } = await startSetting();
    const error = {
      type: 'result',
      is_error: true,
      num_turns: 1,
      duration_ms: 61_000,
      result: 'API Error: 400',
    };
    const text = steps({ print: error }, { exit: 1 });
    expect(await agent.ask(prompt(text)).done).toEqual({ kind: 'failed', because: 'API Error: 400' });
    expect(await contents()).toEqual(['⚠️ API Error: 400\n-# 1 turn · 1 min 1 s · $0.0000']);
  });

  it('of a program that does not exist says so', async () => {
    const { agent, contents } = await startSetting({ command: ['no-such-agent'] });
    expect(await agent.ask(prompt('hello')).done).toMatchObject({ kind: 'failed' });
    expect(await contents()).toEqual([expect.stringMatching(/exit code 127.*no-such-agent/s)]);
  });

  it('removes what Claude withdrew', async () => {
    const { agent, contents } = await startSetting();
    const delta = { type: 'content_block_delta', delta: { type: 'text_delta', text: 'half a sen' } };
    const text = steps({ print: { type: 'stream_event', event: delta } }, { waitMs: 1_200 }, { say: 'A whole one.' });
    await agent.ask(prompt(text)).done;
    expect(await contents()).toEqual(['A whole one.', RESULT]);
  });

  it('is whole even if the server was unreachable when it ended', async () => {
    let isAway = false;
    const { agent, contents } = await startSetting({ away: () => isAway });
    const { done: turn } = agent.ask(prompt(steps({ say: 'one' }, { waitMs: 1_500 }, { say: 'two' })));
    await vi.waitFor(async () => expect(await contents()).toEqual(['one']), PATIENCE);
    isAway = true;
    setTimeout(() => {
      isAway = false;
    }, 4_000);
    expect(await turn).toEqual(done);
    expect(await contents()).toEqual(['one\n\ntwo', RESULT]);
  });

  it('is whole except for a part that Discord refuses, and says where it is missing', async () => {
    const { agent, contents } = await startSetting({ refused: /terrible/ });
    const [one, two, three] = ['fine', 'terrible', 'good'].map((word) => `${word} `.repeat(220).trim());
    const text = steps({ say: [one, two, three].join('\n\n') });
    expect(await agent.ask(prompt(text)).done).toEqual(done);
    const missing = '-# ⚠️ Discord refused the part of the answer that belongs here.';
    expect(await contents()).toEqual([one, missing, three, RESULT]);
  });

  it('continues below the message of another user after a permission', async () => {
    const { agent, workspace, thread, contents } = await startSetting();
    const cancel = { type: 'control_cancel_request', request_id: 'r' };
    const text = steps({ say: 'May I?' }, { waitMs: 1_500 }, { print: cancel }, { say: 'Thanks.' });
    const { done: turn } = agent.ask(prompt(text));
    await vi.waitFor(async () => expect(await contents()).toEqual(['May I?']), PATIENCE);
    await workspace.bot('POST', `/channels/${thread}/messages`, { content: 'the prompt' });
    await turn;
    expect(await contents()).toEqual(['May I?', 'the prompt', 'Thanks.', RESULT]);
  });
});

describe('a permission', () => {
  it('is denied when nobody could be asked, so that Claude does not wait forever', async () => {
    const { agent, contents } = await startSetting({ unaskedMs: 1_000 });
    await agent.ask(prompt(steps({ ask: 'Bash' }))).done;
    expect((await contents())[0]).toMatch(/✘ Nobody could be asked.*"behavior":"deny"/s);
  });

  it('is left to the user as long as a hook waits', async () => {
    const { agent, home, thread, contents } = await startSetting({ unaskedMs: 500 });
    const path = join(home.folder('prompts'), `${'p'.repeat(32)}.json`);
    const record = { id: 'p'.repeat(32), thread, host: '', headless: true, input: {}, at: 1 };
    writeJson(path, record);
    const { done: turn } = agent.ask(prompt(steps({ say: 'May I?' }, { ask: 'Bash' })));
    await vi.waitFor(async () => expect(await contents()).toEqual(['May I?']), PATIENCE);
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    expect(await contents()).toEqual(['May I?']);
    writeJson(path, { ...record, ended: { kind: 'called off' }, shown: true });
    await turn;
    expect((await contents())[0]).toContain('"behavior":"deny"');
  });
});

describe('a hostile agent', () => {
  const raw = (...lines: object[]) => ({ raw: lines.map((line) => `${JSON.stringify(line)}\n`).join('') });

  it('has at most 100 requests that wait at the same time', async () => {
    const { agent, contents } = await startSetting({ unaskedMs: 500 });
    const request = { subtype: 'can_use_tool', tool_name: 'Bash', input: {} };
    const asks = Array.from({ length: 130 }, (_, at) => ({ type: 'control_request', request_id: `r${at}`, request }));
    await agent.ask(prompt(steps(raw(...asks), { waitMs: 3_000 }))).done;
    expect((await contents()).join('\n').match(/Nobody could be asked/g)).toHaveLength(100);
  });

  it.each(['--dangerously-skip-permissions', 'a b', 'x\0y', 'x'.repeat(200), ''])(
    'cannot make %j the conversation that the next turn continues',
    async (session_id) => {
      const { agent, starts } = await startSetting();
      const text = steps(raw({ type: 'system', subtype: 'init', session_id }));
      await agent.ask(prompt(text)).done;
      expect(await agent.ask(prompt('and on')).done).toEqual(done);
      const [first, second] = starts();
      // Its own id came before.
      expect(second?.argv).toEqual([...(first?.argv ?? []), '--resume', expect.stringMatching(/^[0-9a-f-]{36}$/)]);
    },
  );
});

describe('prompts', () => {
  it('run one at a time, in order, in one conversation', async () => {
    const { agent, contents, starts } = await startSetting();
    const first = agent.ask(prompt(steps({ waitMs: 300 }, { say: 'one' })));
    const second = agent.ask(prompt('two'));
    const third = agent.ask(prompt(steps({ echo: true })));
    expect([first.before, second.before, third.before]).toEqual([0, 1, 2]);
    expect(agent.state()).toBe('working');
    await first.done;
    await second.begun;
    await third.done;
    expect(agent.state()).toBe('idle');
    const [one, , two, , three] = await contents();
    expect([one, two]).toEqual(['one', 'Echo: two']);
    expect(three).toMatch(/"say":"one".*two/s);
    const [begin, ...others] = starts().map(({ argv }) => argv.at(argv.indexOf('--resume') + 1));
    expect(begin).toBe('-p');
    expect(new Set(others).size).toBe(1);
  });

  it('are the same when they have the same id, even after a restart', async () => {
    const { agent, contents, starts, open } = await startSetting();
    const once = prompt('once');
    await Promise.all([agent.ask(once).done, agent.ask(once).done]);
    expect(await agent.ask(once).done).toEqual(done);
    await agent.close();
    expect(await open().ask(once).done).toEqual(done);
    expect(starts()).toHaveLength(1);
    expect(await contents()).toEqual(['Echo: once', RESULT]);
  });

  it('run once, even if later ones ran before they are delivered again', async () => {
    const { agent, starts, open } = await startSetting();
    const [failed, well, last] = [prompt(steps({ exit: 3 })), prompt('two'), prompt('three')];
    for (const one of [failed, well, last]) await agent.ask(one).done;
    await agent.close();
    const again = open();
    expect(await again.ask(failed).done).toEqual({ kind: 'failed' });
    expect(await again.ask(well).done).toEqual(done);
    expect(starts()).toHaveLength(3);
  });

  it('still run if a later one overtook them', async () => {
    const { agent, contents } = await startSetting();
    const [early, late] = [prompt('early'), prompt('late')];
    await agent.ask(late).done;
    await agent.ask(early).done;
    expect(await contents()).toEqual(['Echo: late', RESULT, 'Echo: early', RESULT]);
  });

  it('are over if they are older than everything it remembers', async () => {
    const { agent, open, home, thread, starts } = await startSetting();
    await agent.close();
    const over = Array.from({ length: 199 }, (_, at) => ({ id: String(1_000 + at), kind: 'done' }));
    writeJson(home.path('streams', thread, 'state.json'), { over });
    const again = open();
    await again.ask({ id: '5000', text: 'x' }).done;
    expect(await again.ask({ id: '999', text: 'old' }).done).toEqual(done);
    expect(starts()).toHaveLength(1);
  });

  it('start a new conversation after /new, even if it comes while one runs', async () => {
    const { agent, contents } = await startSetting();
    await agent.ask(prompt('remember the milk')).done;
    await agent.fresh();
    await agent.ask(prompt(steps({ echo: true }))).done;
    expect((await contents()).at(-2)).not.toContain('milk');
    const running = agent.ask(prompt(steps({ say: 'honey' }, { waitMs: 300 })));
    await running.begun;
    await agent.fresh();
    await running.done;
    await agent.ask(prompt(steps({ echo: true }))).done;
    expect((await contents()).at(-2)).not.toContain('honey');
  });

  it('start a new conversation if the old one is gone, and say so', async () => {
    const { agent, open, contents, home, thread } = await startSetting();
    await agent.close();
    writeJson(home.path('streams', thread, 'state.json'), { session: 'gone-for-ever' });
    expect(await open().ask(prompt('hello')).done).toEqual(done);
    const note = '-# The earlier conversation no longer exists, so this is a new one.';
    expect(await contents()).toEqual(['Echo: hello', `${RESULT}\n${note}`]);
  });
});

describe('/stop', () => {
  it('leaves no process, not even one in its own group, and drops waiting prompts and says so', async () => {
    const { agent, contents, starts } = await startSetting();
    const name = `sleep ${20_000 + Math.floor(Math.random() * 1e6)}`;
    const text = steps({ say: 'Working.' }, { leave: `${name} & ${name}` }, { run: `trap "" INT; ${name}; true` });
    const running = agent.ask(prompt(text));
    const waits = [agent.ask(prompt('two')), agent.ask(prompt('three'))];
    await vi.waitFor(
      () => expect(processesWith(name).filter((line) => /^\s*\d+\s+\S+\s+sleep \d+$/.test(line)).length).toBe(3),
      PATIENCE,
    );
    expect(await agent.stop()).toBe(true);
    expect(processesWith(name)).toEqual([]);
    expect(await running.done).toEqual({ kind: 'stopped' });
    expect(await Promise.all(waits.map((one) => one.done))).toMatchObject([{ kind: 'dropped' }, { kind: 'dropped' }]);
    expect(await contents()).toEqual([
      'Working.',
      expect.stringMatching(/^⏹️ Stopped after \d+ s\. 2 messages that waited were dropped\.$/),
    ]);
    expect(await agent.stop()).toBe(false);
    await agent.ask(prompt('go on')).done;
    expect(starts()).toHaveLength(2);
    expect(starts()[1]?.argv).toContain('--resume');
  });
});

describe('a prompt that /stop dropped', () => {
  it('stays dropped after a restart', async () => {
    const { agent, starts, open } = await startSetting();
    agent.ask(prompt(steps({ waitMs: 60_000 })));
    const waits = prompt('two');
    agent.ask(waits);
    await vi.waitFor(() => expect(starts()).toHaveLength(1), PATIENCE);
    await agent.stop();
    await agent.close();
    expect(await open().ask(waits).done).toEqual({ kind: 'dropped' });
    expect(starts()).toHaveLength(1);
  });
});

describe('/done', () => {
  it('ends the agent, and keeps what it said until then', async () => {
    const { agent, contents } = await startSetting();
    const { done: turn } = agent.ask(
      prompt(steps({ say: 'one' }, { waitMs: 300 }, { say: 'two' }, { waitMs: 60_000 })),
    );
    await vi.waitFor(async () => expect(await contents()).toEqual(['one']), PATIENCE);
    await new Promise((resolve) => setTimeout(resolve, 500)); // said, but not yet posted
    await agent.stop();
    await agent.end();
    expect(await turn).toEqual({ kind: 'stopped' });
    expect(await contents()).toEqual(['one\n\ntwo', expect.stringMatching(/^⏹️ Stopped after/)]);
  });
});

describe('the end of an agent whose thread is gone', () => {
  it('drops running and waiting prompts, and leaves no process', async () => {
    const { agent, starts, contents } = await startSetting();
    const all = [steps({ waitMs: 60_000 }), 'two', 'three'].map((text) => agent.ask(prompt(text)));
    await vi.waitFor(() => expect(starts()).toHaveLength(1), PATIENCE);
    await agent.end();
    expect(await Promise.all(all.map((one) => one.done))).toMatchObject(all.map(() => ({ kind: 'dropped' })));
    expect(() => process.kill(starts()[0]?.pid ?? 0, 0)).toThrow();
    expect(await agent.ask(prompt('four')).done).toMatchObject({ kind: 'dropped' });
    expect(starts()).toHaveLength(1);
    expect(await contents()).toEqual([]);
  });

  it('does not wait for an unreachable server', async () => {
    let isAway = false;
    const { agent, starts } = await startSetting({ away: () => isAway });
    const turn = agent.ask(prompt('hello'));
    isAway = true;
    await vi.waitFor(() => expect(starts()).toHaveLength(1), PATIENCE);
    await new Promise((resolve) => setTimeout(resolve, 2_000)); // it has ended, and cannot say so
    await agent.end();
    expect(await turn.done).toMatchObject({ kind: 'dropped' });
  });
});

describe('a restart of the bridge', () => {
  it('ends the process, keeps the conversation, and reports once that the turn was cut off', async () => {
    const { agent, open, contents, starts } = await startSetting();
    const cut = prompt(steps({ say: 'Working.' }, { waitMs: 60_000 }));
    let settled = false;
    agent.ask(cut).done.then(() => {
      settled = true;
    });
    await vi.waitFor(async () => expect(await contents()).toEqual(['Working.']), PATIENCE);
    await agent.close();
    const [{ pid } = { pid: 0 }] = starts();
    expect(() => process.kill(pid, 0)).toThrow();
    expect(settled).toBe(false);
    const again = open();
    expect(await again.ask(cut).done).toMatchObject({ kind: 'failed' });
    await again.ask(prompt('go on')).done;
    const words = [
      'Working.',
      expect.stringMatching(/^⚠️ The bridge was restarted while this turn ran/),
      'Echo: go on',
      RESULT,
    ];
    expect(await contents()).toEqual(words);
    expect(starts()[1]?.argv).toContain('--resume');
    await again.close();
    await open().ask(prompt('x')).done;
    expect(await contents()).toEqual([...words, 'Echo: x', RESULT]);
  });
});

describe('a reply that could not be posted before a restart', () => {
  it('is on disk before it is posted, and the next bridge posts it in place of what is there', async () => {
    let isAway = false;
    const { agent, open, contents, messages, starts, home, thread } = await startSetting({ away: () => isAway });
    const due = home.path('streams', thread, 'due.json');
    const once = prompt(steps({ say: 'one' }, { waitMs: 1_500 }, { say: 'two' }));
    agent.ask(once);
    await vi.waitFor(async () => expect(await contents()).toEqual(['one']), PATIENCE);
    const [{ id } = { id: '' }] = await messages();
    isAway = true;
    await vi.waitFor(() => expect(existsSync(due)).toBe(true), PATIENCE);
    await agent.close();
    // Other nonces: the server forgets old ones, so nonces alone do not prevent a repeated post.
    writeJson(due, { ...JSON.parse(readFileSync(due, 'utf8')), startedAt: 1 });
    isAway = false;
    const again = open();
    expect(await again.ask(once).done).toEqual(done);
    await vi.waitFor(async () => expect(await contents()).toEqual(['one\n\ntwo', RESULT]), PATIENCE);
    expect((await messages())[0]?.id).toBe(id);
    expect(existsSync(due)).toBe(false);
    await again.ask(prompt('go on')).done;
    await again.close();
    await open().ask(prompt('x')).done;
    const words = ['one\n\ntwo', RESULT, 'Echo: go on', RESULT, 'Echo: x', RESULT];
    expect(await contents()).toEqual(words);
    expect(starts()).toHaveLength(3);
  });

  it('includes its file', async () => {
    let isAway = false;
    const { agent, open, messages, starts, home, thread } = await startSetting({ away: () => isAway });
    isAway = true;
    const long = 'A paragraph of many.\n\n'.repeat(3_000).trim();
    agent.ask(prompt(steps({ say: long })));
    const due = home.path('streams', thread, 'due.json');
    await vi.waitFor(() => expect(existsSync(due)).toBe(true), PATIENCE);
    await agent.close();
    isAway = false;
    open();
    await vi.waitFor(async () => expect((await messages()).at(-1)?.content).toBe(RESULT), PATIENCE);
    const all = await messages();
    expect(all).toHaveLength(21);
    const [file] = all.at(-2)?.attachments ?? [];
    expect(await (await fetch(file?.url ?? '')).text()).toBe(long);
    expect(starts()).toHaveLength(1);
  });

  it('of a turn that was cut off contains what was said until then', async () => {
    let isAway = false;
    const { agent, open, contents } = await startSetting({ away: () => isAway });
    const text = steps({ say: 'one' }, { waitMs: 1_200 }, { say: 'two' }, { waitMs: 60_000 });
    agent.ask(prompt(text));
    await vi.waitFor(async () => expect(await contents()).toEqual(['one']), PATIENCE);
    isAway = true;
    await new Promise((resolve) => setTimeout(resolve, 2_000)); // said, but not posted
    await agent.close();
    isAway = false;
    await open().ask(prompt('go on')).done;
    expect(await contents()).toEqual([
      'one\n\ntwo',
      expect.stringMatching(/^⚠️ The bridge was restarted while this turn ran/),
      'Echo: go on',
      RESULT,
    ]);
  });
});

function toolResult(content: unknown): Step {
  const block = { type: 'tool_result', is_error: true, content };
  return { type: 'user', parent_tool_use_id: null, message: { content: [block] } };
}

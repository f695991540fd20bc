// The command line for scripts, with the whole program running beside it: start and wait, ask a person, send files.

import { execFileSync } from 'node:child_process';
import { copyFileSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { shareAmongTests } from '../../support/at-end.ts';
import { untilTextCounts } from '../../support/prompt-pane.ts';
import { startAgent, startRunningUp } from '../../support/running-up.ts';
import { PROGRAM, WAIT } from '../cli.ts';

/** The program, with an agent in session `shop` that is idle at the end of every test. */
const shared = shareAmongTests(async () => {
  const up = await startRunningUp();
  return { up, claude: await startAgent(up, 'shop') };
});

describe('start --prompt, wait and reply', () => {
  it('starts an agent, gives it a prompt, and prints the reply', async () => {
    const { up } = shared();
    const started = await up.run(['start', 'one', '--prompt', 'tell me', '--wait', '--timeout', '60']);
    expect(started).toMatchObject({ status: 0, stdout: 'Echo: tell me\n' });
    const json = await up.runHere(['start', 'one', '--prompt', 'again', '--wait', '--json']);
    expect(json.data()).toEqual({
      host: 'here',
      name: 'one',
      created: false,
      state: 'idle',
      about: null,
      reply: 'Echo: again',
    });
    expect((await up.claude('one')).prompts()).toEqual(['tell me', 'again']);
    expect(await up.runHere(['reply', 'one'])).toMatchObject({ status: 0, stdout: 'Echo: again\n' });
    expect((await up.runHere(['reply', 'one', '--json'])).data()).toMatchObject({
      reply: 'Echo: again',
      finished: true,
    });
    expect((await up.runHere(['start', 'two', '--wait'])).status).toBe(2);
    expect((await up.runHere(['start', 'two', '--prompt', 'x', '--', 'cat'])).status).toBe(2);
  });

  it('sends a text and waits for its reply, or says after the timeout that the session still works', async () => {
    const { up, claude } = shared();
    const reply = await up.run(['send', 'shop', 'and now', '--wait-reply']);
    expect(reply).toMatchObject({ status: 0, stdout: 'Echo: and now\n' });
    await claude.tell('busy');
    const late = await up.runHere(['wait', 'shop', '--timeout', '3', '--json']);
    expect([late.status, late.data()]).toEqual([
      5,
      { host: 'here', name: 'shop', state: 'timeout', about: 'working', reply: null },
    ]);
    const waiting = up.run(['wait', 'shop', '--timeout', '60']);
    await claude.tell('idle');
    expect(await waiting).toMatchObject({ status: 0, stdout: 'Echo: and now\n' });
  });

  it('prints no sequence of a reply that the terminal would act on', async () => {
    const { up, claude } = shared();
    onTestFinished(async () => void (await claude.tell('replies', true)));
    await claude.tell('replies', '\u001b]52;c;QQ==\u0007one\n\ttwo\u009b2J\u202e\u200f\u061c\r');
    const shown = '⟨U+001B⟩]52;c;QQ==⟨U+0007⟩one\n\ttwo⟨U+009B⟩2J⟨U+202E⟩⟨U+200F⟩⟨U+061C⟩';
    const sent = await up.runHere(['send', 'shop', 'hello', '--wait-reply']);
    expect(sent.stdout).toContain(shown);
    expect((await up.runHere(['reply', 'shop'])).stdout).toContain(shown);
    expect((await up.runHere(['wait', 'shop'])).stdout).toContain(shown);
    expect((await up.runHere(['reply', 'shop', '--json'])).stdout).not.toMatch(/[^\P{Cc}\n]|[\u202e\u200f\u061c]/u);
  });

  it.each([
    ['leaves the text in the box', false],
    ['takes the text', true],
  ])('gives the prompt once if a dialog that opens while it is typed %s', async (_, takesText) => {
    const { up, claude } = shared();
    const before = claude.noted().length;
    const noted = () => claude.noted().slice(before);
    await claude.tell('offer', {
      title: 'Make auto mode your default?',
      options: ['Yes', 'No'],
      at: 0,
      help: '',
      takesText,
    });
    const started = up.run(['start', 'shop', '--prompt', 'hello', '--wait', '--timeout', '60']);
    const screen = () => up.cli.tmux.call('capture-pane', '-p', '-t', '=shop:');
    await vi.waitFor(() => expect(screen()).toContain('Make auto mode'), WAIT);
    // Longer than the text is waited for.
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    expect(noted()).toEqual([]);
    up.cli.tmux.call('send-keys', '-t', '=shop:', 'Down', 'Enter');
    expect(await started).toMatchObject({ status: 0, stdout: 'Echo: hello\n' });
    expect(noted().map(({ kind, text }) => `${kind}: ${text}`)).toEqual(['chosen: No', 'prompt: hello']);
  });

  it('has its own exit codes for a dialog, an ended session and one that does not exist', async () => {
    const { up } = shared();
    const claude = await startAgent(up, 'ends');
    await claude.tell('dialog', 'rm -rf /');
    const dialog = await up.runHere(['wait', 'ends', '--timeout', '30', '--json']);
    expect([dialog.status, dialog.data().state]).toEqual([4, 'needs_person']);
    const refused = await up.runHere(['send', 'ends', 'hello', '--wait', '0', '--wait-reply', '--json']);
    expect([refused.status, refused.error().code]).toEqual([4, 'needs_person']);
    expect(claude.prompts()).toEqual([]);
    await claude.tell('close');
    const idle = await up.runHere(['wait', 'ends', '--timeout', '30', '--json']);
    expect(idle.data().state).toBe('idle');
    await claude.tell('busy');
    const ends = up.run(['wait', 'ends', '--timeout', '60', '--json']);
    up.cli.tmux.call('kill-session', '-t', '=ends');
    const ended = await ends;
    if (ended.status !== 3) expect([ended.status, ended.data().state]).toEqual([1, 'ended']);
    expect((await up.runHere(['wait', 'nobody'])).status).toBe(3);
  });
});

describe('an agent that asks something before it starts', () => {
  it('has a thread at once: a person answers there, and then it gets the prompt', async () => {
    const { up } = shared();
    const asking = join(up.cli.dir, 'asking.mjs');
    const screen = join(import.meta.dirname, '../../fixtures/screens/2.1.197/80x24/dialog-trust.ansi');
    const program = `#!${process.execPath}
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
process.stdout.write('\\x1b[?25l\\x1b[H\\x1b[2J' + readFileSync('${screen}', 'utf8').trimEnd().replaceAll('\\n', '\\r\\n'));
process.stdin.setRawMode(true);
process.stdin.once('data', () => {
  process.stdin.setRawMode(false);
  process.stdin.pause();
  spawnSync('${join(up.cli.dir, 'claude')}', { stdio: 'inherit' });
});
`;
    writeFileSync(asking, program, { mode: 0o755 });
    const config = join(up.cli.root, 'config.json');
    const before = readFileSync(config, 'utf8');
    onTestFinished(() => writeFileSync(config, before));
    writeFileSync(config, JSON.stringify({ ...JSON.parse(before), agents: { claude: { command: [asking] } } }));
    const starting = up.run(['start', 'careful', '--prompt', 'go on', '--wait', '--timeout', '60']);
    await vi.waitFor(() => expect(up.record('careful').claudeSession).toBe(''), WAIT);
    const card = await up.message('careful', /Accessing workspace|trust this folder/);
    await up.tap('careful', card, 'Yes, I trust this folder');
    expect(await starting).toMatchObject({ status: 0, stdout: 'Echo: go on\n' });
    expect((await up.claude('careful')).prompts()).toEqual(['go on']);
  });
});

describe('file and ask', () => {
  it('sends a file of the project to the thread, and refuses others', async () => {
    const { up } = shared();
    const env = up.inside('shop');
    writeFileSync(join(up.project, 'report.txt'), 'all fine\n');
    writeFileSync(join(up.cli.dir, 'secret.txt'), 'not yours\n');
    symlinkSync(join(up.cli.dir, 'secret.txt'), join(up.project, 'link.txt'));
    const sent = await up.run(['file', 'report.txt', '--text', 'The report', '--json'], { env });
    expect(sent.data()).toMatchObject({ host: 'here', name: 'shop', file: join(up.project, 'report.txt') });
    const message = await up.message('shop', /^The report$/);
    expect(message.attachments.map(({ filename, size }) => [filename, size])).toEqual([['report.txt', 9]]);
    for (const path of ['../secret.txt', 'link.txt', '.env'])
      expect([path, (await up.runHere(['file', path, '--json'], { env })).status]).toEqual([
        path,
        path === '.env' ? 3 : 2,
      ]);
    expect((await up.runHere(['file', 'report.txt', '--json'])).error().code).toBe('bad_usage');
    expect((await up.messages('shop')).filter(({ attachments }) => attachments.length > 0)).toHaveLength(1);
  });

  it('asks a person with a button per option, and prints the one that was chosen', async () => {
    const { up } = shared();
    const answers = () => readdirSync(join(up.home.root, 'answers'));
    const before = answers();
    const env = up.inside('shop');
    const asking = up.run(['ask', 'Deploy?', '--option', 'yes', '--option', 'no', '--timeout', '60'], { env });
    const card = await up.message('shop', /Deploy\?/);
    expect(JSON.stringify(card.components)).not.toContain('Other');
    await vi.waitFor(async () => {
      const { sessions } = (await up.runHere(['sessions', '--prefix', 'shop', '--json'])).data();
      expect(sessions).toMatchObject([{ state: 'needs_person', for: 'question' }]);
    }, WAIT);
    await up.tap('shop', card, '2. no');
    expect(await asking).toMatchObject({ status: 0, stdout: 'no\n' });
    const over = await up.message('shop', /\*\*no\*\*/);
    expect([over.id, over.components]).toEqual([card.id, []]);
    await vi.waitFor(() => expect(answers()).toEqual(before), WAIT);
  });

  it('gets the answer in the session of every agent, and whatever the question is', async () => {
    const { up } = shared();
    const sleep = execFileSync('sh', ['-c', 'command -v sleep'], { encoding: 'utf8' }).trim();
    for (const [agent, question] of [
      ['codex', 'Deploy?'],
      ['opencode', 'Deploy?'],
      ['pi', '__proto__'],
    ] as const) {
      const program = join(up.cli.dir, agent);
      copyFileSync(sleep, program); // recognised by its name
      expect((await up.runHere(['start', `a-${agent}`, '--', program, '600'])).status).toBe(0);
      const asking = up.run(['ask', question, '--option', 'yes', '--option', 'no'], {
        env: up.inside(`a-${agent}`),
      });
      await vi.waitFor(() => expect(up.record(`a-${agent}`).agent).toBe(agent), WAIT);
      await up.tap(`a-${agent}`, await up.message(`a-${agent}`, /\*\*Question\*\*/), '2. no');
      expect([agent, (await asking).stdout]).toEqual([agent, 'no\n']);
    }
  });

  it('takes a text of the thread as the answer, but types what names no option', async () => {
    const { up } = shared();
    const claude = await startAgent(up, 'paint'); // no question has just ended there
    const asking = up.run(['ask', 'Which?', '--option', 'red', '--option', 'blue'], { env: up.inside('paint') });
    await untilTextCounts(await up.message('paint', /Which\?/));
    await up.person().say(up.record('paint').thread, 'what do you mean?');
    await vi.waitFor(() => expect(claude.prompts()).toEqual(['what do you mean?']), WAIT);
    await up.person().say(up.record('paint').thread, 'Blue');
    expect((await asking).stdout).toBe('blue\n');
    expect(claude.prompts()).toEqual(['what do you mean?']);
  });

  it('can be answered in the terminal as well: the first answer counts, and closes the other place', async () => {
    const { up } = shared();
    /** In a pane of the session, with a real terminal. */
    const askInPane = (question: string) => {
      const out = join(up.cli.dir, `answer-${question.length}`);
      const command = `${process.execPath} ${PROGRAM} ask '${question}' --option yes --option no > ${out}; echo "code $?" >> ${out}; sleep 60`;
      const env = { ...up.cli.env, THREADMUX_HOME: up.cli.root };
      const words = Object.entries(env).flatMap(([name, value]) => ['-e', `${name}=${value}`]);
      const pane = up.cli.tmux.call('split-window', '-d', '-P', '-F', '#{pane_id}', ...words, '-t', '=shop:', command);
      return { pane, printed: () => readFileSync(out, 'utf8') };
    };
    const shown = (pane: string) => up.cli.tmux.call('capture-pane', '-p', '-t', pane);

    const first = askInPane('Deploy here?');
    await vi.waitFor(() => expect(shown(first.pane)).toContain('Answer here or in the thread:'), WAIT);
    const card = await up.message('shop', /Deploy here\?/);
    up.cli.tmux.call('send-keys', '-t', first.pane, 'maybe', 'Enter', 'No', 'Enter');
    await vi.waitFor(() => expect(first.printed()).toBe('no\ncode 0\n'), WAIT);
    const closed = await vi.waitFor(async () => {
      const now = (await up.messages('shop')).find(({ id }) => id === card.id);
      expect(now?.components).toEqual([]);
      return now;
    }, WAIT);
    expect(closed?.content).toContain('Deploy here?');

    const second = askInPane('Deploy again?');
    await vi.waitFor(() => expect(shown(second.pane)).toContain('Answer here or in the thread:'), WAIT);
    await up.tap('shop', await up.message('shop', /Deploy again\?/), '1. yes');
    await vi.waitFor(() => expect(second.printed()).toBe('yes\ncode 0\n'), WAIT);

    const third = askInPane('Deploy once more?');
    await vi.waitFor(() => expect(shown(third.pane)).toContain('Answer here or in the thread:'), WAIT);
    up.cli.tmux.call('send-keys', '-t', third.pane, 'C-c');
    await vi.waitFor(() => expect(third.printed()).toBe('code 1\n'), WAIT);
    expect(shown(third.pane)).toContain('the question was cancelled');
  });

  it('has exit code 5 if nobody answers, and the question says so', async () => {
    const { up } = shared();
    const late = await up.runHere(['ask', 'Anybody?', '--timeout', '2', '--json'], { env: up.inside('shop') });
    expect([late.status, late.data()]).toEqual([5, { answer: null, by: null }]);
    await up.message('shop', /Nobody answered in time/);
    expect((await up.runHere(['ask', 'Where?', '--json'])).error().code).toBe('bad_usage');
    expect((await up.runHere(['ask', 'x', '--option', 'a', '--option', 'A'], { env: up.inside('shop') })).status).toBe(
      2,
    );
  });
});

describe('what else scripts need', () => {
  it('lists by prefix, posts a screen, notifies, and follows a thread', async () => {
    const { up } = shared();
    await startAgent(up, 'seen');
    up.cli.tmux.call('new-session', '-d', '-s', 'other', 'cat');
    const listed = (await up.runHere(['sessions', '--prefix', 'sh', '--json'])).data().sessions as { name: string }[];
    expect(listed.map(({ name }) => name)).toEqual(['shop']);
    expect((await up.runHere(['sessions', '--names', '--prefix', 'oth'])).stdout).toBe('other\n');
    expect((await up.runHere(['capture', 'seen', '--post', '--json'])).data()).toMatchObject({
      thread: up.record('seen').thread,
    });
    await up.message('seen', /Stand-in for Claude Code/);
    expect((await up.runHere(['notify', 'half', 'done'], { env: up.inside('seen') })).status).toBe(0);
    const line = await up.message('seen', /half done/);
    expect(line.flags & (1 << 12)).toBe(0);
    // The notice that the welcome is pinned has no text.
    const whole = (await up.runHere(['tail', 'seen', '--no-follow', '--json'])).stdout.trim().split('\n');
    expect(whole.map((one) => JSON.parse(one)).filter(({ text, files }) => text === '' && files.length === 0)).toEqual(
      [],
    );
    const tail = await up.run(['tail', 'seen', '--no-follow', '-n', '2', '--json']);
    const lines = tail.stdout.trim().split('\n');
    expect(lines.map((one) => JSON.parse(one).text)).toEqual([expect.stringContaining('Stand-in'), '🔔 half done']);
  });

  it('gives a headless agent a prompt in a new thread, only in a project', async () => {
    const { up } = shared();
    const started = await up.run(['agent', 'shop', 'say', 'hello', '--json']);
    expect([started.stderr, started.status]).toEqual(['', 0]);
    const { name, host, thread } = started.data() as { name: string; host: string; thread: string };
    expect([name, host]).toEqual(['shop-agent', 'here']);
    await vi.waitFor(async () => {
      const texts = (await up.person().messages(thread)).map(({ content }) => content);
      expect(texts).toContain('Echo: say hello');
    }, WAIT);
    expect((await up.runHere(['agent', 'shop', 'again'])).stdout).toBe('shop-agent-2\n');
    for (const [args, code] of [
      [['agent', 'nowhere', 'hello'], 'bad_usage'],
      [['agent', 'shop'], 'bad_usage'],
      [['terminal', 'shop'], 'bad_usage'],
      [['agent', 'shop', 'hello', '--skip-permissions'], 'bad_usage'],
    ] as const) {
      const refused = await up.runHere([...args, '--json']);
      expect([args, refused.status, refused.error().code]).toEqual([args, 2, code]);
    }
  });

  it('starts a terminal through threadmux, only in a project', async () => {
    const { up } = shared();
    const started = await up.run(['terminal', 'shop', '--json', '--', 'echo', 'streamed']);
    expect([started.stderr, started.status]).toEqual(['', 0]);
    const { thread } = started.data() as { thread: string };
    await vi.waitFor(async () => {
      const texts = (await up.person().messages(thread)).map(({ content }) => content);
      expect(texts.join('\n')).toContain('streamed');
    }, WAIT);
    expect((await up.runHere(['terminal', 'nowhere', '--json', '--', 'true'])).error().code).toBe('bad_usage');
  });
});

describe('threadmux is killed', () => {
  it('while scripts wait and ask: nothing is lost, and what needs it says that it is not running', async () => {
    const { up } = shared();
    const claude = await startAgent(up, 'one');
    await claude.tell('busy');
    const waiting = up.run(['wait', 'one', '--timeout', '60']);
    const asking = up.run(['ask', 'Still there?', '--option', 'yes'], { env: up.inside('shop') });
    await up.message('shop', /Still there\?/);
    await up.kill();
    const sent = await up.runHere(['send', 'one', 'while it is down', '--json']);
    expect(sent.data().outcome).toBe('typed');
    for (const args of [
      ['agent', 'shop', 'hello', '--json'],
      ['terminal', 'shop', '--json', '--', 'true'],
    ]) {
      const down = await up.runHere(args);
      expect([args, down.status, down.error().code]).toEqual([args, 69, 'not_running']);
    }
    expect(readdirSync(join(up.home.root, 'requests'))).toEqual([]);
    await up.start();
    const card = await up.message('shop', /Still there\?/);
    // A tap is lost if the bridge has not connected yet.
    const again = setInterval(() => void up.tap('shop', card, '1. yes').catch(() => {}), 2_000);
    onTestFinished(() => clearInterval(again));
    expect(await asking).toMatchObject({ status: 0, stdout: 'yes\n' });
    const asked = (await up.messages('shop')).filter(({ content }) => content.includes('Still there?'));
    expect(asked).toHaveLength(1);
    await claude.tell('idle');
    expect(await waiting).toMatchObject({ status: 0, stdout: 'Echo: while it is down\n' });
  });
});

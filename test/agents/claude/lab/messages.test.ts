// Journey 2 with the real Claude Code: a message in the thread is submitted as it was written, and nothing else
// happens. What was submitted is read from Claude Code's own transcript.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { localHost } from '../../../../hosts/host.ts';
import { tmuxOn } from '../../../../tmux/tmux.ts';
import { typeMessage } from '../../../../tmux/type-message.ts';
import { type ClaudeLab, startClaudeLab } from '../../../support/claude-lab.ts';
import { type LabSession, PATIENCE } from '../../../support/lab-session.ts';
import { buttonOf } from '../../../support/prompt-pane.ts';
import type { WireMessage } from '../../../support/workspace.ts';

let lab: ClaudeLab;
let demo: LabSession;

beforeAll(async () => {
  lab = await startClaudeLab();
  demo = await lab.start('demo');
});
afterAll(() => lab?.stop());

/** Waits until Claude Code has recorded exactly these prompts after the first `before` ones. */
function recorded(session: LabSession, before: number, ...prompts: string[]): Promise<void> {
  return vi.waitFor(() => expect(session.prompts().slice(before)).toEqual(prompts), PATIENCE);
}

async function buttonsShown(session: LabSession): Promise<WireMessage> {
  return vi.waitFor(async () => {
    const message = (await session.news()).at(-1);
    if (!message?.components.length) throw new Error('there is nothing to tap');
    return message;
  }, PATIENCE);
}

describe('a text is submitted as it was written:', () => {
  it.for([
    ['plain', 'plain text', 'plain text'],
    ['with many lines', 'first\n\n  second\nthird', 'first\n\n  second\nthird'],
    ['with quotes', `it's "here" \`date\` $(touch pwned) $HOME`, undefined],
    ['that begins with a dash', '-rf --all', undefined],
    ['that ends in a semicolon', 'one; two;', undefined],
    ['that ends in a backslash', 'over there \\', 'over there \\'],
    ['that ends in the name of a file', 'look at @notes', undefined],
    ['that begins with a path', '/usr/bin is full', undefined],
    ['that begins with a hash', '# not a memory', undefined],
    ['with emoji', 'ship it 🚀 👩‍👩‍👧 é 日本語', undefined],
    ['as long as a message can be', `so long ${'word '.repeat(398)}`.trim(), undefined],
  ] as const)('%s', async ([, text, expected]) => {
    writeFileSync(join(lab.project, 'notes.md'), 'notes\n');
    const before = demo.prompts().length;
    await demo.submit(text);
    await vi.waitFor(() => expect(demo.prompts()).toHaveLength(before + 1), PATIENCE);
    expect(demo.prompts().at(-1)?.trim()).toBe(expected ?? text);
    await demo.idle();
    expect(existsSync(join(lab.project, 'pwned'))).toBe(false);
  });

  it('20 kB arrive as a file at the path that the prompt names', async () => {
    const before = demo.prompts().length;
    const data = 'a line of text\n'.repeat(1_400);
    const message = await lab.person.say(demo.thread, 'read this', {
      files: [{ name: 'message.txt', data }],
    });
    await demo.marked(message, '✅');
    await vi.waitFor(() => expect(demo.prompts()).toHaveLength(before + 1), PATIENCE);
    const [text, path = ''] = demo.prompts().at(-1)?.split('\n\n') ?? [];
    expect(text).toBe('read this');
    expect(readFileSync(path, 'utf8')).toBe(data);
    await demo.idle();
  });

  it('20 kB typed into the box arrive unchanged', async () => {
    const before = demo.prompts().length;
    const { socket, command, ...pane } = demo.record();
    const tmux = tmuxOn(localHost({ name: 'lab', env: process.env }), socket);
    const text = Array.from({ length: 800 }, (_, at) => `line ${at} of "many" $(x) \\`).join('\n');
    const id = String((BigInt(Date.now()) - 1_420_070_400_000n) << 22n);
    const typed = await typeMessage(tmux, { pane, command }, { id, text: `${text} end` });
    expect(typed.kind).toBe('delivered');
    await recorded(demo, before, `${text} end`);
    await demo.idle();
  });
});

describe('a command in a thread:', () => {
  const posted = (content: string) =>
    vi.waitFor(
      async () => expect((await demo.news()).map((one) => one.content).join('\n')).toContain(content),
      PATIENCE,
    );

  it('/cost opens its panel, which is shown with keys to close it', async () => {
    const before = demo.prompts().length;
    await demo.submit('/cost');
    const panel = await buttonsShown(demo);
    expect(panel.content).toMatch(/^```[\s\S]*Esc to/);
    await lab.person.tap(demo.thread, panel.id, buttonOf(panel, 'Esc'));
    await demo.idle();
    expect(demo.prompts()).toHaveLength(before);
  });

  it('one of Claude Code itself and one of the user are passed', async () => {
    const folder = join(lab.dir, 'home/.claude/commands/team');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'greet.md'), 'Say hello to $ARGUMENTS\n');
    await demo.submit('/reload-skills');
    await vi.waitFor(async () => {
      expect((await demo.news()).map(({ content }) => content).join('\n')).toMatch(/```\nReloaded skills: .*\n```/);
    }, PATIENCE);
    await demo.submit('/team:greet Bob\nand Alice');
    await vi.waitFor(async () => {
      expect((await demo.news()).at(-1)?.content).toContain('Echo: Say hello to Bob\nand Alice');
    }, PATIENCE);
    await demo.idle();
    await demo.submit('/review');
    // The newer version gives it to an agent in the background, and answers when that has finished.
    await vi.waitFor(async () => {
      expect((await demo.news()).at(-1)?.content).toMatch(/Echo: (?:Run `gh pr|\/code-review)/);
    }, PATIENCE);
    await demo.idle();
  });

  it('prints into the thread, and a name that is only the beginning of another runs nothing', async () => {
    await demo.submit('/rename shop');
    await posted('```\nSession renamed to: shop\n```');
    await demo.say('/logou');
    const question = await buttonsShown(demo);
    expect(question.content).toContain('Claude has no command `/logou` here');
    await lab.person.tap(demo.thread, question.id, buttonOf(question, 'Run /logou'));
    await posted('```\nUnknown command: /logou. Did you mean /logout?\n```');
    await demo.idle();
  });

  it('/login waits for a tap, then opens its dialog', async () => {
    const message = await demo.say('/login');
    const question = await buttonsShown(demo);
    expect(question.content).toContain('`/login` changes the account');
    expect((await demo.read()).kind).toBe('empty');
    await lab.person.tap(demo.thread, question.id, buttonOf(question, 'Run /login'));
    await vi.waitFor(() => expect(demo.screen()).toContain('Select login method'), PATIENCE);
    await demo.marked(message, '✅');
    demo.press('Escape');
    await demo.idle();
  });

  it('"!echo pwned" is never typed, and is answered in one line', async () => {
    const before = demo.prompts().length;
    const screen = demo.screen();
    await demo.say('!echo pwned > pwned');
    await vi.waitFor(async () => {
      const answer = (await demo.news()).at(-1);
      expect(answer?.content).toBe('⚠️ `!echo` is not a command, so nothing was done. `!help` lists all.');
    }, PATIENCE);
    expect(demo.screen()).toBe(screen);
    expect(demo.prompts()).toHaveLength(before);
    expect(existsSync(join(lab.project, 'pwned'))).toBe(false);
  });
});

describe('while Claude is busy or not ready,', () => {
  const draftShown = () =>
    vi.waitFor(async () => expect(await demo.read()).toMatchObject({ kind: 'draft', text: 'half-written' }), PATIENCE);

  it('texts that arrive while it thinks are queued, and each gets its receipt', async () => {
    const before = demo.prompts().length;
    await demo.submit('slow 4');
    const queued = [await demo.say('queued one'), await demo.say('queued two')];
    for (const message of queued) await demo.marked(message, '✅');
    await recorded(demo, before, 'slow 4', 'queued one', 'queued two');
    await demo.idle();
  });

  it('texts that it reads between two tools get their receipts', async () => {
    const before = demo.prompts().length;
    await demo.submit('bash sleep 4');
    const read = [await demo.say('by the way'), await demo.say('and also')];
    for (const message of read) await demo.marked(message, '✅');
    await recorded(demo, before, 'bash sleep 4', 'by the way', 'and also');
    await demo.idle();
  });

  it('a half-written draft is not submitted, and is restored', async () => {
    const before = demo.prompts().length;
    demo.type('half-written');
    await draftShown();
    await demo.submit('alone');
    await recorded(demo, before, 'alone');
    await draftShown();
  });

  it('a draft is restored after three messages in a row', async () => {
    const before = demo.prompts().length;
    const messages = [await demo.say('one'), await demo.say('two'), await demo.say('three')];
    for (const message of messages) await demo.marked(message, '✅');
    await recorded(demo, before, 'one', 'two', 'three');
    await draftShown();
    demo.press('C-u');
    await demo.idle();
  });

  it('copy mode is left before typing', async () => {
    const before = demo.prompts().length;
    lab.tmux('copy-mode', '-t', demo.record().paneId);
    await demo.submit('out of copy mode');
    await recorded(demo, before, 'out of copy mode');
    await demo.idle();
  });

  it('a text after an interrupt is submitted without the interrupted prompt', async () => {
    const before = demo.prompts().length;
    await demo.submit('slow 50');
    await demo.say('!stop');
    await vi.waitFor(async () => expect(await demo.read()).toMatchObject({ busy: false }), PATIENCE);
    await demo.submit('something else');
    await vi.waitFor(() => expect(demo.prompts().at(-1)).toBe('something else'), PATIENCE);
    expect(demo.prompts().slice(before)).toEqual(['slow 50', 'something else']);
    demo.press('C-u');
    await demo.idle();
  });
});

describe('while Claude asks for permission,', () => {
  it('a text denies it through the hook, with the text as the reason', async () => {
    const file = join(lab.project, 'never');
    await demo.submit(`bash touch ${file}`);
    await vi.waitFor(async () => expect((await demo.read()).kind).toBe('dialog'), PATIENCE);
    // Waits for the prompt itself: other messages have buttons too, and a text before it does not answer it.
    await vi.waitFor(async () => {
      const last = (await demo.news()).at(-1);
      expect(JSON.stringify(last?.components)).toContain('"p:');
    }, PATIENCE);
    await demo.submit('1 is not what I want');
    await vi.waitFor(async () => {
      expect((await demo.news()).at(-1)?.content).toContain('1 is not what I want');
    }, PATIENCE);
    await demo.idle();
    expect(existsSync(file)).toBe(false);
  });

  it('a text waits until the dialog is closed if no hook can answer it', async () => {
    const old = await lab.start('old', { unasked: true });
    const file = join(lab.project, 'never');
    await old.submit(`bash touch ${file}`);
    await vi.waitFor(async () => expect((await old.read()).kind).toBe('dialog'), PATIENCE);
    const message = await old.say('1 yes y');
    await old.marked(message, '📨');
    expect((await old.read()).kind).toBe('dialog');
    old.press('Escape');
    await old.marked(message, '✅');
    await recorded(old, 1, '1 yes y');
    await old.idle();
    expect(existsSync(file)).toBe(false);
  });
});

describe('when a session starts or ends,', () => {
  it('!new starts a Claude that takes messages', async () => {
    const order = await lab.person.say(lab.channelId, `!new fresh ${lab.project}`);
    const fresh = await lab.find('fresh');
    await vi.waitFor(async () => {
      const answers = await lab.person.messages(lab.channelId, `after=${order.id}`);
      expect(answers.map(({ content }) => content)).toContain(`▶️ \`fresh\` is up: <#${fresh.thread}>`);
    }, PATIENCE);
    await fresh.submit('good morning');
    await recorded(fresh, 0, 'good morning');
    await fresh.next('▶️ Claude started.', '-# lab · project · fresh\nEcho: good morning');
  });

  it('!new in an untrusted folder shows the trust question and types nothing into it', async () => {
    const folder = join(lab.project, '..', 'stranger');
    mkdirSync(folder, { recursive: true });
    const order = await lab.person.say(lab.channelId, `!new stranger ${folder}`);
    const thread = await vi.waitFor(async () => {
      const answers = await lab.person.messages(lab.channelId, `after=${order.id}`);
      const said = answers.map(({ content }) => content).find((one) => one.startsWith('🔔'));
      return /^🔔 `stranger` waits for you: <#(\d+)>$/.exec(said ?? '')?.[1] ?? fail(said);
    }, PATIENCE);
    const shown = (await lab.person.messages(thread)).find(({ content }) => /^🔔/.test(content));
    expect(shown?.content).toContain('Claude asks something before it starts');
    expect(shown?.components).not.toEqual([]);
    const message = await lab.person.say(thread, 'hello there');
    const marks = async () => {
      const now = (await lab.person.messages(thread)).find(({ id }) => id === message.id);
      return now?.reactions?.filter(({ count }) => count > 0).map(({ emoji }) => emoji.name);
    };
    await vi.waitFor(async () => expect(await marks()).toEqual(['📨']), PATIENCE);
    expect(lab.tmux('capture-pane', '-p', '-t', '=stranger:')).not.toContain('hello there');
    await lab.person.say(thread, '!enter');
    await vi.waitFor(async () => expect(await marks()).toEqual(['✅']), PATIENCE);
    const stranger = await lab.find('stranger');
    await recorded(stranger, 0, 'hello there');
  });

  it('a pane whose program has died takes nothing, and the thread says so', async () => {
    const fresh = await lab.find('fresh');
    const { paneId, panePid } = fresh.record();
    lab.tmux('set-option', '-p', '-t', paneId, 'remain-on-exit', 'on');
    process.kill(panePid, 'SIGKILL');
    await vi.waitFor(async () => expect((await fresh.read()).kind).toBe('dead'), PATIENCE);
    const message = await fresh.say('are you there');
    await fresh.marked(message, '⚠️');
    expect((await fresh.news()).at(-1)?.content).toContain('The program in the pane has ended.');
  });

  it('nothing is typed into the shell that Claude exited to', async () => {
    const before = demo.prompts().length;
    demo.type('/exit');
    demo.press('Enter');
    await vi.waitFor(async () => expect((await demo.read()).kind).toBe('shell'), PATIENCE);
    const message = await demo.say(`touch ${lab.project}/ran`);
    await demo.marked(message, '⚠️');
    expect((await demo.news()).at(-1)?.content).toContain('Claude has exited, and the pane shows a shell.');
    expect(demo.screen()).not.toContain('project/ran');
    expect(existsSync(join(lab.project, 'ran'))).toBe(false);
    expect(demo.prompts()).toHaveLength(before);
  });
});

function fail(said: string | undefined): never {
  throw new Error(`it said ${JSON.stringify(said)}`);
}

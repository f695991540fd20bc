// Journey 2 with the real Claude Code: a message in the thread is submitted as it was written, and nothing else
// happens. What was submitted is read from Claude Code's own transcript.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { localHost } from '../../../../hosts/host.ts';
import { tmuxOn } from '../../../../tmux/tmux.ts';
import { typeMessage } from '../../../../tmux/type-message.ts';
import { type ClaudeLab, claudePackage, startClaudeLab } from '../../../support/claude-lab.ts';
import { type LabSession, PATIENCE } from '../../../support/lab-session.ts';
import { buttonOf } from '../../../support/prompt-pane.ts';
import type { WireMessage } from '../../../support/workspace.ts';

/** One pixel. */
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

let lab: ClaudeLab;
let demo: LabSession;

beforeAll(async () => {
  lab = await startClaudeLab();
  demo = await lab.start('demo');
});
// Claude 2.1.197 keeps a text in its box that was entered while a turn ended, although it was submitted. threadmux avoids that moment, but a
// stalled machine may miss it: then one test fails, not all after it.
afterEach(async () => {
  const screen = await demo.read().catch(() => undefined);
  if (screen?.kind === 'draft') demo.press('C-u');
  // A draft that is left in the stash would make the messages of the next test wait.
  if ((screen?.kind === 'draft' || screen?.kind === 'empty') && screen.stashed) demo.press('C-s', 'C-u');
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

function cardShown(thread: string, content: RegExp, timeout = PATIENCE.timeout): Promise<WireMessage> {
  return vi.waitFor(
    async () => {
      const all = await lab.person.messages(thread);
      const found = all.find((one) => content.test(one.content));
      if (found === undefined)
        throw new Error(`nothing fits ${content}: ${JSON.stringify(all.slice(0, 5).map((one) => one.content))}`);
      return found;
    },
    { ...PATIENCE, timeout },
  );
}

async function closedAs(card: WireMessage, content: RegExp): Promise<void> {
  await vi.waitFor(async () => {
    const now = (await lab.person.messages(card.channel_id)).find(({ id }) => id === card.id);
    expect(now?.content).toMatch(content);
    expect(now?.components).toEqual([]);
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
    const message = await lab.person.say(demo.thread, 'read this', { files: [{ name: 'message.txt', data }] });
    await demo.marked(message, '✅');
    await vi.waitFor(() => expect(demo.prompts()).toHaveLength(before + 1), PATIENCE);
    const [text, path = ''] = demo.prompts().at(-1)?.split('\n\n') ?? [];
    expect(text).toBe('read this');
    expect(readFileSync(path, 'utf8')).toBe(data);
    await demo.idle();
  });

  it.for([
    ['an image alone', '', ['a.png'], '[Image #]'],
    ['an image', 'what is this', ['a.png'], '[Image #]what is this'],
    ['two images', 'and these', ['a.png', 'b.png'], '[Image #] [Image #]and these'],
    [
      'two images and a text file',
      'all of these',
      ['a.png', 'b.png', 'c.txt'],
      '[Image #] [Image #]all of these\nc.txt',
    ],
    ['a long text and an image', `${'word '.repeat(300)}end`, ['a.png'], `[Image #]${'word '.repeat(300)}end`],
  ] as const)('%s, with its receipt', async ([, text, names, expected]) => {
    const before = demo.prompts().length;
    const files = names.map((name) => ({ name, data: name.endsWith('.png') ? PNG : 'a line\n' }));
    await demo.marked(await lab.person.say(demo.thread, text, { files }), '✅');
    await vi.waitFor(() => expect(demo.prompts()).toHaveLength(before + 1), PATIENCE);
    const plain = demo
      .prompts()
      .at(-1)
      ?.replace(/#\d+\]/g, '#]')
      .replace(/\/\S*\/\d+\/(?:\d-)?/g, '');
    expect(plain?.trim()).toBe(expected);
    await demo.idle();
  });

  it('the same text twice', async () => {
    const before = demo.prompts().length;
    await demo.submit('again');
    await demo.submit('again');
    await recorded(demo, before, 'again', 'again');
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

  it('/cost is posted as text and closed by itself, and five messages after it are submitted in order', async () => {
    const panels = async () => (await demo.news()).filter(({ content }) => /^📋 \*\*Usage\*\*/.test(content));
    const earlier = (await panels()).length; // of an attempt before
    const before = demo.prompts().length;
    const words = ['one', 'two', 'three', 'four', 'five'].map((word) => `after the panel ${word}`);
    await demo.submit('/cost');
    for (const word of words) await demo.say(word);
    await recorded(demo, before, ...words);
    await demo.idle();
    const shown = (await panels()).slice(earlier);
    expect(shown.map(({ content }) => content)).toEqual([expect.stringMatching(/Total cost: +\$/)]);
  });

  it('/model is a card, and a tap chooses exactly that model', async () => {
    await demo.submit('/model');
    const card = await cardShown(demo.thread, /^🔔 \*\*Select model\*\*/);
    await lab.person.tap(demo.thread, card.id, buttonOf(card, 'Opus'));
    await closedAs(card, /^✅ \*\*Select model\*\* Opus/);
    await demo.idle();
    expect(demo.screen()).toMatch(/Set model to .*Opus/);
  });

  it('!set gives a model to Claude, also while it works, and what Claude asks is a card', async () => {
    await demo.submit('hello');
    await demo.idle();
    const confirm = async (label = 'Yes') => {
      const card = await cardShown(demo.thread, /^🔔 \*\*Switch model\?\*\*/);
      await lab.person.tap(demo.thread, card.id, buttonOf(card, label));
      await closedAs(card, new RegExp(`^✅ \\*\\*Switch model\\?\\*\\* ${label}`));
      await demo.idle();
    };
    await demo.say('!set model haiku');
    await confirm('No');
    await cardShown(demo.thread, /Kept model as [^⚙]*```\n⚙️ \*\*model\*\* was not changed: as Claude itself is set\.$/);
    expect(demo.record().settings?.model).toBeUndefined();
    await demo.say('!set model haiku');
    const reply = await cardShown(demo.thread, /^⚙️ \*\*model\*\*: sent to Claude as `\/model haiku`/);
    await confirm();
    await demo.marked(reply, '✅');
    await cardShown(demo.thread, /Set model to [^⚙]*```\n⚙️ \*\*model\*\*: `haiku`, from this thread\.$/);
    expect(demo.record().settings?.model).toBe('haiku');
    expect(demo.screen()).toMatch(/Set model to .*Haiku/);
    await demo.submit('hello again');
    await demo.idle();
    await demo.submit('slow 5');
    await demo.say('!set model default');
    await cardShown(demo.thread, /^⚙️ \*\*model\*\*: sent to Claude as `\/model default`/);
    await confirm();
    // While it works, 2.1.325 says it for a moment above its box and nowhere else.
    const confirmed = /Set model to [^⚙]*```\n⚙️ \*\*model\*\*: as Claude itself is set\.$/;
    const unconfirmed = /^⚙️ Claude did not confirm `\/model default`, but may use it/;
    await cardShown(demo.thread, new RegExp(`${confirmed.source}|${unconfirmed.source}`), 200_000);
  }, 300_000);

  it('!set changes the mode until the footer says it, not while Claude works, and says what it cannot change', async () => {
    await demo.idle();
    const answer = async (mode: string, content: RegExp) => {
      const order = await demo.say(`!set mode ${mode}`);
      await vi.waitFor(async () => {
        const said = (await lab.person.messages(demo.thread)).filter(({ id }) => BigInt(id) > BigInt(order.id));
        expect(said.map((one) => one.content).join('\n')).toMatch(content);
      }, PATIENCE);
    };
    for (const [mode, shown] of [
      ['plan', 'plan'],
      ['acceptEdits', 'acceptEdits'],
      ['manual', 'normal'],
    ] as const) {
      await answer(mode, /Claude is in this mode now\./);
      await vi.waitFor(async () => expect(await demo.read()).toMatchObject({ kind: 'empty', mode: shown }), PATIENCE);
    }
    await demo.submit('slow 6');
    await answer('plan', /Claude is working, and the key leads through modes in which edits need no permission/);
    await demo.idle();
    expect(await demo.read()).toMatchObject({ mode: 'normal' });
    await answer('plan', /Claude is in this mode now\./);
    await answer('dontAsk', /Claude does not offer this mode while it runs, and is in `plan` mode/);
    await answer('default', /Claude is in this mode now\./);
    await demo.idle();
    expect(await demo.read()).toMatchObject({ mode: 'normal' });
    expect(demo.record().settings).not.toHaveProperty('mode');
  });

  it('a dialog that was opened and closed in the terminal has a card meanwhile', async () => {
    await demo.idle();
    demo.type('/theme');
    await vi.waitFor(() => expect(demo.screen()).toContain('/theme'), PATIENCE);
    demo.press('Enter');
    const card = await cardShown(demo.thread, /^🔔 \*\*Theme\*\*/);
    demo.press('Escape');
    await closedAs(card, /Closed in the terminal/);
    await demo.idle();
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
      const answers = (await demo.news()).map(({ content }) => content);
      expect(answers).toContain('⚠️ `!echo` is not a command, so nothing was done. `!help` lists all.');
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
    demo.press('C-u'); // of an attempt that failed
    await demo.idle();
    demo.type('half-written');
    await draftShown();
    const words = ['one', 'two', 'three'].map((word) => `${word} after ${before}`);
    const messages = [];
    for (const word of words) messages.push(await demo.say(word));
    for (const message of messages) await demo.marked(message, '✅');
    await recorded(demo, before, ...words);
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
    const messages = [await old.say('1 yes y'), await old.say('2 no n')];
    for (const message of messages) await old.marked(message, '📨');
    const notices = async () => (await old.news()).filter(({ content }) => content.startsWith('📨'));
    await vi.waitFor(async () => expect(await notices()).toHaveLength(1), PATIENCE);
    expect((await notices())[0]?.content).toMatch(/Answer it, and your message is typed\.$/);
    expect((await old.read()).kind).toBe('dialog');
    old.press('Escape');
    for (const message of messages) await old.marked(message, '✅');
    await recorded(old, 1, '1 yes y', '2 no n');
    expect(await notices()).toEqual([]);
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

  it('!kill is one message, and a tap there continues the conversation among others in the folder', async () => {
    const fresh = await lab.find('fresh');
    const order = await fresh.say('!kill fresh');
    const since = async () => (await lab.person.messages(fresh.thread, `after=${order.id}`)).toReversed();
    const isArchived = async () =>
      (await lab.person.call('GET', `/channels/${fresh.thread}`)).body.thread_metadata.archived as boolean;
    await vi.waitFor(async () => expect(await isArchived()).toBe(true), PATIENCE);
    const [ended] = await since();
    if (ended === undefined) throw new Error('nothing says that it ended');
    await lab.person.tap(fresh.thread, ended.id, buttonOf(ended, 'Continue the conversation'));
    await vi.waitFor(async () => {
      expect((await since()).map(({ content }) => content)).toEqual([
        '⏹️ Ended. ▶️ Continued by you.',
        '▶️ Claude resumed.',
      ]);
    }, PATIENCE);
    const again = await lab.find('fresh');
    await again.idle();
    await again.submit('and good night');
    await vi.waitFor(() => {
      const asked = readFileSync(join(lab.dir, 'model.log'), 'utf8').trim().split('\n');
      const last = asked.findLast((line) => line.includes('"tools":[{') && line.includes('and good night'));
      expect(last).toContain('Echo: good morning');
    }, PATIENCE);
    expect(await isArchived()).toBe(false);
  });

  it('!new in an untrusted folder asks with a card, types nothing into it, and goes on after a tap', async () => {
    const folder = join(lab.project, '..', 'stranger');
    mkdirSync(folder, { recursive: true });
    const order = await lab.person.say(lab.channelId, `!new stranger ${folder}`);
    const thread = await vi.waitFor(async () => {
      const answers = await lab.person.messages(lab.channelId, `after=${order.id}`);
      const said = answers.map(({ content }) => content).find((one) => one.startsWith('🔔'));
      return /^🔔 `stranger` waits for you: <#(\d+)>$/.exec(said ?? '')?.[1] ?? fail(said);
    }, PATIENCE);
    const card = await cardShown(thread, /^🔔 \*\*Accessing workspace:\*\*/);
    expect(card.content).toContain('stranger');
    const message = await lab.person.say(thread, 'hello there');
    const marks = async () => {
      const now = (await lab.person.messages(thread)).find(({ id }) => id === message.id);
      return now?.reactions?.filter(({ count }) => count > 0).map(({ emoji }) => emoji.name);
    };
    await vi.waitFor(async () => expect(await marks()).toEqual(['📨']), PATIENCE);
    expect(lab.tmux('capture-pane', '-p', '-t', '=stranger:')).not.toContain('hello there');
    await lab.person.tap(thread, card.id, buttonOf(card, 'Yes, I trust this folder'));
    await closedAs(card, /^✅ .*Yes, I trust this folder/);
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

  it('!new uses the claude and the API key of the terminal that started threadmux, and tells why a Claude quits', async () => {
    const file = join(lab.dir, 'home/.threadmux/config.json');
    const { agent: _, ...config } = JSON.parse(readFileSync(file, 'utf8'));
    const exported = readFileSync(join(lab.dir, 'env.sh'), 'utf8').matchAll(/(ANTHROPIC_\w+|CLAUDE_\w+)=(\S+)/g);
    const PATH = `${claudePackage()}/node_modules/.bin:${process.env.PATH}`;
    await lab.restart(async () => writeFileSync(file, JSON.stringify(config)), {
      PATH,
      ...Object.fromEntries([...exported].map(([, name, value]) => [name, value])),
    });
    await lab.person.say(lab.channelId, `!new plain ${lab.project}`);
    const plain = await lab.find('plain');
    const before = plain.prompts().length;
    await plain.submit('good evening');
    await recorded(plain, before, 'good evening');
    const order = await lab.person.say(lab.channelId, `!new broken ${lab.project} -- claude --no-such-option`);
    // On a busy machine it quits after the answer, and its thread says why.
    await vi.waitFor(async () => {
      const answers = await lab.person.messages(lab.channelId, `after=${order.id}`);
      const threads = answers.flatMap(({ content }) => /<#(\d+)>/.exec(content)?.[1] ?? []);
      const said = [...answers, ...(await Promise.all(threads.map((id) => lab.person.messages(id)))).flat()];
      expect(said.map(({ content }) => content).join('\n')).toContain("unknown option '--no-such-option'");
    }, PATIENCE);
  });
});

function fail(said: string | undefined): never {
  throw new Error(`it said ${JSON.stringify(said)}`);
}

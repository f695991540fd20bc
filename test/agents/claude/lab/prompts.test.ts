// Prompts of the real Claude Code: asked in the thread and in the terminal at once, and the first answer wins. The
// outcome is read from Claude Code's own transcript.

import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type ClaudeLab, type LabSession, startClaudeLab } from '../../../support/claude-lab.ts';
import { buttonOf, buttonsOf, messageNow, promptIn, verdictOf } from '../../../support/prompt-pane.ts';
import type { WireMessage } from '../../../support/workspace.ts';

const PATIENCE = { timeout: 40_000, interval: 200 };
const IN_TERMINAL = '🖥️ Answered in the terminal.';
/** Esc ends the hook with a signal, unless it has seen the dialog close before. */
const OVER_THERE = /^(?:🖥️ Answered|⏹️ Cancelled) in the terminal\.$/u;

let lab: ClaudeLab;
let demo: LabSession;

beforeAll(async () => {
  lab = await startClaudeLab();
  demo = await lab.start('demo');
});
afterAll(() => lab?.stop());

interface Result {
  readonly text: string;
  readonly isError: boolean;
}

interface Line {
  readonly message?: {
    readonly content?:
      | string
      | readonly { type: string; tool_use_id?: string; content?: unknown; is_error?: boolean }[];
  };
}

/** The results of the tools so far, from the transcript. */
function results(): readonly Result[] {
  const { transcript } = demo.record();
  if (!existsSync(transcript)) return []; // before the first turn
  return (
    readFileSync(transcript, 'utf8')
      .split('\n')
      .filter((line) => line.endsWith('}'))
      .flatMap((line) => {
        const content = (JSON.parse(line) as Line).message?.content;
        return Array.isArray(content) ? content : [];
      })
      .filter(({ type }) => type === 'tool_result')
      // 2.1.325 repeats lines after Esc.
      .filter(({ tool_use_id: id }, at, all) => all.findIndex(({ tool_use_id }) => tool_use_id === id) === at)
      .map(({ content, is_error }) => ({
        text: typeof content === 'string' ? content : JSON.stringify(content),
        isError: is_error === true,
      }))
  );
}

/** Makes Claude ask; returns the prompt in the thread, and its outcome from the transcript. */
async function ask(order: string) {
  await demo.idle();
  await demo.submit(order);
  const message = await promptIn(lab, demo.thread);
  const before = results().length;
  return {
    message,
    outcome: () =>
      vi.waitFor(() => {
        const [result] = results().slice(before);
        if (result === undefined) throw new Error(`the tool has no result yet: ${demo.screen()}`);
        return result;
      }, PATIENCE),
  };
}

const tap = (message: WireMessage, label: string) => lab.person.tap(demo.thread, message.id, buttonOf(message, label));
const fill = async (message: WireMessage, label: string, words: string) => {
  const tapped = await tap(message, label);
  await vi.waitFor(() => lab.person.submitModal(demo.thread, tapped, { words }), PATIENCE);
};
/** A "yes" or a number just after another prompt ended could be meant for that one, and does not count. */
const write = async (text: string) => {
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  return demo.say(text);
};
const touch = (name: string) => {
  const path = join(lab.project, name);
  rmSync(path, { force: true });
  return { path, order: `bash touch ${path}` };
};
const dialogIs = (words: RegExp) => vi.waitFor(() => expect(demo.screen()).toMatch(words), PATIENCE);
/** 2.1.325 takes no key in the first moment of a dialog. */
const pressIn = (words: RegExp, key: string) =>
  vi.waitFor(
    () => {
      if (!words.test(demo.screen())) return;
      demo.press(key);
      throw new Error(`the dialog is still there: ${demo.screen()}`);
    },
    { timeout: PATIENCE.timeout, interval: 1_000 },
  );
const says = (about: RegExp) =>
  vi.waitFor(async () => {
    const texts = (await lab.person.messages(demo.thread, 'limit=5')).map((one) => one.content);
    expect(texts.join('\n')).toMatch(about);
  }, PATIENCE);

/** What the bot has posted since this message, oldest first, without lines of progress. */
async function postedSince({ id, author }: WireMessage): Promise<readonly WireMessage[]> {
  const messages = await lab.person.messages(demo.thread);
  const isProgress = (content: string) => content.split('\n').every((line) => line.startsWith('-# '));
  return messages
    .filter((one) => BigInt(one.id) > BigInt(id) && one.author.id !== author.id && !isProgress(one.content))
    .toReversed();
}

describe('what Claude said before', () => {
  const runs = Number(process.env.THREADMUX_LAB_RUNS ?? '1');

  it.each([
    ['a question', () => 'ask', 'I need one decision from you.'],
    ['a permission', (n: number) => touch(`before-${n}`).order, 'Running it.'],
  ])(
    '%s is in the thread, silently, before the prompt',
    async (_, order, text) => {
      for (let n = 0; n < runs; n++) {
        await demo.idle();
        const asked = await demo.submit(order(n));
        const prompt = await promptIn(lab, demo.thread);
        const [said, second] = await postedSince(asked);
        expect([said?.content, second?.id], `run ${n}`).toEqual([text, prompt.id]);
        expect(((said?.flags ?? 0) & (1 << 12)) !== 0).toBe(true);
        await tap(prompt, order(n) === 'ask' ? '1. ' : 'Allow');
        await verdictOf(lab, prompt);
        await vi.waitFor(
          async () => expect((await postedSince(asked)).at(-1)?.content).toMatch(/Done\. The tool/),
          PATIENCE,
        );
        const all = (await postedSince(asked)).filter(({ content }) => content.includes(text));
        expect(all, `run ${n}: the text is there once`).toHaveLength(1);
      }
    },
    120_000 + runs * 20_000,
  );
});

describe('a permission', () => {
  it('that is allowed runs the tool', async () => {
    const { path, order } = touch('allowed');
    const { message, outcome } = await ask(order);
    expect(message.content).toContain(`touch ${path}`);
    await tap(message, 'Allow');
    expect((await outcome()).isError).toBe(false);
    expect(existsSync(path)).toBe(true);
    expect(await verdictOf(lab, message)).toMatch(/^✅ \*\*Allowed\*\*/);
  });

  it('that is denied does not run the tool', async () => {
    const { path, order } = touch('denied');
    const { message, outcome } = await ask(order);
    await tap(message, 'Deny');
    expect((await outcome()).isError).toBe(true);
    expect(existsSync(path)).toBe(false);
    expect(await verdictOf(lab, message)).toMatch(/^⛔ \*\*Denied\*\*/);
  });

  it('that is denied with a reason makes Claude repeat the reason', async () => {
    const { path, order } = touch('reason');
    const { message, outcome } = await ask(order);
    await fill(message, 'Deny with a reason', 'use a temp dir instead');
    expect((await outcome()).text).toContain('use a temp dir instead');
    expect(existsSync(path)).toBe(false);
    await says(/Done\. The tool said:.*use a temp dir instead/s);
  });

  it('is allowed by the text "yes", and denied by any other text', async () => {
    const first = await ask(touch('yes').order);
    await write('yes');
    expect((await first.outcome()).isError).toBe(false);
    const second = await ask(touch('no').order);
    await demo.say('1 moment, not that one');
    expect((await second.outcome()).text).toContain('1 moment, not that one');
    expect(existsSync(join(lab.project, 'no'))).toBe(false);
  });
});

describe('a question', () => {
  it.each<[string, (message: WireMessage) => Promise<unknown>, string]>([
    ['a button', (message) => tap(message, '2. Postgres'), 'Postgres'],
    ['a number', () => write('3'), 'DuckDB'],
    ['a label', () => write('sqlite'), 'SQLite'],
    ['free text', () => demo.say('I want 1 MySQL'), 'I want 1 MySQL'],
    ['the field', (message) => fill(message, 'Other', 'a plain file'), 'a plain file'],
  ])('is answered by %s', async (_, answer, expected) => {
    const { message, outcome } = await ask('ask');
    await answer(message);
    const { text, isError } = await outcome();
    expect(isError).toBe(false);
    expect(text).toContain(`"Which database should we use?"="${expected}"`);
    expect(await verdictOf(lab, message)).toContain(`**${expected}**`);
  });

  it('of two parts takes several answers for the second', async () => {
    const { message, outcome } = await ask('ask2');
    await tap(message, '1. SQLite');
    const second = await promptIn(lab, demo.thread, /\(2 of 2\)/);
    const menu = buttonsOf(second).find(({ options }) => options !== undefined);
    const values = [0, 2].map((at) => menu?.options?.[at]?.value ?? '');
    await lab.person.choose(demo.thread, message.id, menu?.custom_id ?? '', values);
    await tap(await promptIn(lab, demo.thread, /Your answers/), 'Submit');
    const { text } = await outcome();
    expect(text).toContain('"Which database should we use?"="SQLite"');
    expect(text).toContain('"Which extras do you want?"="Cache, Search"');
  });
});

describe('a prompt that is open in the thread and in the terminal', () => {
  it('says soon that it was answered in the terminal', async () => {
    const { path, order } = touch('terminal');
    const { message, outcome } = await ask(order);
    await dialogIs(/Do you want to proceed/);
    const began = Date.now();
    await pressIn(/Do you want to proceed/, '1');
    expect(await verdictOf(lab, message, 20_000)).toBe(IN_TERMINAL);
    expect(Date.now() - began).toBeLessThan(10_000); // two seconds on a machine that does nothing else
    expect((await outcome()).isError).toBe(false);
    expect(existsSync(path)).toBe(true);
  });

  it('is over after Esc in the terminal, and a late tap changes nothing', async () => {
    const { path, order } = touch('esc');
    const { message, outcome } = await ask(order);
    await dialogIs(/Do you want to proceed/);
    await pressIn(/Do you want to proceed/, 'Escape');
    expect(await verdictOf(lab, message)).toMatch(OVER_THERE);
    expect((await outcome()).isError).toBe(true);
    await expect(tap(message, 'Allow')).rejects.toThrow(); // the button is gone
    expect(existsSync(path)).toBe(false);
    demo.press('C-u');
  });

  it('reports the terminal correctly when both answer at the same moment', async () => {
    const { path, order } = touch('race');
    const { message, outcome } = await ask(order);
    await dialogIs(/Do you want to proceed/);
    demo.press('Escape');
    await tap(message, 'Allow').catch(() => '');
    const verdict = await verdictOf(lab, message);
    const { isError } = await outcome();
    if (OVER_THERE.test(verdict)) {
      expect({ isError, ran: existsSync(path) }).toEqual({ isError: true, ran: false });
    } else if (!isError) {
      expect(existsSync(path)).toBe(true);
    }
    // Allowed here and interrupted in the terminal just after: Claude reports an error, and the tool may have run.
    demo.press('C-u');
  });

  it('shows no answer that was chosen here when the question is cancelled in the terminal', async () => {
    const { message, outcome } = await ask('ask2');
    await tap(message, '1. SQLite');
    const second = await promptIn(lab, demo.thread, /\(2 of 2\)/);
    const menu = buttonsOf(second).find(({ options }) => options !== undefined);
    await lab.person.choose(demo.thread, message.id, menu?.custom_id ?? '', [menu?.options?.[0]?.value ?? '']);
    await promptIn(lab, demo.thread, /Your answers/);
    await dialogIs(/Which database should we use/);
    demo.press('Escape');
    expect(await verdictOf(lab, message)).toBe('⏹️ Cancelled in the terminal.');
    expect((await messageNow(lab, message)).content).not.toMatch(/✔|Your answers/);
    expect((await outcome()).isError).toBe(true);
    await says(/✘ AskUserQuestion · declined$/m);
    demo.press('C-u');
  });

  it('stays open in the thread while a question is half answered in the terminal', async () => {
    const { message, outcome } = await ask('ask2');
    await dialogIs(/Which database should we use/);
    // Newer versions ignore a key that comes just after a dialog has appeared.
    await vi.waitFor(
      () => {
        if (/Which database should we use/.test(demo.screen())) demo.press('1');
        expect(demo.screen()).toMatch(/Which extras do you want/);
      },
      { ...PATIENCE, interval: 1_500 },
    );
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    expect((await messageNow(lab, message)).components).not.toEqual([]);
    await tap(message, '2. Postgres');
    const second = await promptIn(lab, demo.thread, /\(2 of 2\)/);
    expect(second.id).toBe(message.id);
    await write('2');
    await tap(await promptIn(lab, demo.thread, /Your answers/), 'Submit');
    expect((await outcome()).text).toContain('"Which database should we use?"="Postgres"');
  });
});

describe('a permission that is always allowed', () => {
  it('is not asked a second time', async () => {
    const { path, order } = touch('always');
    const { message, outcome } = await ask(order);
    await tap(message, 'Always allow');
    expect((await outcome()).isError).toBe(false);
    expect(await verdictOf(lab, message)).toMatch(/^✅ \*\*Always allowed\*\*/);
    await demo.idle();
    rmSync(path);
    const before = results().length;
    await demo.submit(order);
    await vi.waitFor(() => expect(results()).toHaveLength(before + 1), PATIENCE);
    expect(existsSync(path)).toBe(true);
    const open = (await lab.person.messages(demo.thread)).filter((one) => buttonsOf(one).length > 0);
    expect(open).toEqual([]);
  });
});

describe('a plan', () => {
  beforeAll(async () => {
    await demo.idle();
    for (let tries = 0; tries < 6 && !/plan mode on/.test(demo.screen()); tries++) {
      demo.press('BTab');
      await new Promise((resolve) => setTimeout(resolve, 700));
    }
    expect(demo.screen()).toMatch(/plan mode on/);
  });

  it('is rejected with feedback, which Claude reads', async () => {
    const { message, outcome } = await ask('plan');
    expect(message.content).toMatch(/^📋 Claude has a plan:\n## Plan\n1\. Read the code/);
    await fill(message, 'Reject with feedback', 'smaller steps, please');
    expect((await outcome()).text).toContain('smaller steps, please');
    expect(await verdictOf(lab, message)).toContain('Rejected');
  });

  it('is approved', async () => {
    const { message, outcome } = await ask('plan');
    await tap(message, 'Approve');
    expect((await outcome()).isError).toBe(false);
    expect(await verdictOf(lab, message)).toContain('Approved');
  });
});

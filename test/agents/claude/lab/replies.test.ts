// Journey 1 with the real Claude Code: what it says is posted in the thread, whole, once, in order.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { agentContext } from '../../../../agents/claude/hook-commands.ts';
import { type ClaudeLab, claudeVersion, startClaudeLab } from '../../../support/claude-lab.ts';
import { type LabSession, PATIENCE } from '../../../support/lab-session.ts';
import { buttonOf } from '../../../support/prompt-pane.ts';
import type { WireMessage } from '../../../support/workspace.ts';

const HEADER = '-# lab · project · demo';
const said = (...texts: string[]) => [HEADER, texts.join('\n\n')].join('\n');

const isSilent = ({ flags }: WireMessage) => ((flags ?? 0) & (1 << 12)) !== 0;

let lab: ClaudeLab;
let demo: LabSession;

beforeAll(async () => {
  lab = await startClaudeLab();
  demo = await lab.start('demo');
  await demo.next('▶️ Claude started.');
});
afterAll(() => lab?.stop());

describe.for(['in a new conversation', 'after /clear'])('replies %s', (when) => {
  beforeAll(async () => {
    if (when !== 'after /clear') return;
    const before = demo.record().claudeSession;
    await demo.submit('/clear');
    await vi.waitFor(() => expect(demo.record().claudeSession).not.toBe(before), PATIENCE);
    await demo.next(); // the thread does not end with /clear
  });

  it('post a sentence as one message', async () => {
    await demo.submit('hello');
    await demo.next(said('Echo: hello'));
  });

  it('include what Claude said between its steps, in order', async () => {
    await demo.submit('steps 3');
    const messages = await demo.next(
      'Step 1 of 3: looking around.',
      'Step 2 of 3: looking around.',
      'Step 3 of 3: looking around.',
      said('Done. The tool said: step 1\nstep 2\nstep 3'),
    );
    expect(messages.map(isSilent)).toEqual([true, true, true, false]);
  });

  it('align a table, and mention nobody', async () => {
    await demo.submit('table');
    const [reply] = await demo.next(
      said(
        'Results:',
        '```\nname  value\n----  -----\na     1\nb     22\n```',
        '```ts\nconst x = 1;\n```',
        'Done @everyone.',
      ),
    );
    expect(reply?.mention_everyone).toBe(false);
  });

  it('post a long reply whole, and only its first message notifies', async () => {
    await demo.submit('long 100');
    const paragraphs = Array.from(
      { length: 100 },
      (_, at) => `Paragraph ${at + 1}: ${'lorem ipsum dolor sit amet '.repeat(6)}`,
    );
    await vi.waitFor(async () => expect((await demo.news()).at(-1)?.content).toContain('Paragraph 100:'), PATIENCE);
    const parts = await demo.next(...(await demo.news()).map(({ content }) => content));
    const whole = parts.map(({ content }) => content.replace(`${HEADER}\n`, '')).join('\n\n');
    expect(whole.replace(/\s+/g, ' ')).toBe(paragraphs.join(' ').replace(/\s+/g, ' ').trim());
    expect(parts.map(isSilent)).toEqual(parts.map((_, at) => at > 0));
    expect(parts.flatMap(({ attachments }) => attachments)).toEqual([]);
  });

  it('include what a command printed', async () => {
    await demo.submit('bash echo hi');
    await demo.next('Running it.', said('Done. The tool said: hi'));
  });
});

describe('in other turns,', () => {
  const shown = (before: number, ...contents: RegExp[]) =>
    vi.waitFor(async () => {
      const messages = (await demo.progress()).slice(before);
      expect(messages.map(({ content }) => content)).toEqual(contents.map((one) => expect.stringMatching(one)));
    }, PATIENCE);

  it('a Claude inside Claude posts nothing of its own', async () => {
    const settings = join(lab.dir, 'settings.json');
    await demo.submit(`bash claude --settings ${settings} -p hello`);
    await demo.next('Running it.', said('Done. The tool said: Echo: hello'));
  });

  it('a slow turn posts its text at once, and a line below it shows what runs; at the end the line sums it up', async () => {
    const before = (await demo.progress()).length;
    await demo.submit('bash sleep 5');
    await shown(before, /^-# working · Bash: .* · started <t:\d+:R>$/);
    expect((await demo.news()).map(({ content }) => content)).toEqual(['Running it.']);
    const [line] = (await demo.progress()).slice(before);
    expect(BigInt(line?.id ?? 0)).toBeGreaterThan(BigInt((await demo.news())[0]?.id ?? 0));
    await demo.next('Running it.', /^-# .*\nDone\. The tool said/);
    await shown(before, /^-# Bash · \d s$/);
  });

  it('a tool that failed stays visible in the line', async () => {
    const before = (await demo.progress()).length;
    await demo.submit('bash claude --no-such-option');
    await demo.next('Running it.', /^-# .*\nDone\. The tool said/);
    await shown(before, /^-# Bash · \d s\n-# ✘ Bash: [^\n]* · Exit code 1: error: unknown option \S+$/);
  });

  it('Claude knows how to send a file without being told, and the file is sent', async () => {
    const requests = readFileSync(join(lab.dir, 'model.log'), 'utf8');
    expect(requests).toContain(agentContext(true).trim());
    writeFileSync(join(lab.project, 'report.txt'), 'a report');
    await demo.submit('Here.\n[ATTACH: report.txt]');
    const [reply] = await demo.next(said('Echo: Here.'));
    expect(reply?.attachments.map(({ filename }) => filename)).toEqual(['report.txt']);
  });

  it('a renamed session keeps its thread, and the thread gets the new name', async () => {
    lab.tmux('rename-session', '-t', '=demo', 'renamed');
    await demo.submit('slow 11');
    await demo.next('-# lab · project · renamed\nSlept 11 s.');
    await vi.waitFor(async () => {
      const { body } = await lab.person.call('GET', `/channels/${demo.thread}`);
      expect(body.name).toBe('[agent] renamed');
    }, PATIENCE);
  });

  it('a turn that was interrupted before Claude said anything ends in the thread', async () => {
    const before = (await demo.progress()).length;
    await demo.submit('slow 60');
    await shown(before, /^-# working · started <t:\d+:R>$/);
    demo.press('Escape');
    await shown(before, /^-# interrupted · \d+ s$/);
    demo.press('C-u'); // the prompt was restored as a draft
    await demo.idle();
  });

  it('an API error is reported', async () => {
    await demo.submit('fail 400');
    await demo.next(/^⚠️ Claude stopped: the turn ended with an error\.\n> API Error: 400 .*$/);
  });

  it('the exit of Claude is the last thing reported', async () => {
    demo.type('/exit');
    demo.press('Enter');
    await demo.next('⏹️ Claude has exited.');
    await sleep(1_500);
    await demo.next();
  });
});

// The last one: its session has a subscription, whose file is in the home of all.
it('a usage limit is told with its reset, its dialog is answered, and a message waits until Cancel', async () => {
  const limited = await lab.start('limited', { subscriber: true });
  await limited.next('▶️ Claude started.');
  await limited.submit('limit 5400');
  const [notice] = await limited.next(
    /^⚠️ Claude stopped: a usage limit was reached\.\n> You've hit your [^\n]+ · resets [^\n]+\nIt resets on .*told to continue\.$/,
  );
  if (notice === undefined) throw new Error('nothing was told');
  // Newer versions open no dialog.
  if (claudeVersion() === '2.1.197')
    await vi.waitFor(() => expect(lab.log()).toMatch(/by=threadmux choice=chosen/), PATIENCE);
  await limited.idle();
  const message = await limited.say('go on');
  await limited.marked(message, '📨');
  await limited.next(/^📨 Your message waits\. A usage limit is reached/); // and no card
  await lab.person.tap(limited.thread, notice.id, buttonOf(notice, 'Cancel'));
  await limited.marked(message, '✅');
  await vi.waitFor(() => expect(limited.prompts()).toEqual(['limit 5400', 'go on']), PATIENCE);
});

// Journey 1 with the real Claude Code: what it says is posted in the thread, whole, once, in order.

import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type ClaudeLab, startClaudeLab } from '../../../support/claude-lab.ts';
import { type LabSession, PATIENCE } from '../../../support/lab-session.ts';

const HEADER = '-# lab · project · demo';
const said = (...texts: string[]) => [HEADER, texts.join('\n\n')].join('\n');

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
    await demo.next(
      said(
        'Step 1 of 3: looking around.',
        'Step 2 of 3: looking around.',
        'Step 3 of 3: looking around.',
        'Done. The tool said: step 1\nstep 2\nstep 3',
      ),
    );
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

  it('post a long reply as five messages, the last one with the whole reply as a file', async () => {
    await demo.submit('long 200');
    const paragraphs = Array.from(
      { length: 200 },
      (_, at) => `Paragraph ${at + 1}: ${'lorem ipsum dolor sit amet '.repeat(6)}`,
    );
    const parts = await demo.next(
      /^-# lab · project · demo\nParagraph 1: /,
      /^Paragraph/,
      /^Paragraph/,
      /^Paragraph/,
      /whole reply is attached/,
    );
    const [file] = parts.at(-1)?.attachments ?? [];
    expect(file?.filename).toBe('reply.md');
    const whole = await (await fetch(file?.url ?? '')).text();
    expect(whole.trim()).toBe(paragraphs.join('\n\n').trim());
  });

  it('include what a command printed', async () => {
    await demo.submit('bash echo hi');
    await demo.next(said('Running it.', 'Done. The tool said: hi'));
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
    await demo.next(said('Running it.', 'Done. The tool said: Echo: hello'));
  });

  it('a slow turn shows its progress, which becomes one line at the end', async () => {
    const before = (await demo.progress()).length;
    await demo.submit('bash sleep 5');
    await shown(before, /^Running it\.\n⏳ Bash: .*\n-# working · Bash · \d s$/);
    await demo.next(/^-# .*\nRunning it\.\n\nDone\. The tool said/);
    await shown(before, /^-# Bash · \d s$/);
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
    await shown(before, /^-# working · \d+ s$/);
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

// A text is written into the field of a dialog through the form of its card: into that dialog only, and Enter comes after it.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import type { FakeClaude } from '../../support/fake-claude.ts';
import { untilTextCounts } from '../../support/prompt-pane.ts';
import type { WireMessage } from '../../support/workspace.ts';
import { aWhile, type Setting, shareSetting, WAIT } from '../bridge-setup.ts';
import { become, openWhispers, tap } from '../tap-message.ts';

const QUESTION = {
  title: 'Which database?',
  options: ['SQLite', 'Postgres', 'Type something.', 'Chat about this'],
  at: 0,
  numbered: true,
  field: 2,
};
const LOGIN = { title: 'Login', text: ['Sign in, then come back.'], code: true, help: 'Esc to cancel' };
const TYPED = '✏️ Type something.';

const share = shareSetting();

async function begin() {
  const { setting, claude } = await share({ replies: false });
  return { setting, claude, whispers: await openWhispers(setting) };
}

/** Opens the form; the second step sends it. */
async function openForm(setting: Setting, card: WireMessage, label: string) {
  const tapped = await tap(setting, card, label);
  return (words: string) =>
    vi.waitFor(() => setting.workspace.person.submitModal(card.channel_id, tapped, { words }), WAIT);
}

const noted = (claude: FakeClaude) => claude.noted().map(({ kind, text }) => `${kind}: ${text}`);
const untilNoted = (claude: FakeClaude, ...all: string[]) => vi.waitFor(() => expect(noted(claude)).toEqual(all), WAIT);

describe('a text for a dialog', () => {
  it('is written into its option and submitted, and the card shows it', async () => {
    const { setting, claude } = await begin();
    await claude.tell('choice', QUESTION);
    const card = await setting.answer(claude, /Which database/);
    const send = await openForm(setting, card, TYPED);
    await send('1 *MySQL*, please\nor nothing');
    await untilNoted(claude, 'chosen: 1 *MySQL*, please\nor nothing');
    await become(setting, card, /^✅ \*\*Which database\?\*\* 1 \\\*MySQL\\\*, please or nothing — /);
  });

  it('never goes into another dialog that was opened while the form was filled in', async () => {
    const { setting, claude, whispers } = await begin();
    await claude.tell('choice', QUESTION);
    const card = await setting.answer(claude, /Which database/);
    const send = await openForm(setting, card, TYPED);
    await claude.tell('choice', { ...QUESTION, title: 'Delete which database?' });
    await send('all of them');
    await vi.waitFor(() => expect(whispers()).toEqual([expect.stringMatching(/Nothing was pressed/)]), WAIT);
    await aWhile();
    expect(noted(claude)).toEqual([]);
    expect(setting.machine.tmux.call('capture-pane', '-p', '-t', `=${claude.session}:`)).not.toContain('all of them');
  });

  it.each([
    [
      'with other options',
      { ...QUESTION, title: 'Drop all tables?', options: ['Yes', 'No', 'Chat about this'], field: 9 },
    ],
    ['with a text in its field', { ...QUESTION, title: 'Drop which tables?', at: 2, written: 'all' }],
    ['with the same title', { ...QUESTION, text: ['In production.'], at: 2, written: 'all' }],
  ])('does not submit another dialog that opens right after it was written: %s', async (_, replacedBy) => {
    const { setting, claude, whispers } = await begin();
    await claude.tell('choice', { ...QUESTION, replacedBy });
    const card = await setting.answer(claude, /Which database/);
    const send = await openForm(setting, card, TYPED);
    await send('MySQL');
    await vi.waitFor(() => expect(whispers()).toEqual([expect.stringMatching(/Enter was not pressed/)]), WAIT);
    expect(noted(claude)).toEqual([]);
  });

  it('is not added to a text that somebody has begun in the terminal', async () => {
    const { setting, claude, whispers } = await begin();
    await claude.tell('choice', QUESTION);
    const card = await setting.answer(claude, /Which database/);
    const send = await openForm(setting, card, TYPED);
    await claude.tell('choice', { ...QUESTION, at: 2, written: 'half a tho' });
    await send('something else');
    await vi.waitFor(() => expect(whispers()).toEqual([expect.stringMatching(/Nothing was written/)]), WAIT);
    expect(noted(claude)).toEqual([]);
  });

  it('that is only spaces writes nothing', async () => {
    const { setting, claude, whispers } = await begin();
    await claude.tell('choice', QUESTION);
    const send = await openForm(setting, await setting.answer(claude, /Which database/), TYPED);
    await send('  \n ');
    await vi.waitFor(() => expect(whispers()).toEqual([expect.stringMatching(/the text is empty/)]), WAIT);
    expect(noted(claude)).toEqual([]);
  });

  it('that is the code of a login is entered, and is nowhere in the thread, the log or our files', async () => {
    const { setting, claude } = await begin();
    await claude.tell('choice', LOGIN);
    const card = await setting.answer(claude, /Login/);
    const send = await openForm(setting, card, '✏️ The code');
    await send(' verysecretcode#andstate\n');
    await untilNoted(claude, 'code: verysecretcode#andstate');
    await become(setting, card, /^✅ \*\*Login\*\* The code was entered\. — /);
    const said = (await setting.answers(claude)).map(({ content }) => content).join('\n');
    const { root } = setting.machine.home;
    const files = readdirSync(root, { recursive: true, withFileTypes: true })
      .filter((file) => file.isFile())
      .map((file) => readFileSync(join(file.parentPath, file.name), 'utf8'));
    for (const part of ['verysecret', 'dstate']) expect([said, ...files].join('\n')).not.toContain(part);
  });
});

describe('a message while a question is open', () => {
  it.each([
    ['in one’s own words', 'MySQL, please'],
    ['that names an option', 'postgres'],
    ['that is the number of an option', '2'],
  ])('%s is its answer, and the card shows it', async (_, text) => {
    const { setting, claude } = await begin();
    await claude.tell('choice', QUESTION);
    const card = await setting.answer(claude, /Which database/);
    await untilTextCounts(card);
    const message = await setting.say(claude, text);
    await setting.untilMarked(message, '✅');
    const given = text.startsWith('MySQL') ? text : 'Postgres';
    await untilNoted(claude, `chosen: ${given}`);
    await become(setting, card, new RegExp(`^✅ \\*\\*Which database\\?\\*\\* ${given} — `));
  });

  it('that takes no text waits, and the notice says why', async () => {
    const { setting, claude } = await begin();
    await claude.tell('choice', { ...QUESTION, options: ['☐ SQLite', 'Postgres', 'Chat about this'], field: 9 });
    await setting.answer(claude, /Which database/);
    const message = await setting.say(claude, 'MySQL, please');
    await setting.answer(claude, /Your message waits\. Claude is asking a question\. Answer it/);
    expect(noted(claude)).toEqual([]);
    await claude.tell('choice');
    await setting.untilMarked(message, '✅');
    await untilNoted(claude, 'prompt: MySQL, please');
  });

  it('that replies to another message is not its answer, but a message for afterwards', async () => {
    const { setting, claude } = await begin();
    const earlier = await setting.say(claude, 'an earlier message');
    await setting.untilMarked(earlier, '✅');
    await claude.tell('choice', QUESTION);
    const card = await setting.answer(claude, /Which database/);
    const { person } = setting.workspace;
    const message = await person.say(claude.thread, '2', { replyTo: earlier.id });
    await setting.answer(claude, /Your message waits\. Claude is asking a question/);
    expect(noted(claude).join('\n')).not.toContain('chosen');
    const reply = await person.say(claude.thread, '2', { replyTo: card.id });
    await setting.untilMarked(reply, '✅');
    await setting.untilMarked(message, '✅');
    expect(noted(claude)).toEqual(['prompt: an earlier message', 'chosen: Postgres', 'prompt: 2']);
  });

  it.each([
    ['"yes"', 'yes', false],
    ['a reply in one’s own words', 'the faster one', true],
  ])('that comes when the question has just changed is not its answer: %s', async (_, text, replies) => {
    const { setting, claude } = await begin();
    await claude.tell('choice', QUESTION);
    const card = await setting.answer(claude, /Which database/);
    await untilTextCounts(card);
    await claude.tell('choice', { ...QUESTION, text: ['To be deleted, in production.'] });
    await become(setting, card, /in production/);
    const replyTo = replies ? { replyTo: card.id } : {};
    const message = await setting.workspace.person.say(claude.thread, text, replyTo);
    await setting.untilMarked(message, '⚠️');
    expect(noted(claude)).toEqual([]);
  });

  it('that names an option right after the question has appeared is not its answer', async () => {
    const { setting, claude } = await begin();
    await claude.tell('choice', QUESTION);
    await setting.answer(claude, /Which database/);
    await setting.untilMarked(await setting.say(claude, '2'), '⚠️');
    expect(noted(claude)).toEqual([]);
  });

  it('that is the number of one option and the label of another is no answer', async () => {
    const { setting, claude } = await begin();
    await claude.tell('choice', { ...QUESTION, options: ['2', '1', ...QUESTION.options.slice(2)] });
    await untilTextCounts(await setting.answer(claude, /Which database/));
    await setting.untilMarked(await setting.say(claude, '2'), '⚠️');
    expect(noted(claude)).toEqual([]);
  });

  it('that was written before its card is a message for afterwards', async () => {
    const { setting, claude } = await begin();
    await claude.tell('busy');
    await claude.tell('choice', QUESTION);
    const message = await setting.say(claude, 'and the tests');
    await setting.answer(claude, /Which database/);
    await aWhile();
    expect(noted(claude)).toEqual([]);
    await claude.tell('choice');
    await claude.tell('idle');
    await setting.untilMarked(message, '✅');
    await untilNoted(claude, 'prompt: and the tests');
  });
});

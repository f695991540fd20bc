import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  answersValue,
  NO_ANSWER_YET,
  nextPromptStep,
  optionValue,
  type Prompt,
  type PromptAnswer,
  type PromptDecision,
  type PromptProgress,
  type PromptQuestion,
} from '../../core/prompt.ts';
import { customId, parseCustomId } from '../../core/prompt-answer.ts';

const does = (action: string, ...values: string[]): PromptAnswer => ({ action, values, text: '' });
const writes = (text: string, action = 'text', ...values: string[]): PromptAnswer => ({ action, values, text });

const database: PromptQuestion = {
  question: 'Which database?',
  header: 'Database',
  multiSelect: false,
  options: ['SQLite', 'Postgres', 'DuckDB'].map((label) => ({ label, description: '' })),
};
const extras: PromptQuestion = {
  question: 'Which extras?',
  header: 'Extras',
  multiSelect: true,
  options: ['Cache', 'Queue', 'Search, full text'].map((label) => ({ label, description: '' })),
};

/** The result of several answers: the decision, or why there is none. */
function play(prompt: Prompt, ...answers: readonly PromptAnswer[]): PromptDecision | PromptProgress | string {
  let progress: PromptProgress = NO_ANSWER_YET;
  for (const answer of answers) {
    const next = nextPromptStep(prompt, progress, answer);
    if (next.kind === 'decided') return next.decision;
    if (next.kind === 'no answer') return next.because;
    progress = next.progress;
  }
  return progress;
}

const ALLOW = { kind: 'allow', always: false };
const ALWAYS = { kind: 'allow', always: true };
const deny = (reason: string) => ({ kind: 'deny', reason });
const NOT_PERMISSION = 'that is not an answer to a permission request';
const NOT_PLAN = 'that is not an answer to a plan';

describe('a permission', () => {
  it.each<[string, PromptAnswer, unknown]>([
    ['the button Allow', does('allow'), ALLOW],
    ['the button Always allow', does('always'), ALWAYS],
    ['the button Deny', does('deny'), deny('')],
    ['a reason in the field', writes('not now', 'reason'), deny('not now')],
    ['"allow"', writes('allow'), ALLOW],
    ['"yes" in any case, with space around it', writes('  YeS\n'), ALLOW],
    ['"Allow"', writes('ALLOW'), ALLOW],
    ['"yes please" denies', writes('yes please'), deny('yes please')],
    ['"yes." denies', writes('yes.'), deny('yes.')],
    ['"y" denies', writes('y'), deny('y')],
    ['"1" denies, because a number is not consent', writes('1'), deny('1')],
    ['"always" denies', writes('always'), deny('always')],
    ['"no"', writes('no'), deny('no')],
    ['"allow" in the field for a reason is a reason', writes('allow', 'reason'), deny('allow')],
    ['an empty text', writes('  '), NOT_PERMISSION],
    ['an empty reason', writes('', 'reason'), NOT_PERMISSION],
    ['the button of a plan', does('approve'), NOT_PERMISSION],
    ['an option of a question', does('pick', '1.1'), NOT_PERMISSION],
    ['an unknown action', writes('yes', 'constructor'), NOT_PERMISSION],
  ])('is decided by its rules: %s', (_, answer, expected) => {
    expect(play({ kind: 'permission', canAlways: true }, answer)).toEqual(expected);
  });

  it('is never always allowed if that was not offered', () => {
    expect(play({ kind: 'permission', canAlways: false }, does('always'))).toBe(NOT_PERMISSION);
  });

  it('is allowed by no text except the two words', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        const next = nextPromptStep({ kind: 'permission', canAlways: true }, NO_ANSWER_YET, writes(text));
        const allowed = next.kind === 'decided' && next.decision.kind === 'allow';
        expect(allowed).toBe(['allow', 'yes'].includes(text.trim().toLowerCase()));
      }),
      { examples: [['yes'], ['ALLOW '], ['ÿes'], ['yeſ'], ['yes\u200b']] },
    );
  });
});

describe('a plan', () => {
  it.each<[string, PromptAnswer, unknown]>([
    ['the button Approve', does('approve'), ALLOW],
    ['"Approve"', writes('Approve '), ALLOW],
    ['"yes" is feedback', writes('yes'), deny('yes')],
    ['any other text is feedback', writes('smaller steps'), deny('smaller steps')],
    ['feedback in the field', writes('approve', 'reason'), deny('approve')],
    ['nothing written', writes(' '), NOT_PLAN],
    ['the button of a permission', does('allow'), NOT_PLAN],
  ])('is decided by its rules: %s', (_, answer, expected) => {
    expect(play({ kind: 'plan' }, answer)).toEqual(expected);
  });
});

describe('a question', () => {
  const answered = (...answers: string[]) => ({ kind: 'answers', answers });
  const NOT_AN_OPTION = 'that is not one of the options';

  it.each<[string, PromptAnswer, unknown]>([
    ['a button', does('pick', '1.2'), answered('Postgres')],
    ['a menu', does('choose', '1.3'), answered('DuckDB')],
    ['a number', writes('2'), answered('Postgres')],
    ['a label in any case', writes(' postgres '), answered('Postgres')],
    ['free text', writes('I want 1 MySQL'), answered('I want 1 MySQL')],
    ['words in the field', writes('2', 'other', '1.0'), answered('2')],
    ['a number too high is words', writes('4'), answered('4')],
    ['zero is words', writes('0'), answered('0')],
    ['two options where one may be chosen', does('choose', '1.1', '1.2'), NOT_AN_OPTION],
    ['an option that does not exist', does('pick', '1.4'), NOT_AN_OPTION],
    ['option zero', does('pick', '1.0'), NOT_AN_OPTION],
    ['an option of another question', does('pick', '2.1'), NOT_AN_OPTION],
    ['a menu without a choice', does('choose'), NOT_AN_OPTION],
    ['the field of another question', writes('x', 'other', '2.0'), NOT_AN_OPTION],
    ['an empty field', writes(' ', 'other', '1.0'), NOT_AN_OPTION],
    ['the button of a permission', does('allow'), NOT_AN_OPTION],
  ])('is decided by its rules: %s', (_, answer, expected) => {
    expect(play({ kind: 'question', questions: [database] }, answer)).toEqual(expected);
  });

  it.each<[string, PromptAnswer, unknown]>([
    ['a menu', does('choose', '1.1', '1.2'), answered('Cache, Queue')],
    ['the same twice', does('choose', '1.1', '1.1'), answered('Cache')],
    ['numbers', writes('1, 2'), answered('Cache, Queue')],
    ['numbers and labels', writes('2,cache'), answered('Queue, Cache')],
    ['the same twice, in words', writes('1,cache'), answered('Cache')],
    ['a label with a comma', writes('search, FULL text'), answered('Search, full text')],
    ['an unknown option', writes('1, 9'), answered('1, 9')],
  ])('with several answers: %s', (_, answer, expected) => {
    expect(play({ kind: 'question', questions: [extras] }, answer)).toEqual(expected);
  });

  describe('among several', () => {
    const both: Prompt = { kind: 'question', questions: [database, extras] };
    const full = [does('pick', '1.1'), does('choose', '2.1', '2.2')];

    it('is followed by the next one, and all are submitted at the end', () => {
      expect(play(both, full[0] as PromptAnswer)).toEqual({ chosen: ['SQLite'] });
      expect(play(both, ...full)).toEqual({ chosen: ['SQLite', 'Cache, Queue'] });
      expect(play(both, ...full, does('submit', answersValue(['SQLite', 'Cache, Queue'])))).toEqual(
        answered('SQLite', 'Cache, Queue'),
      );
    });

    it.each(['submit', 'Submit', 'yes'])('accepts "%s" as Submit', (text) => {
      expect(play(both, ...full, writes(text))).toEqual(answered('SQLite', 'Cache, Queue'));
    });

    it('accepts no other text as Submit', () => {
      const because = 'all questions are answered: submit or start again';
      expect(play(both, ...full, writes('wait'))).toBe(because);
      expect(play(both, ...full, does('pick', '2.1'))).toBe(because);
    });

    it('are not submitted by the text of a form that was opened for one of them', () => {
      const because = 'all questions are answered: submit or start again';
      for (const text of ['yes', 'submit']) expect(play(both, ...full, writes(text, 'other', '2.0'))).toBe(because);
    });

    it('cannot be submitted half answered', () => {
      expect(play(both, full[0] as PromptAnswer, does('submit'))).toBe(NOT_AN_OPTION);
    });

    it('are submitted only by the button of a message that showed exactly them', () => {
      const because = 'the message showed other answers';
      for (const shown of [['SQLite', 'Cache'], ['SQLite', 'Queue, Cache'], ['SQLite'], []])
        expect(play(both, ...full, does('submit', answersValue(shown)))).toBe(because);
      expect(play(both, ...full, does('submit'))).toBe(because);
    });

    it('starts again on request', () => {
      expect(play(both, ...full, does('again'))).toEqual(NO_ANSWER_YET);
      expect(play(both, full[0] as PromptAnswer, does('again'), does('pick', '1.2'))).toEqual({ chosen: ['Postgres'] });
    });

    it('is not answered by a second tap on the previous one', () => {
      expect(play(both, does('pick', '1.1'), does('pick', '1.1'))).toBe(NOT_AN_OPTION);
      expect(play(both, does('pick', '1.1'), writes('x', 'other', '1.0'))).toBe(NOT_AN_OPTION);
    });
  });

  it('is decided with one answer per question, whatever was tapped before', () => {
    const questions = [database, extras, database];
    const action = fc.record({
      action: fc.constantFrom('pick', 'choose', 'other', 'text', 'again', 'submit', 'allow', 'x'),
      values: fc.array(
        fc.tuple(fc.nat(4), fc.nat(4)).map(([question, option]) => optionValue(question, option)),
        { maxLength: 3 },
      ),
      text: fc.constantFrom('', '1', '2', 'cache', 'own words', 'submit', '1, 2'),
    });
    fc.assert(
      fc.property(fc.array(action, { maxLength: 30 }), (answers) => {
        let progress = NO_ANSWER_YET;
        for (const answer of answers) {
          const next = nextPromptStep({ kind: 'question', questions }, progress, answer);
          if (next.kind === 'decided') {
            expect(next.decision.kind === 'answers' && next.decision.answers).toHaveLength(3);
            return;
          }
          if (next.kind === 'goes on') progress = next.progress;
          expect(progress.chosen.length).toBeLessThanOrEqual(3);
        }
      }),
    );
  });
});

describe('the id of a button', () => {
  const id = 'AbCdEfGhIjKlMnOpQr-_12AbCdEfGhIj';

  it.each([
    ['allow', undefined, { action: 'allow', asksForText: false, value: undefined }],
    ['~reason', undefined, { action: 'reason', asksForText: true, value: undefined }],
    ['pick', '1.25', { action: 'pick', asksForText: false, value: '1.25' }],
    ['submit', answersValue(['SQLite']), { action: 'submit', asksForText: false, value: answersValue(['SQLite']) }],
    ['~other', '3.0', { action: 'other', asksForText: true, value: '3.0' }],
  ])('%s %s is parsed back to the same value', (action, value, expected) => {
    const text = customId(id, action, value);
    expect(text.length).toBeLessThanOrEqual(100);
    expect(parseCustomId(text)).toEqual({ prompt: id, ...expected });
  });

  it.each([
    '',
    'key:Escape',
    'retry:1',
    `p:${id}`,
    `p:${id}:`,
    `p:${id}:allow:x`,
    `p:${id}:allow:1`,
    `p:${id}:ALLOW`,
    `p:${id}:allow\n`,
    `p:${id}x:allow`,
    `p:../../../../../../../../etc/passw:allow`,
    `p:${id.slice(0, 21)}:allow`,
    ` p:${id}:allow`,
  ])('is not %j', (text) => {
    expect(parseCustomId(text)).toBeUndefined();
  });
});

it.each([
  ['2', ['2', '1', '3'], 'no answer'],
  ['1', ['10', '1'], 'no answer'],
  ['3', ['2', '1', '3'], 'decided'],
  ['10', ['10', '1'], 'decided'],
  ['2', ['one', 'two'], 'decided'],
])('the text "%s" for the options %j is clear, or no answer', (text, labels, expected) => {
  const options = labels.map((label) => ({ label, description: '' }));
  const prompt = {
    kind: 'question',
    questions: [{ question: 'How many?', header: 'Q', multiSelect: false, options }],
  } as const;
  expect(nextPromptStep(prompt, NO_ANSWER_YET, { action: 'text', text, values: [] }).kind).toBe(expected);
});

describe('a question with only its options', () => {
  const asked = { question: 'Deploy?', header: 'Question', multiSelect: false, onlyOptions: true };
  const options = ['yes', 'no'].map((label) => ({ label, description: '' }));
  const prompt = { kind: 'question', questions: [{ ...asked, options }] } as const;
  const step = (action: string, text: string, values: readonly string[] = []) =>
    nextPromptStep(prompt, NO_ANSWER_YET, { action, text, values }).kind;

  it('takes a label or a number, and no other words', () => {
    expect([step('text', 'No'), step('text', '1'), step('pick', '', ['1.2'])]).toEqual([
      'decided',
      'decided',
      'decided',
    ]);
    expect([step('text', 'maybe'), step('other', 'maybe', ['1.0'])]).toEqual(['no answer', 'no answer']);
  });
});

import { describe, expect, it } from 'vitest';
import { NO_ANSWER_YET, nextPromptStep, optionValue, type Prompt } from '../../core/prompt.ts';
import {
  isOwnMessage,
  looksLikeAnswer,
  type ShownPrompt,
  textMeaning,
  type WrittenText,
} from '../../core/prompt-answer.ts';

const shown = (messageId: string, labels: readonly string[] = []): ShownPrompt => ({
  id: `prompt of ${messageId}`,
  messageId,
  question: 0,
  labels,
});
const A = shown('100');
const B = shown('200');
/** As ids: three seconds after A and B, and a moment before. */
const [LATER, SUDDEN] = [String(3_001n << 22n), String(2_999n << 22n)] as const;

describe('a text in a thread:', () => {
  const meaning = (written: Partial<WrittenText>, open: readonly ShownPrompt[]) => {
    const whole = {
      id: LATER,
      text: 'yes',
      repliedTo: undefined,
      live: true,
      afterAnother: false,
      changed: [],
      ...written,
    };
    const meant = textMeaning(whole, open);
    return meant.kind === 'answer' ? meant.prompt.messageId : meant.kind;
  };

  it.each<[string, Partial<WrittenText>, readonly ShownPrompt[], string]>([
    ['answers the only prompt', {}, [A], '100'],
    ['denies it with any words', { text: 'not like this' }, [A], '100'],
    ['so early that nobody has read the prompt', { id: SUDDEN }, [A], 'unclear'],
    ['as early, to the second question of a message', { id: SUDDEN }, [{ ...A, question: 2 }], '100'],
    ['as early, in other words', { id: SUDDEN, text: 'not like this' }, [A], '100'],
    ['as early, as a reply', { id: SUDDEN, repliedTo: '100' }, [A], '100'],
    ['is a message while nothing is open', {}, [], 'message'],
    ['that is older than the prompt', { id: '99' }, [A], 'unclear'],
    ['with the id of the prompt itself', { id: '100' }, [A], 'unclear'],
    ['whose id is shorter, and so older', { id: '99', text: 'no' }, [A], 'unclear'],
    ['that was not received live', { live: false }, [A], 'unclear'],
    ['that was not received live, as a reply', { live: false, repliedTo: '100' }, [A], 'unclear'],
    [
      'that was not received live and is not worded as an answer',
      { live: false, text: 'run the tests' },
      [A],
      'message',
    ],
    ['that is older and not worded as an answer', { id: '99', text: 'run the tests' }, [A], 'message'],
    ['just after another prompt ended', { afterAnother: true }, [A], 'unclear'],
    ['just after another prompt ended, in other words', { afterAnother: true, text: 'not like this' }, [A], '100'],
    ['just after another prompt ended, as a reply', { afterAnother: true, repliedTo: '100' }, [A], '100'],
    ['just after its question has changed', { changed: [A.id] }, [A], 'unclear'],
    ['just after its question has changed, in other words', { changed: [A.id], text: 'the red one' }, [A], 'unclear'],
    ['just after its question has changed, as a reply', { changed: [A.id], repliedTo: '100' }, [A, B], 'unclear'],
    ['just after the question of another one has changed', { changed: [B.id], repliedTo: '100' }, [A, B], '100'],
    ['while two are open', {}, [A, B], 'unclear'],
    ['while another is being posted', {}, [A, shown('')], 'unclear'],
    ['while the only one is being posted', {}, [shown('')], 'unclear'],
    ['replying while another is being posted', { repliedTo: '100' }, [A, shown('')], '100'],
    ['while two are open, not worded as an answer', { text: 'not like this' }, [A, B], 'message'],
    ['replying to the first of two', { repliedTo: '100' }, [A, B], '100'],
    ['replying to the second of two', { repliedTo: '200' }, [A, B], '200'],
    ['replying to one that is newer than itself', { id: '150', repliedTo: '200' }, [A, B], 'unclear'],
    ['replying to a prompt that is over', { repliedTo: '100' }, [B], 'unclear'],
    ['replying to something else', { repliedTo: '50' }, [A], 'unclear'],
    ['replying to something else, not worded as an answer', { repliedTo: '50', text: 'why?' }, [A], 'message'],
  ])('%s', (_, written, open, expected) => {
    expect(meaning(written, open)).toBe(expected);
  });
});

describe('an answer', () => {
  const open = [shown('1', ['1. SQLite', '2. Postgres, managed', 'Other…'])];

  it.each([
    'yes',
    'YES',
    ' Allow ',
    'ok.',
    'yes!',
    'n',
    'no',
    'deny',
    'approve',
    'submit',
    '2',
    '1, 3',
    '2.',
    'sqlite',
    '1. SQLite',
    'Postgres, managed',
    'yes, 2',
  ])('is recognised in %j', (text) => {
    expect(looksLikeAnswer(text, open)).toBe(true);
    expect(looksLikeAnswer(text, [])).toBe(false);
  });

  it.each(['yes, but first run the tests', 'mysql', '1 more thing', '123', 'no way around it', ','])(
    'is not %j',
    (text) => {
      expect(looksLikeAnswer(text, open)).toBe(false);
    },
  );
});

describe('the question that a text was written for', () => {
  const question = { question: '?', header: '', multiSelect: false, options: [] };
  const prompt: Prompt = { kind: 'question', questions: [question, question] };
  const write = (at: number, chosen: readonly string[]) =>
    nextPromptStep(prompt, { chosen }, { action: 'text', values: [optionValue(at, 0)], text: 'yes' }).kind;

  it('is the only one it answers', () => {
    expect(write(1, NO_ANSWER_YET.chosen)).toBe('goes on');
    expect(write(1, ['a'])).toBe('no answer');
    expect(write(2, ['a'])).toBe('goes on');
    expect(write(2, ['a', 'b'])).toBe('no answer');
    expect(write(0, ['a', 'b'])).toBe('decided');
  });
});

describe('a valid answer', () => {
  it('is on the message and in the thread of its prompt', () => {
    const own = { thread: '1', message: '2' };
    expect(isOwnMessage({ thread: '1', message: '2' }, own)).toBe(true);
    expect(isOwnMessage({ thread: '1', message: '3' }, own)).toBe(false);
    expect(isOwnMessage({ thread: '3', message: '2' }, own)).toBe(false);
    expect(isOwnMessage({ thread: '', message: '' }, own)).toBe(false);
  });
});

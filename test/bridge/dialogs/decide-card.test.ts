import { describe, expect, it } from 'vitest';
import { decideCard } from '../../../bridge/dialogs/decide-card.ts';

type Facts = Parameters<typeof decideCard>[0];

const model: Facts['dialog'] = { which: 'model', form: 'choice', title: 'Select model', print: 'a' };
const permission: Facts['dialog'] = { which: 'permission', form: 'choice', title: 'Bash command', print: 'b' };
const usage: Facts['dialog'] = { which: 'cost', form: 'panel', title: 'Usage', print: 'c' };
const card = { print: 'a', which: 'model', title: 'Select model', message: '1', answer: undefined };
const facts: Facts = {
  dialog: model,
  card: undefined,
  isPrompted: false,
  isHeard: true,
  seenForMs: 0,
  isInTheWay: false,
};

describe('a dialog in a pane', () => {
  it.each<[string, Partial<Facts>, string]>([
    ['gets a card', {}, 'post'],
    ['keeps its card', { card }, 'nothing'],
    ['is posted again if nobody knows whether it was', { card: { ...card, message: '' } }, 'post'],
    ['that was scrolled changes its card', { card: { ...card, print: 'z' } }, 'edit'],
    [
      'after the answered one is another',
      { card: { ...card, print: 'z', answer: { label: 'x', by: 'me' } } },
      'replace',
    ],
    ['with another title is another', { card: { ...card, print: 'z', title: 'Theme' } }, 'replace'],
    [
      'that asks about another command of the same tool gets a card of its own',
      { dialog: permission, isHeard: false, card: { ...card, which: 'permission', title: 'Bash command' } },
      'replace',
    ],
    ['that a hook asks about waits for the prompt', { dialog: permission }, 'wait'],
    ['that no prompt stands for gets a card', { dialog: permission, seenForMs: 3_001 }, 'post'],
    ['of an agent without hooks gets one at once', { dialog: permission, isHeard: false }, 'post'],
    ['with a prompt gets none', { dialog: permission, isPrompted: true, seenForMs: 9_000 }, 'nothing'],
    ['whose prompt came late loses its card', { dialog: permission, isPrompted: true, card }, 'close'],
    ['that only shows something stays open', { dialog: usage }, 'nothing'],
    ['that only shows something is closed for a message or a command', { dialog: usage, isInTheWay: true }, 'dismiss'],
    ['that only shows something ends the card before it', { dialog: usage, card }, 'close'],
    ['that asks is never closed for a message', { isInTheWay: true, card }, 'nothing'],
  ])('%s', (_, some, step) => {
    expect(decideCard({ ...facts, ...some }).do).toBe(step);
  });
});

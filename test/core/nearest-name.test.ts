// A mistyped name and the one that was probably meant.

import { expect, it } from 'vitest';
import { nearestName } from '../../core/nearest-name.ts';

const NAMES = ['new', 'kill', 'sessions', 'screen', 'stop', 'status', 'sh', 'help'];

it.each([
  ['sesions', 'sessions'],
  ['SESSIONS', 'sessions'],
  ['sess', 'sessions'],
  ['scren', 'screen'],
  ['sreen', 'screen'],
  ['hlep', 'help'],
  ['stats', 'status'],
  ['nwe', 'new'],
  ['echo', undefined],
  ['rm', undefined],
  ['', undefined],
  ['s', undefined],
  ['x'.repeat(10_000), undefined],
])('%s becomes %s', (word, wanted) => {
  expect(nearestName(word, NAMES)).toBe(wanted);
});

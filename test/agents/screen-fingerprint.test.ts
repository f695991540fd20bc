import { expect, it } from 'vitest';
import { driverOf } from '../../agents/list.ts';
import { screenFingerprint } from '../../agents/screen-fingerprint.ts';
import { type RecordedAgent, type RecordedScreen, screensOf, withoutColours } from '../support/recorded-screens.ts';

function printOf(agent: RecordedAgent, one: RecordedScreen): string {
  const { cursorX = 0, cursorY = 0, cursorShown = true, width = 0, height = 0, title = '' } = one.facts;
  const pane = { serverPid: 1, panePid: 2, command: agent, dead: false, cursor: { x: cursorX, y: cursorY } };
  const view = {
    ...pane,
    cursorShown,
    width,
    height,
    title,
    text: withoutColours(one),
    ansi: one.ansi.replace(/\n$/, ''),
  };
  return screenFingerprint('%1', view, driverOf(agent).screen);
}

it('a key button under a list of OpenCode does not work under another list', () => {
  const lists = screensOf('opencode').recorded.filter(({ path }) => path.includes('120x40/dialog-list'));
  expect(lists.length).toBeGreaterThan(10);
  expect(new Set(lists.map((one) => printOf('opencode', one))).size).toBe(lists.length);
});

it('a key button under a list of OpenCode does not work if another entry is highlighted', () => {
  const list = screensOf('opencode').find('dialog-list-timeline');
  const rows = list.ansi.split('\n');
  const first = rows.findIndex((row) => row.includes('fail 429') && row.includes('AM'));
  // Only colours differ.
  const [plain, marked] = ['\u001b[48;5;233m', '\u001b[48;5;216m'];
  const swapped = rows.map((row, at) => (at === first ? row.replaceAll(marked, plain) : row));
  expect(swapped).not.toEqual(rows);
  expect(printOf('opencode', { ...list, ansi: swapped.join('\n') })).not.toBe(printOf('opencode', list));
});

it('a key for a permission of OpenCode is not for the same one with another highlighted option', () => {
  const { find } = screensOf('opencode');
  const [once, reject] = [find('dialog-permission-shell'), find('dialog-permission-on-reject')];
  expect(withoutColours(reject)).toBe(withoutColours(once)); // only colours differ
  expect(printOf('opencode', reject)).not.toBe(printOf('opencode', once));
});

it('a key button under a question of Claude Code does not work if the same options are about something else', () => {
  const rewind = screensOf('claude').find('dialog-rewind-restore', '80x24');
  const about = (from: string, to: string) => printOf('claude', { ...rewind, ansi: rewind.ansi.replaceAll(from, to) });
  expect(about('third word', 'first word')).not.toBe(printOf('claude', rewind));
  expect(about('5s ago', '9s ago')).toBe(printOf('claude', rewind));
});

it('a key button under a dialog of Codex works while the dot above it blinks', () => {
  const tool = screensOf('codex').find('dialog-permission-tool');
  const blinks = tool.ansi.replace('• \u001b[1mCalling', '◦ \u001b[1mCalling');
  expect(blinks).not.toBe(tool.ansi);
  expect(printOf('codex', { ...tool, ansi: blinks })).toBe(printOf('codex', tool));
});

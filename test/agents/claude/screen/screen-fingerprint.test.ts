import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { claude } from '../../../../agents/claude/driver.ts';
import { parseAnsi } from '../../../../agents/claude/screen/box.ts';
import { dialogPatterns, type PaneView, screenFingerprint } from '../../../../agents/screen-fingerprint.ts';

const CORPUS = join(import.meta.dirname, '../../../fixtures', 'screens', '2.1.197', '120x40');
const FACTS = readFileSync(join(CORPUS, 'facts.tsv'), 'utf8')
  .trim()
  .split('\n')
  .map((line) => line.split('\t'));

function view(name: string, change: (ansi: string) => string = (ansi) => ansi): PaneView {
  const [, x, y, width, height, dead, , command = '', title = ''] = FACTS.find(([one]) => one === name) ?? [];
  const ansi = change(readFileSync(join(CORPUS, `${name}.ansi`), 'utf8').replace(/\n$/, ''));
  return {
    serverPid: 1,
    panePid: 2,
    command,
    title,
    ansi,
    dead: dead === '1',
    text: parseAnsi(`${ansi}\n`)
      .map((row) => row.text)
      .join('\n'),
    cursor: { x: Number(x), y: Number(y) },
    width: Number(width),
    height: Number(height),
  };
}

const print = (name: string, change?: (ansi: string) => string) =>
  screenFingerprint('%1', view(name, change), claude.screen);

describe('the fingerprint of a screen', () => {
  const names = FACTS.map(([name = '']) => name);

  it.each(names)('ignores spaces at line ends: %s', (name) => {
    const padded = (ansi: string) =>
      ansi
        .split('\n')
        .map((line) => `${line}   `)
        .join('\n');
    expect(print(name, padded)).toBe(print(name));
  });

  it('differs between any two dialogs that wait for an answer', () => {
    const dialogs = names.filter((name) => /^dialog-(permission-|plan|question|trust)/.test(name));
    const prints = dialogs.map((name) => print(name));
    expect(new Set(prints).size).toBe(dialogs.length);
    expect(prints).not.toContain(print('empty-fresh'));
  });

  it.each([
    ['the command', 'dialog-permission-bash', 'curl http', 'rm -rf /'],
    ['the file', 'dialog-permission-write', 'written-by-the-lab', 'something-else-all'],
    ['the plan above its dialog', 'dialog-plan', 'Here is my plan', 'Here is another'],
  ])('differs if %s differs', (_, name, from, to) => {
    expect(view(name).text).toContain(from);
    expect(print(name, (ansi) => ansi.replaceAll(from, to))).not.toBe(print(name));
  });

  it('differs if another option is selected', () => {
    const moved = (ansi: string) => ansi.replace(/❯( *)(.*?)1\./, ' $1$21.').replace('  2.', '❯ 2.');
    expect(print('dialog-permission-bash', moved)).not.toBe(print('dialog-permission-bash'));
  });

  it('is the same for every empty box, busy or idle, whatever the conversation shows', () => {
    const boxes = ['empty-fresh', 'empty-after-reply', 'busy-status-line'];
    expect(boxes.map((name) => print(name))).toEqual(boxes.map(() => print('empty-fresh')));
    // Its conversation contains lines of a dialog that might be a real one, so everything counts.
    expect(print('busy-empty-box')).not.toBe(print('empty-fresh'));
    expect(print('draft-one-line')).not.toBe(print('empty-fresh'));
    expect(print('draft-one-line')).not.toBe(print('draft-wrapped'));
  });

  it('ignores clocks, durations and spinners', () => {
    const at = (clock: string, spinner: string) => (ansi: string) =>
      `${spinner} Working… ${clock} (${clock.length}s) 4%\n  ⎿  Running… (${clock.length}s)\n${ansi}`;
    for (const name of ['dialog-permission-bash', 'dialog-plan', 'busy-empty-box'])
      expect(print(name, at('9:59', '✻')), name).toBe(print(name, at('12:00:01', '⠋')));
  });

  it.each([
    ['95%', '1%'],
    ['10m', '500m'],
    ['12:30', '23:59'],
    ['5 s', '50 s'],
    ['· ✻', '✻ ·'],
  ])('counts every character in a dialog and in the plan above it: %s is not %s', (one, other) => {
    const asks = (what: string) => (ansi: string) => ansi.replaceAll('curl http', `resize ${what}`);
    const plans = (what: string) => (ansi: string) => ansi.replaceAll('Here is my plan', `Wait… and keep ${what}`);
    const [bash, plan] = ['dialog-permission-bash', 'dialog-plan'];
    expect(print(bash, asks(one))).not.toBe(print(bash, asks(other)));
    expect(print(plan, plans(one))).not.toBe(print(plan, plans(other)));
    // A dialog above a box that looks ready.
    const above = (what: string) => (ansi: string) =>
      `   resize ${what}\n Esc to cancel\n${ansi.split('\n').slice(2).join('\n')}`;
    expect(print('empty-fresh', above(one))).not.toBe(print('empty-fresh', above(other)));
  });

  it('belongs to one program in one pane of one server', () => {
    const seen = view('dialog-permission-bash');
    const others = [
      screenFingerprint('%2', seen, claude.screen),
      screenFingerprint('%1', { ...seen, serverPid: 9 }, claude.screen),
      screenFingerprint('%1', { ...seen, panePid: 9 }, claude.screen),
      screenFingerprint('%1', { ...seen, command: 'sh' }, claude.screen),
    ];
    expect(others).not.toContain(screenFingerprint('%1', seen, claude.screen));
    expect(screenFingerprint('%1', seen, claude.screen)).toMatch(/^[\w-]{16}$/);
  });
});

describe('the patterns of a dialog', () => {
  it('match its own lines and contain nothing that tmux or a shell would interpret', () => {
    const seen = view('dialog-permission-bash');
    const patterns = dialogPatterns(seen, claude.screen);
    expect(patterns.length).toBeGreaterThan(3);
    for (const pattern of patterns) {
      expect(pattern).toMatch(/^\^(?:[\w ./=-]|\[\^ -~\]\*)+\$$/);
      expect(seen.text).toMatch(new RegExp(pattern, 'm'));
    }
    expect(dialogPatterns(view('empty-fresh'), claude.screen)).toEqual([]);
  });
});

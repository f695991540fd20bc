import { expect, it } from 'vitest';
import type { AgentDialog } from '../../../agents/screen.ts';
import { screensOf } from '../../support/recorded-screens.ts';

const { recorded, find, read, readNamed } = screensOf('opencode');

it.each(recorded)('a screen of OpenCode is never empty without the cursor: $path', (one) => {
  const { cursorX: _, cursorY: __, ...facts } = one.facts;
  expect(read(one.ansi, facts).kind).not.toBe('empty');
  expect(read(one.ansi, { ...one.facts, cursorShown: false }).kind).not.toBe('empty');
});

it('a box does not count behind a list that floats over the page', () => {
  for (const one of recorded.filter(({ name }) => name.startsWith('dialog-list')))
    expect(one.ansi, one.path).toContain('╹'); // the box is still visible
});

it('a box is not read from a screen that is cut', () => {
  const { ansi, facts } = find('empty-fresh');
  const lines = ansi.split('\n');
  expect(read(lines.slice(3).join('\n'), facts)).toEqual({ kind: 'unknown' });
});

it('a box is not imitated by text of the agent', () => {
  const { ansi, facts } = find('dialog-permission-shell');
  const box = ['  ┃', '  ┃', '  ┃', '  ┃  Build · Model', `  ╹${'▀'.repeat(75)}`];
  const lines = ansi.split('\n').map((line, at) => box[at - 2] ?? line);
  for (let cursorY = 0; cursorY < 10; cursorY++)
    expect(read(lines.join('\n'), { ...facts, cursorX: 5, cursorY, cursorShown: false }).kind).toBe('dialog');
});

it('a prompt is not covered by a line of the agent that looks like the title of a list', () => {
  const { ansi, facts } = find('dialog-permission-shell');
  const lines = ansi.split('\n').with(2, `     Continue with the tests?${' '.repeat(20)}esc`);
  const shown = read(lines.join('\n'), facts);
  expect(shown).toMatchObject({ kind: 'dialog', which: 'permission' });
  expect(JSON.stringify(shown)).toContain('curl http://127.0.0.1:1/');
});

it('a prompt keeps indents and empty lines of a command', () => {
  const { ansi, facts } = find('dialog-permission-shell');
  const rows = ansi.split('\n');
  const command = rows.findIndex((row) => /┃.*\$ .*curl/.test(row));
  const script = ['  ┃  if ready:', '  ┃', '  ┃      remove()'];
  const all = [...rows.slice(0, command + 1), ...script, ...rows.slice(command + 1)];
  const { text } = read(all.slice(all.length - rows.length).join('\n'), facts) as AgentDialog;
  expect(text.slice(-3)).toEqual(['if ready:', '', '    remove()']);
});

it('a prompt has no title if a part of what is to be allowed may be hidden', () => {
  const { ansi, facts } = find('dialog-permission-shell');
  const rows = ansi.split('\n');
  const command = rows.findIndex((row) => /┃.*\$ .*curl/.test(row));
  const longer = (more: number) => {
    const lines = Array.from({ length: more }, (_, at) => `  ┃  echo line ${at + 1}`);
    const all = [...rows.slice(0, command + 1), ...lines, ...rows.slice(command + 1)];
    return read(all.slice(all.length - rows.length).join('\n'), facts);
  };
  expect(longer(5)).toMatchObject({ which: 'permission', title: 'Permission required' });
  // OpenCode shows 7 lines, also of a command with a hundred.
  expect(longer(6)).toMatchObject({ which: 'permission', title: '' });
});

it('a prompt has no title if the screen begins with it: its own title may be above', () => {
  const { ansi, facts } = find('dialog-permission-shell');
  const rows = ansi.split('\n');
  const title = rows.findIndex((row) => row.includes('Permission required'));
  const lines = rows.slice(title);
  const shown = read(lines.join('\n'), { ...facts, height: lines.length - 1 });
  expect(shown).toMatchObject({ which: 'permission', title: '' });
});

it('a list has its entries, and the highlighted one is marked', () => {
  for (const size of ['80x24', '120x40', '200x50'])
    expect(readNamed('dialog-list-agents', size)).toMatchObject({
      title: 'Select agent',
      text: ['  Search', '❯ ● build native', '  plan native'],
    });
});

it('a title does not begin with what is beside the list', () => {
  expect(readNamed('dialog-list-export', '80x24')).toMatchObject({ title: 'Export Options' });
});

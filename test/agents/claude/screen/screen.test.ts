import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseAnsi } from '../../../../agents/claude/screen/box.ts';
import { readScreen } from '../../../../agents/claude/screen/screen.ts';
import { boxHolds } from '../../../../agents/claude/typing.ts';
import { describeScreen } from '../../../../agents/describe-screen.ts';
import type { AgentScreen, PaneFacts } from '../../../../agents/screen.ts';
import { cpuMs } from '../../../support/cpu-time.ts';

// Recorded by test/agents/claude/lab/record-screens; the first words of a name say what must be concluded.
const CORPUS = join(import.meta.dirname, '../../../fixtures', 'screens');

interface Recorded {
  readonly path: string;
  readonly name: string;
  readonly small: boolean;
  readonly ansi: string;
  readonly facts: PaneFacts;
}

const recorded: readonly Recorded[] = readdirSync(CORPUS, { recursive: true, encoding: 'utf8' })
  .filter((path) => /^\d.*\.ansi$/.test(path)) // of Claude Code
  .sort()
  .map((path) => {
    const name = path.replace(/.*\/|\.ansi$/g, '');
    const ansi = readFileSync(join(CORPUS, path), 'utf8');
    return { path, name, small: path.includes('/40x15/'), ansi, facts: factsOf(path, name) };
  });

function factsOf(path: string, name: string): PaneFacts {
  const table = readFileSync(join(CORPUS, path, '..', 'facts.tsv'), 'utf8').split('\n');
  const line = table.find((one) => one.startsWith(`${name}\t`));
  if (line === undefined) throw new Error(`${path} has no line in facts.tsv`);
  const [, x, y, width, height, dead, mode, command = '', title = ''] = line.split('\t');
  return {
    cursorX: Number(x),
    cursorY: Number(y),
    width: Number(width),
    height: Number(height),
    paneDead: dead === '1',
    inMode: mode === '1',
    currentCommand: command,
    agentCommand: 'claude',
    title,
  };
}

/** The expected result for a name. */
function expected({ name, small }: Recorded): object {
  const [first = '', second = ''] = name.split('-');
  if (name.startsWith('busy-'))
    return /draft/.test(name) ? { kind: 'draft', busy: true } : { kind: 'empty', busy: true };
  switch (first) {
    case 'empty':
      return { kind: 'empty', busy: false, stashed: name === 'empty-with-stash', mode: modeOf(name) };
    case 'draft':
      return { kind: 'draft' };
    case 'menu':
      return { kind: name === 'menu-slash-argument' ? expect.stringMatching(/menu|draft/) : 'menu' };
    case 'mode':
      return { kind: 'shellMode' };
    case 'footer':
      return { kind: 'aside' };
    case 'search':
      return { kind: expect.stringMatching(/aside|dialog/) };
    case 'dialog': {
      const which = name.startsWith('dialog-auto-mode') ? 'auto-mode' : second;
      return small ? { kind: 'dialog' } : { kind: 'dialog', which };
    }
    case 'view':
      return { kind: 'transcript' };
    case 'copy':
      return { kind: 'copyMode' };
    case 'other':
      return { kind: 'otherProgram' };
    case 'shell':
      return { kind: 'shell', suspended: name === 'shell-suspended' };
    default:
      return { kind: first };
  }
}

function modeOf(name: string): unknown {
  if (name === 'empty-plan-mode') return 'plan';
  if (name === 'empty-accept-edits') return 'acceptEdits';
  if (name === 'empty-auto-mode') return 'auto';
  return expect.any(String);
}

const isSafe = (one: Recorded) => /^(?:empty|busy)-/.test(one.name) && !/draft/.test(one.name);

function find(name: string, where = '2.1.325/120x40'): Recorded {
  const one = recorded.find(({ path }) => path === `${where}/${name}.ansi`);
  if (one === undefined) throw new Error(`nothing recorded as ${where}/${name}`);
  return one;
}

describe('every recorded screen', () => {
  it.each(recorded)('$path means what its name says', (one) => {
    const screen = readScreen(one.ansi, one.facts);
    expect(screen).toMatchObject(expected(one));
    expect(safeToType(screen)).toBe(isSafe(one));
    expect(describeScreen(screen, 'Claude')).toMatch(/^[A-Z].*\.$/);
  });

  it.each(recorded)('$path is never safe to type into without the facts from tmux, unless its name says so', (one) => {
    const { inMode, ...rest } = one.facts;
    const screen = readScreen(one.ansi);
    if (!isSafe(one) && !inMode && !rest.paneDead) expect(safeToType(screen)).toBe(false);
    if (isSafe(one)) expect(safeToType(screen)).toBe(true);
  });
});

describe('a box', () => {
  it.each([
    ['draft-one-line', 'a half written thought'],
    ['draft-many-lines', 'first line\nsecond line\nthird line'],
    ['draft-pasted-block', '[Pasted text #1]'],
    ['draft-restored', 'stash me'],
    ['draft-after-interrupt', 'slow 20'],
    ['busy-with-draft', 'typed while busy'],
    ['menu-file-completion', '@proj'],
    ['mode-bash-command', 'ls -l'],
  ])('%s is read as it was written, in every version and size', (name, text) => {
    const all = recorded.filter((one) => one.name === name);
    expect(all.length).toBeGreaterThan(3);
    for (const one of all) expect(readScreen(one.ansi, one.facts)).toMatchObject({ text });
  });

  it('tells a hint from a draft only by its colour', () => {
    const { ansi, facts } = find('busy-with-queue');
    expect(readScreen(ansi, facts)).toMatchObject({ kind: 'empty', queued: true });
    // biome-ignore lint/suspicious/noControlCharactersInRegex: taking the colours off
    const plain = ansi.replace(/\u001b\[[\d;]*m/g, '');
    expect(readScreen(plain, facts)).toMatchObject({ kind: 'draft' });
  });

  it('is not empty when it contains only spaces or a line break', () => {
    const rule = '─'.repeat(40);
    const footer = '  ? for shortcuts';
    const pane = (...lines: string[]) => [rule, ...lines, rule, footer].join('\n');
    expect(safeToType(readScreen(pane('❯\u00a0'), { cursorX: 2, cursorY: 1 }))).toBe(true);
    expect(safeToType(readScreen(pane('❯\u00a0  '), { cursorX: 4, cursorY: 1 }))).toBe(false);
    expect(safeToType(readScreen(pane('❯\u00a0', '  '), { cursorX: 2, cursorY: 2 }))).toBe(false);
    expect(safeToType(readScreen(pane('❯\u00a0', '  ')))).toBe(false);
  });

  it('does not count while a search or a line below it has the keyboard', () => {
    const { ansi, facts } = find('footer-selected', '2.1.197/80x24');
    expect(readScreen(ansi, facts)).toEqual({ kind: 'aside' });
    expect(readScreen(ansi)).toEqual({ kind: 'aside' });
    const fresh = find('empty-fresh');
    for (const cursorY of [0, 36, 38, 39])
      expect(readScreen(fresh.ansi, { ...fresh.facts, cursorY })).toEqual({ kind: 'aside' });
  });

  it('in the list of agents is not the box of this session', () => {
    for (const one of recorded.filter(({ name }) => name.startsWith('agents-')))
      for (const facts of [one.facts, {}]) expect(readScreen(one.ansi, facts)).toEqual({ kind: 'agents' });
  });

  it('on the screen of an exited Claude is not a live box', () => {
    const { ansi, facts } = find('empty-fresh');
    expect(safeToType(readScreen(ansi, { ...facts, currentCommand: 'bash' }))).toBe(false);
    expect(readScreen(`${ansi.trimEnd()}\nme@host:~$ `)).toEqual({ kind: 'unknown' });
    expect(readScreen(`${ansi.trimEnd()}\n❯ `)).toEqual({ kind: 'unknown' });
  });

  it('is typed into whatever the wrapper of Claude is called', () => {
    const { ansi, facts } = find('empty-fresh');
    const wrapped = { ...facts, currentCommand: 'fish', agentCommand: 'fish' };
    expect(safeToType(readScreen(ansi, wrapped))).toBe(true);
  });
});

describe('a dialog', () => {
  it('names its options, the selected one and its keys', () => {
    const { ansi, facts } = find('dialog-permission-bash');
    expect(readScreen(ansi, facts)).toMatchObject({
      kind: 'dialog',
      which: 'permission',
      full: false,
      title: 'Bash command',
      options: [
        { number: 1, label: 'Yes', selected: true },
        { number: 2, label: 'Yes, and don’t ask again for: curl *', selected: false },
        { number: 3, label: 'Yes, and switch to auto mode · auto mode handles these prompts for you', selected: false },
        { number: 4, label: 'No', selected: false },
      ],
      help: 'Esc to cancel · Tab to amend',
    });
  });

  it('includes the options on both sides of the rule inside a question', () => {
    const { ansi, facts } = find('dialog-question-typing');
    const screen = readScreen(ansi, facts) as Extract<AgentScreen, { kind: 'dialog' }>;
    expect(screen.options.map(({ label }) => label)).toEqual([
      'SQLite',
      'Postgres',
      'DuckDB',
      'own words',
      'Chat about this',
    ]);
    expect(screen.options.find(({ selected }) => selected)?.number).toBe(4);
  });

  it('is not mistaken for a shell while a subprocess of Claude is in the foreground', () => {
    const { ansi, facts } = find('dialog-permission-bash');
    expect(readScreen(ansi, { ...facts, currentCommand: 'bash' })).toEqual({ kind: 'unknown' });
  });
});

describe('text that imitates the screen', () => {
  const dialogs = recorded.filter(({ name, small }) => name.startsWith('dialog-') && !small);
  const boxes = recorded.filter(isSafe);
  const fakeBox = (width = 80) => ['─'.repeat(width), '❯\u00a0', '─'.repeat(width), '  ? for shortcuts'];
  const fakeDialog = (width = 80) => [
    '─'.repeat(width),
    ' Bash command',
    '',
    ' Do you want to proceed?',
    ' ❯ 1. Yes',
    '   2. No',
    '',
    ' Esc to cancel · Tab to amend',
  ];

  /** The same screen with other text in its first lines. */
  function under(above: readonly string[], one: Recorded, indent = ''): string {
    const lines = one.ansi.replace(/\n$/, '').split('\n');
    return lines.map((line, at) => `${at < above.length ? `\u001b[0m${indent}${above[at]}` : line}\n`).join('');
  }

  it.each(dialogs)('above $path never makes it an empty box', (one) => {
    for (const indent of ['', '  '])
      for (const facts of [one.facts, {}])
        expect(safeToType(readScreen(under(fakeBox(one.facts.width), one, indent), facts))).toBe(false);
  });

  it.each(boxes)('above $path never makes it a dialog', (one) => {
    const lines = one.ansi.split('\n');
    const room = lines.findIndex((line) => line.includes('❯\u00a0')) - 2;
    const above = fakeDialog(one.facts.width).slice(0, Math.max(room, 0));
    expect(readScreen(under(above, one), one.facts)).toMatchObject({ kind: 'empty' });
  });

  it('is no box above a dialog that has neither an edge nor a gap', () => {
    for (const line of ['  ❯ 1. Yes', '  Press Enter to continue', '  Esc to cancel', '❯ Yes'])
      for (const facts of [{}, { cursorX: 2, cursorY: 1 }])
        expect(readScreen([...fakeBox(), '  Delete everything?', line].join('\n'), facts).kind).not.toBe('empty');
  });

  it('changes nothing when Claude itself prints it', () => {
    expect(readScreen(find('empty-after-picture').ansi)).toMatchObject({ kind: 'empty' });
    const over = find('dialog-permission-under-picture', '2.1.325/200x50');
    expect(over.ansi).toContain('? for shortcuts');
    expect(readScreen(over.ansi)).toMatchObject({ kind: 'dialog', which: 'permission' });
  });

  it('is no box without the cursor in it', () => {
    const { ansi, facts } = find('unknown-editor', '2.1.325/80x24');
    const lines = ansi.split('\n');
    const picture = [...fakeBox(), ...lines.slice(4)].map((line) => (line === '~' ? '' : line));
    expect(safeToType(readScreen(picture.join('\n'), { ...facts, cursorX: 0, cursorY: 0 }))).toBe(false);
  });
});

describe('a damaged screen', () => {
  const unsafe = recorded.filter((one) => !isSafe(one) && !one.facts.inMode && !one.facts.paneDead);
  const safe = recorded.filter(isSafe);
  const line = fc.oneof(
    fc.constantFrom(
      '─'.repeat(80),
      '─'.repeat(120),
      '❯\u00a0',
      '❯ ',
      '  ? for shortcuts',
      ' Esc to cancel',
      '',
      '✻ Worked…',
    ),
    fc.string(),
  );

  it('stays unsafe whatever overwrites the lines above a dialog', () => {
    const dialogs = unsafe.filter(({ name }) => name.startsWith('dialog-'));
    fc.assert(
      fc.property(fc.constantFrom(...dialogs), fc.array(line, { maxLength: 40 }), (one, noise) => {
        const lines = one.ansi.split('\n');
        const top = dialogTop(lines);
        const mangled = [...noise.slice(0, top), ...lines.slice(Math.min(noise.length, top))];
        return !safeToType(readScreen(mangled.join('\n'))) && !safeToType(readScreen(mangled.join('\n'), one.facts));
      }),
      { numRuns: 600 },
    );
  });

  it('stays unsafe when lines above a dialog are missing', () => {
    const dialogs = unsafe.filter(({ name }) => name.startsWith('dialog-'));
    fc.assert(
      fc.property(fc.constantFrom(...dialogs), fc.nat(60), (one, cut) => {
        const lines = one.ansi.split('\n');
        return !safeToType(readScreen(lines.slice(Math.min(cut, dialogTop(lines))).join('\n')));
      }),
      { numRuns: 1000 },
    );
  });

  it('is not typed into when its end is missing', () => {
    fc.assert(
      fc.property(fc.constantFrom(...safe), fc.nat(60), (one, kept) => {
        const lines = one.ansi.replace(/\n$/, '').split('\n');
        const head = lines.slice(0, Math.min(kept, lines.length - 1)).join('\n');
        return readScreen(head, one.facts).kind === 'unknown';
      }),
      { numRuns: 1000 },
    );
  });

  it('never throws and never lets an escape through', () => {
    const bytes = fc.string({
      unit: fc.constantFrom(
        '\u001b',
        '[',
        '7m',
        '2m',
        '0;2',
        'm',
        ']8;;',
        '\u0007',
        '\n',
        '─',
        '❯',
        '\u00a0',
        ' ',
        'x',
        '\u0000',
        '\u009b',
        '😀',
        '\ud800',
      ),
    });
    fc.assert(
      fc.property(bytes, (ansi) => {
        readScreen(ansi);
        // biome-ignore lint/suspicious/noControlCharactersInRegex: looking for them is the point
        return !/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/.test(textOf(ansi));
      }),
      { numRuns: 1000 },
    );
  });

  /** The row of the edge above the real dialog. */
  function dialogTop(lines: readonly string[]): number {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: taking the colours off
    const texts = lines.map((one) => one.replace(/\u001b\[[\d;]*m/g, '').trimEnd());
    const edges = texts.flatMap((text, at) => (/^─{10,}$|^[ ▔].*▔$/.test(text) ? [at] : []));
    const last = edges.at(-1) ?? 0;
    return /^ *\d+\. Chat about this/.test(texts[last + 1] ?? '') ? (edges.at(-2) ?? 0) : last;
  }
});

describe('boxHolds', () => {
  const draft = (text: string): AgentScreen => ({ kind: 'draft', text, busy: false, stashed: false });
  const empty: AgentScreen = {
    kind: 'empty',
    busy: false,
    queued: false,
    stashed: false,
    mode: 'normal',
  };

  it.each<[string, string, 'yes' | 'no' | 'maybe']>([
    ['hello', 'hello', 'yes'],
    ['hello', 'hello ', 'yes'],
    ['a long line\nthat the box broke', 'a long line that the box broke', 'yes'],
    ['tab    here', 'tab\there', 'yes'],
    ['👩‍💻 ok', '👩💻 ok', 'yes'],
    ['hello', 'hello world', 'no'],
    ['hello world', 'hello', 'no'],
    ['my own draft', 'hello', 'no'],
    ['my own drafthello', 'hello', 'no'],
    ['a', 'banana', 'no'],
    ['[Pasted text #1 +3 lines]', 'a\nb\nc\nd', 'maybe'],
    ['see [Pasted text #2] now', 'see this now', 'maybe'],
    ['my draft [Pasted text #1]', 'hello', 'no'],
    ['[Pasted text #1] and mine', 'hello', 'no'],
    ['[Image #1]what is this', 'what is this\n\n/files/x.png', 'maybe'],
    ['[Image #1]mine', 'what is this\n\n/files/x.png', 'no'],
    ['line 59\nline 60', 'line 58\nline 59\nline 60', 'maybe'],
    ['line 59\nmine', 'line 58\nline 59\nline 60', 'no'],
  ])('a box with %j and the text %j: %s', (shown, text, answer) => {
    expect(boxHolds(draft(shown), text)).toBe(answer);
  });

  it('says "no" for an empty box, a dialog or a shell', () => {
    expect(boxHolds(empty, 'hello')).toBe('no');
    expect(boxHolds({ kind: 'shell', suspended: false }, 'hello')).toBe('no');
    const { ansi } = find('dialog-permission-bash');
    expect(boxHolds(readScreen(ansi), 'curl')).toBe('no');
  });

  it('says "maybe" for what it cannot see', () => {
    expect(boxHolds({ kind: 'unknown' }, 'hello')).toBe('maybe');
    expect(boxHolds({ kind: 'transcript' }, 'hello')).toBe('maybe');
  });

  it('finds a wrapped text in every recorded box, and its end in one too tall to show', () => {
    const wrapped = 'the quick brown fox jumps over the lazy dog '.repeat(8);
    const tall = Array.from({ length: 60 }, (_, i) => `line ${i + 1}`).join('\n');
    for (const one of recorded) {
      const screen = readScreen(one.ansi, one.facts);
      if (one.name === 'draft-wrapped') expect(boxHolds(screen, wrapped)).toMatch(/yes|maybe/);
      if (one.name === 'draft-tall') expect(boxHolds(screen, tall)).toMatch(/yes|maybe/);
      if (one.name === 'draft-pasted-block') expect(boxHolds(screen, 'x'.repeat(3000))).toBe('maybe');
      if (one.name === 'draft-one-line') expect(boxHolds(screen, wrapped)).toBe('no');
    }
  });
});

describe('the text of a screen', () => {
  it('has no colours, links, titles or partial escape sequences', () => {
    expect(textOf('\n\u001b[1mone\u001b[0m  \ntwo')).toBe('\none\ntwo');
    expect(textOf('a\u001b]8;;https://x.test\u001b\\link\u001b]8;;\u001b\\b\u001b]0;title\u0007c\u001b[38;5')).toBe(
      'alinkbc',
    );
  });
});

function textOf(ansi: string): string {
  return parseAnsi(ansi)
    .map(({ text }) => text)
    .join('\n');
}

/** Whether text, and then Enter, would reach Claude as a message. */
function safeToType(screen: AgentScreen): boolean {
  return screen.kind === 'empty';
}

describe('a shell under the box that Claude Code left behind', () => {
  const rule = '─'.repeat(40);
  const screen = [rule, '❯\u00a0/exit', rule, '  ? for shortcuts', '  $', '', '', ''].join('\n');
  const read = (cursorX: number, cursorY: number) =>
    readScreen(`${screen}\n`, {
      cursorX,
      cursorY,
      width: 40,
      height: 8,
      currentCommand: 'bash',
      agentCommand: 'claude',
    }).kind;

  it('is a shell when the keyboard is at its prompt, even an indented prompt', () => {
    expect(read(4, 4)).toBe('shell');
  });

  it('is not a shell while the keyboard is in the box', () => {
    expect(read(7, 1)).toBe('unknown');
  });
});

describe('a screen that a host made too large', () => {
  it.each([
    ['columns', 'a'.repeat(8 * 2 ** 20)],
    ['rows', '\n'.repeat(8 * 2 ** 20)],
    ['options', `Resume session\n\n${'  a\n  b\n\n'.repeat(20_000)}❯ a\n  b\n\n Esc to cancel\n`],
  ])('is not read: too many %s', async (_, ansi) => {
    const height = ansi.split('\n').length;
    const ms = await cpuMs(() => expect(readScreen(ansi, { width: 10_000, height }).kind).toBe('unknown'));
    expect(ms).toBeLessThan(5_000); // it took minutes, and nothing else ran meanwhile
  });
});

// What holds for the recorded screens of all agents but Claude Code, which has its own tests. The first word of a name says what must be
// concluded. What is special about one agent is in its own screen.test.ts.

import { describe, expect, it } from 'vitest';
import {
  isSafeScreen,
  type RecordedAgent,
  type RecordedScreen,
  screensOf,
  withoutColours,
} from '../support/recorded-screens.ts';

interface Expectations {
  readonly agent: Exclude<RecordedAgent, 'claude'>;
  /** How many screens there are at least, in three sizes. */
  readonly least: number;
  /** The mode of an empty box, by the name of its screen. */
  mode(name: string): string;
  /** What the box contains, by the name of its screen. */
  readonly texts: Readonly<Record<string, string>>;
  /** Its colours or its own cursor are needed to see an empty box. */
  readonly needsColours: boolean;
  /** Only tmux knows that these show an old box. */
  readonly old: readonly string[];
  /** A screen beside the conversation may be one that is not known. */
  readonly asideMayBeUnknown?: true;
}

const TYPED = {
  'draft-one-line': 'a half written thought',
  'busy-with-draft': 'typed while busy',
  'mode-bang-command': 'ls -l',
};
const LINES = { 'draft-many-lines': 'first line\nsecond line\nthird line' };
const GEMINI_MODES: Readonly<Record<string, string>> = {
  'empty-accept-edits': 'acceptEdits',
  'empty-plan-mode': 'plan',
  'empty-yolo': 'yolo',
};

const AGENTS: readonly Expectations[] = [
  {
    agent: 'codex',
    least: 190,
    needsColours: true,
    old: ['copy-mode'],
    asideMayBeUnknown: true,
    mode: (name) => (/plan|question/.test(name) ? 'plan' : ''),
    texts: {
      ...TYPED,
      ...LINES,
      'menu-at': '@proj',
      'draft-pasted-block': '[Pasted Content 3000 chars]',
      'draft-like-hint-at-start': 'Ask Codex to do anything',
    },
  },
  {
    agent: 'gemini',
    least: 190,
    needsColours: true,
    old: ['copy-mode'],
    mode: (name) => GEMINI_MODES[name] ?? '',
    texts: {
      ...TYPED,
      ...LINES,
      'draft-at': '@proj',
      'draft-pasted-block': '[Pasted Text: 3000 chars]',
      'draft-cursor-at-start': 'a half written thought',
    },
  },
  {
    agent: 'opencode',
    least: 220,
    needsColours: false,
    old: [],
    mode: (name) => (name.includes('plan') ? 'plan' : 'build'),
    texts: {
      ...TYPED,
      'draft-two-lines': 'first line\nsecond line',
      'draft-many-lines': '[Pasted ~3 lines]',
      'draft-pasted-block': '[Pasted ~1 lines]',
      'draft-home': 'first words',
      'menu-at': '@proj',
    },
  },
  {
    agent: 'pi',
    least: 110,
    needsColours: true,
    old: ['copy-mode', 'shell-after-exit'],
    mode: () => '',
    texts: { ...TYPED, ...LINES, 'mode-bang-command': '!ls -l' },
  },
];

function expected({ name }: RecordedScreen, { mode, asideMayBeUnknown }: Expectations): object {
  const [first = '', second = ''] = name.split('-');
  switch (first) {
    case 'empty':
      return { kind: 'empty', busy: false, mode: mode(name) };
    case 'busy':
      return name.includes('draft') ? { kind: 'draft', busy: true } : { kind: 'empty', busy: true };
    case 'draft':
      return { kind: 'draft', busy: false };
    case 'dialog':
      return { kind: 'dialog', which: second };
    case 'mode':
      return { kind: 'shellMode' };
    case 'view':
      return { kind: 'subagent' };
    case 'copy':
      return { kind: 'copyMode' };
    case 'aside':
      return { kind: asideMayBeUnknown ? expect.stringMatching(/^(?:aside|unknown)$/) : 'aside' };
    default:
      return { kind: first }; // agents, menu, shell, unknown
  }
}

describe.each(AGENTS)('a recorded screen of $agent', (one) => {
  const { recorded, find, read, readNamed } = screensOf(one.agent);

  it('is there in three sizes', () => {
    expect(recorded.length).toBeGreaterThan(one.least);
  });

  it.each(recorded)('is read right: $path', (screen) => {
    expect(read(screen.ansi, screen.facts)).toMatchObject(expected(screen, one));
  });

  it.each(recorded.filter((screen) => !isSafeScreen(screen) && !one.old.includes(screen.name)))(
    'is never empty without the facts from tmux: $path',
    ({ ansi }) => {
      expect(read(ansi).kind).not.toBe('empty');
    },
  );

  it.each(one.needsColours ? recorded : [])('is never empty without its colours: $path', (screen) => {
    expect(read(withoutColours(screen), screen.facts).kind).not.toBe('empty');
  });

  it.each(Object.entries(one.texts))('has the text that was written, in every size: %s', (name, text) => {
    const all = recorded.filter((screen) => screen.name === name);
    expect(all.length).toBe(3);
    for (const { ansi, facts } of all) expect(read(ansi, facts)).toMatchObject({ text });
  });

  it('says that a message is queued', () => {
    expect(readNamed('busy-with-queue')).toMatchObject({ kind: 'empty', busy: true, queued: true });
  });

  it('is not a live box if the agent has exited', () => {
    const { ansi, facts } = find('empty-fresh');
    expect(read(ansi, { ...facts, currentCommand: 'bash' })).toEqual({ kind: 'shell', suspended: false });
    expect(read(ansi, { ...facts, currentCommand: 'vim' })).toMatchObject({ kind: 'otherProgram' });
    expect(read(ansi, { ...facts, paneDead: true })).toEqual({ kind: 'dead' });
  });

  it.each([
    ['columns', 'a'.repeat(8 * 2 ** 20)],
    ['rows', '\n'.repeat(8 * 2 ** 20)],
  ])('is not read if a host made it too large: %s', (_, ansi) => {
    expect(read(ansi, { width: 10_000 }).kind).toBe('unknown');
  });
});

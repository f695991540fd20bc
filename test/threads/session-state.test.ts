import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readScreen } from '../../agents/claude/screen/screen.ts';
import { type KnownFacts, readingOf, type ScreenReading, stateOfSession } from '../../threads/session-state.ts';

const NOW = 1_000_000;
const AGENT = { shell: 'no', state: 'idle', claudeSession: 'c', at: NOW - 100_000, closed: false } as const;
const FRESH = { ...AGENT, claudeSession: '', at: NOW - 1_000 } as const;
const SHELL = { ...AGENT, shell: 'found', claudeSession: '' } as const;
const seen = (state: ScreenReading['state'], about?: string, at = NOW): KnownFacts['seen'] => ({
  reading: about === undefined ? { state } : { state, for: about },
  at,
});
const prompt = (kind: string, at = NOW - 5_000, ofSubagent = false) => ({ kind, at, ofSubagent });
const OPEN = [prompt('permission')];
const IDLE_SEEN = { reading: { state: 'idle' }, at: NOW } as const;

describe('the state of a session', () => {
  // From strong to weak: what is true of the rows above hides what is true of the rows below.
  it.each<[string, Partial<KnownFacts>, string]>([
    ['a closed session, whatever else is known', { record: { ...AGENT, closed: true }, isHostAway: true }, 'ended'],
    ['a host that is away, whatever was seen before', { isHostAway: true, isOver: true, prompts: OPEN }, 'unreachable'],
    ['a pane that is gone, with an open prompt', { isOver: true, prompts: OPEN, waiting: 1 }, 'ended'],
    ['a dialog while a message waits', { seen: seen('needs_person', 'plan'), waiting: 1 }, 'needs_person plan'],
    [
      'a dialog on the screen and a prompt',
      { seen: seen('needs_person', 'dialog: Theme'), prompts: OPEN },
      'needs_person dialog: Theme',
    ],
    [
      'a prompt that is not on the screen yet',
      { seen: seen('working', undefined, NOW - 4_000), prompts: OPEN },
      'needs_person permission',
    ],
    [
      'a prompt of a subagent, over the box',
      { seen: seen('working'), prompts: [prompt('question', 0, true)] },
      'needs_person question',
    ],
    ['a prompt that was too large', { prompts: [prompt('too large')] }, 'needs_person permission'],
    ['a prompt that was answered in the terminal', { seen: seen('working'), prompts: OPEN }, 'working'],
    [
      'a prompt whose dialog was seen and is gone',
      { seen: { reading: { state: 'idle' }, at: NOW, dialogAt: NOW - 300 }, prompts: [prompt('plan', NOW - 400)] },
      'idle',
    ],
    [
      'a prompt right after another one was answered',
      { seen: { reading: { state: 'working' }, at: NOW, dialogAt: NOW - 5_000 }, prompts: [prompt('plan', NOW - 400)] },
      'needs_person plan',
    ],
    ['a message that waits while Claude works', { seen: seen('working'), waiting: 1 }, 'delivering'],
    ['a message that waits for an agent to start', { record: FRESH, waiting: 1 }, 'delivering'],
    ['a message that waits in a shell', { record: SHELL, seen: seen('shell'), waiting: 1 }, 'delivering'],
    ['an agent that was started and shows nothing yet', { record: FRESH }, 'starting'],
    ['an agent whose shell is still in the pane', { record: FRESH, seen: seen('shell') }, 'starting'],
    [
      'an agent that asks before it starts',
      { record: FRESH, seen: seen('needs_person', 'dialog: Accessing workspace') },
      'needs_person dialog: Accessing workspace',
    ],
    ['an agent without hooks that has started', { record: FRESH, seen: seen('idle') }, 'idle'],
    ['an agent that never started', { record: { ...FRESH, at: 0 }, seen: seen('shell') }, 'shell'],
    ['an unknown program that was started as agent', { record: { ...FRESH, at: 0 } }, 'idle'],
    ['a box without a spinner', { seen: seen('idle') }, 'idle'],
    ['a box with a spinner', { seen: seen('working') }, 'working'],
    [
      'a report that is newer than the look',
      { record: { ...AGENT, state: 'working', at: NOW }, seen: seen('idle', undefined, NOW - 500) },
      'working',
    ],
    ['a report that is older than the look', { record: { ...AGENT, state: 'working' }, seen: seen('idle') }, 'idle'],
    [
      'a report that Claude works, which its screen does not show yet',
      { record: { ...AGENT, state: 'working', at: NOW - 2_000 }, seen: { ...IDLE_SEEN, workingAt: NOW - 3_000 } },
      'working',
    ],
    [
      'a turn that was seen and interrupted',
      { record: { ...AGENT, state: 'working', at: NOW - 2_000 }, seen: { ...IDLE_SEEN, workingAt: NOW - 1_000 } },
      'idle',
    ],
    [
      'a turn that was interrupted at its dialog',
      { record: { ...AGENT, state: 'working', at: NOW - 2_000 }, seen: { ...IDLE_SEEN, dialogAt: NOW - 1_000 } },
      'idle',
    ],
    [
      'a report of work that the screen never showed',
      { record: { ...AGENT, state: 'working', at: NOW - 11_000 }, seen: IDLE_SEEN },
      'idle',
    ],
    [
      'a dialog that was seen before a turn ended',
      { record: { ...AGENT, at: NOW }, seen: seen('needs_person', 'plan', NOW - 500) },
      'idle',
    ],
    [
      'a report that Claude asks, before the first look',
      { record: { ...AGENT, state: 'waiting' } },
      'needs_person dialog',
    ],
    ['a report that Claude has exited, before the first look', { record: { ...AGENT, state: 'ended' } }, 'shell'],
    ['an agent that exited into its shell', { record: { ...AGENT, state: 'ended' }, seen: seen('shell') }, 'shell'],
    ['a plain shell', { record: SHELL, seen: seen('shell') }, 'shell'],
    ['a plain shell before the first look', { record: SHELL }, 'shell'],
    ['a session without a thread', { record: undefined, seen: seen('shell') }, 'shell'],
    ['a Claude without a thread', { record: undefined, seen: seen('working') }, 'working'],
    ['an agent that was started by hand in a shell', { record: SHELL, seen: seen('idle') }, 'idle'],
  ])('%s', (_, facts, wanted) => {
    const known: KnownFacts = {
      record: AGENT,
      isHostAway: false,
      prompts: [],
      waiting: 0,
      now: NOW,
      isOver: undefined,
      seen: undefined,
      ...facts,
    };
    const { state, for: about } = stateOfSession(known);
    expect([state, about].filter(Boolean).join(' ')).toBe(wanted);
  });
});

describe('the reading of a screen', () => {
  const SCREENS = join(import.meta.dirname, '../fixtures/screens');
  const versions = readdirSync(SCREENS).filter((name) => /^\d/.test(name)); // of Claude Code
  const sizes = versions.flatMap((version) =>
    readdirSync(join(SCREENS, version)).map((size) => join(SCREENS, version, size)),
  );
  const recorded = sizes.flatMap((folder) =>
    readFileSync(join(folder, 'facts.tsv'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => ({ folder, line: line.split('\t') })),
  );

  const readingOfFile = ({ folder, line }: (typeof recorded)[number]) => {
    const [name, x, y, width, height, dead, , command = '', title = ''] = line;
    const screen = readScreen(readFileSync(join(folder, `${name}.ansi`), 'utf8'), {
      cursorX: Number(x),
      cursorY: Number(y),
      width: Number(width),
      height: Number(height),
      paneDead: dead === '1',
      currentCommand: command,
      agentCommand: 'claude',
      title,
    });
    return readingOf(screen, true);
  };

  it.each([
    [/^empty-/, ['idle', 'working']],
    [/^draft-/, ['idle', 'working']],
    [/^busy-/, ['working']],
    [/^dialog-/, ['needs_person']],
    [/^shell-/, ['shell']],
  ])('of every recorded screen %s is one of %j', (names, wanted) => {
    const found = recorded.filter(({ line: [name = ''] }) => names.test(name));
    expect(found.length).toBeGreaterThan(5);
    const wrong = found.filter((one) => !wanted.includes(readingOfFile(one)?.state ?? 'none'));
    expect(wrong.map(({ folder, line: [name] }) => `${folder}/${name}`)).toEqual([]);
  });

  it.each([
    ['dialog-permission-bash', 'permission'],
    ['dialog-question', 'question'],
    ['dialog-plan', 'plan'],
    ['dialog-trust', 'dialog: Accessing workspace'],
    ['dialog-model', 'dialog: Select model'],
  ])('of %s says what for', (name, wanted) => {
    // On 40x15 the first line of some dialogs is off the screen.
    const found = recorded.filter(({ folder, line }) => line[0] === name && !folder.endsWith('40x15'));
    expect(found.map((one) => readingOfFile(one)?.for)).toEqual(found.map(() => wanted));
  });
});

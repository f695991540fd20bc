// What to do with a message, depending on the pane. A table: every kind of screen, and every fact that overrules it.

import { describe, expect, it } from 'vitest';
import { claude } from '../../agents/claude/driver.ts';
import type { AgentScreen } from '../../agents/screen.ts';
import { decide, type PaneState, type TypingStep } from '../../bridge/decide-typing.ts';
import type { PaneLook } from '../../tmux/look.ts';

const pane: PaneLook = {
  kind: 'pane',
  serverPid: 10,
  panePid: 20,
  sessionName: 'web',
  command: 'claude',
  path: '/',
  title: '',
  dead: false,
  exitStatus: undefined,
  mode: undefined,
  inputOff: false,
  synchronized: false,
  width: 80,
  height: 24,
  cursor: { x: 2, y: 20 },
  cursorShown: true,
  historyLines: 0,
  typed: { text: undefined, enter: undefined },
  text: '',
  ansi: '',
};
const record = {
  serverPid: 10,
  panePid: 20,
  claudeSession: 'c',
  at: 0,
  shell: 'no' as 'no' | 'ours' | 'found' | 'terminal',
};
const empty: AgentScreen = { kind: 'empty', busy: false, queued: false, stashed: false, mode: 'normal' };
const draft: AgentScreen = { kind: 'draft', text: 'half a thought', busy: false, stashed: false };
const dialog: AgentScreen = {
  kind: 'dialog',
  which: 'permission',
  full: false,
  form: 'choice',
  title: 'Bash command',
  text: [],
  options: [],
  hasMore: false,
  field: undefined,
  help: 'Esc to cancel',
};
const facts: PaneState = {
  look: pane,
  screen: empty,
  record,
  isAgent: true,
  allowShell: false,
  afterExit: 'never',
  driver: claude,
  text: 'hello',
  standing: undefined,
  now: 3_600_000,
  isFresh: true,
};

const SCREENS: readonly [string, AgentScreen, TypingStep['do']][] = [
  ['an empty box', empty, 'type'],
  ['an empty box while it works', { ...empty, busy: true }, 'type'],
  ['an empty box with a queue', { ...empty, busy: true, queued: true }, 'type'],
  ['an empty box over a stash', { ...empty, stashed: true }, 'type'],
  ['a draft', draft, 'type'],
  ['a draft over a stash', { ...draft, stashed: true }, 'wait'],
  ['an open list of files', { kind: 'menu', text: '@sr' }, 'wait'],
  ['shell mode', { kind: 'shellMode', text: 'ls' }, 'wait'],
  ['a search', { kind: 'aside' }, 'wait'],
  ['a permission dialog', dialog, 'wait'],
  ['an unknown dialog', { ...dialog, which: 'unknown' }, 'wait'],
  ['the list of agents', { kind: 'agents' }, 'wait'],
  ['a subagent', { kind: 'subagent' }, 'wait'],
  ['the transcript', { kind: 'transcript' }, 'wait'],
  ['copy mode', { kind: 'copyMode' }, 'leave-mode'],
  ['a shell', { kind: 'shell', suspended: false }, 'refuse'],
  ['a suspended Claude', { kind: 'shell', suspended: true }, 'refuse'],
  ['a dead pane', { kind: 'dead' }, 'refuse'],
  ['another program', { kind: 'otherProgram', command: 'vim' }, 'refuse'],
  ['something unknown', { kind: 'unknown' }, 'wait'],
];

describe('the decision', () => {
  it.each(SCREENS)('for %s is made from the screen', (_, screen, wanted) => {
    const step = decide({ ...facts, screen });
    expect(step.do).toBe(wanted);
    if ('because' in step) expect(step.because).toMatch(/^[A-Z].*\.$/);
  });

  it.each(SCREENS)('is never to type where the pane is not the one reported: %s', (_, screen) => {
    for (const look of [{ kind: 'gone' } as const, { ...pane, serverPid: 11 }, { ...pane, panePid: 21 }])
      for (const shell of ['no', 'ours', 'found'] as const)
        expect(decide({ ...facts, look, screen, record: { ...record, shell }, allowShell: true }).do).toBe('refuse');
  });

  it('is to wait where keys would be lost or go elsewhere', () => {
    expect(decide({ ...facts, look: { ...pane, inputOff: true } }).do).toBe('wait');
    expect(decide({ ...facts, look: { ...pane, synchronized: true } }).do).toBe('wait');
  });

  it('is to stash only a draft that is not ours', () => {
    expect(decide(facts)).toEqual({ do: 'type', stash: false });
    expect(decide({ ...facts, screen: draft })).toEqual({ do: 'type', stash: true });
    expect(decide({ ...facts, screen: draft, standing: 'something else' })).toEqual({ do: 'type', stash: true });
    expect(decide({ ...facts, screen: draft, standing: 'half a thought' }).do).toBe('wait');
    const placeholder = { ...draft, text: '[Pasted text #1 +9 lines]' };
    expect(decide({ ...facts, screen: placeholder, standing: 'a\n'.repeat(10) }).do).toBe('wait');
  });

  const shell: AgentScreen = { kind: 'shell', suspended: false };
  it.each([
    ['ours', false, 'run'],
    ['ours', true, 'run'],
    ['found', false, 'refuse'],
    ['found', true, 'run'],
  ] as const)('for a shell that is %s with allowShell %s is: %s', (whose, allowShell, wanted) => {
    const step = decide({
      ...facts,
      screen: shell,
      record: { ...record, shell: whose },
      isAgent: false,
      allowShell,
    });
    expect(step.do).toBe(wanted);
  });

  it('is to give a late message to Claude, and to no other program', () => {
    const late = { ...facts, isFresh: false };
    expect(decide(late).do).toBe('type');
    for (const whose of ['ours', 'found', 'terminal'] as const) {
      const about = { screen: shell, record: { ...record, shell: whose }, isAgent: false, allowShell: true };
      expect(decide({ ...facts, ...about }).do).toBe('run');
      expect(decide({ ...late, ...about }).do).toBe('refuse');
    }
  });

  it('is to wait for an agent that was just started, while its shell still has the pane', () => {
    const starting = { ...record, claudeSession: '', at: facts.now - 5_000 };
    expect(decide({ ...facts, screen: shell, record: starting }).do).toBe('wait');
    expect(decide({ ...facts, screen: shell, record: { ...starting, at: 0 } }).do).toBe('refuse');
  });

  it('is to run nothing in a shell where Claude has exited, even with allowShell', () => {
    expect(decide({ ...facts, screen: shell, allowShell: true }).do).toBe('refuse');
  });

  it('is to run something in a shell that Claude has exited to only if the user knew it', () => {
    const known = { ...facts, screen: shell, look: { ...pane, command: 'sh' }, afterExit: 'known' as const };
    expect(decide(known)).toEqual({ do: 'run', still: {} });
    expect(decide({ ...known, isFresh: false }).do).toBe('refuse');
    expect(decide({ ...known, afterExit: 'unknown', allowShell: true })).toMatchObject({ do: 'refuse', isExit: true });
    for (const screen of [
      { kind: 'shell', suspended: true },
      { kind: 'otherProgram', command: 'vim' },
    ] as const)
      expect(decide({ ...known, screen }).do).toBe('refuse');
  });

  it('is to run nothing where Claude was started by hand in a shell of ours', () => {
    const ours = { ...facts, record: { ...record, shell: 'ours' as const }, isAgent: false };
    expect(decide({ ...ours, screen: dialog }).do).toBe('wait');
    expect(decide({ ...ours, look: { ...pane, dead: true } }).do).toBe('refuse');
    expect(decide({ ...ours, look: { ...pane, mode: 'copy-mode' } }).do).toBe('leave-mode');
  });
});

// An agent whose hooks are missing is recognised by its screen, whatever the thread expects and whatever its program is called.

import { describe, expect, it } from 'vitest';
import { allDrivers } from '../../agents/list.ts';
import { readPane } from '../../threads/read-pane.ts';
import type { LookResult } from '../../tmux/look.ts';
import { isSafeScreen, type RecordedScreen, screensOf, withoutColours } from '../support/recorded-screens.ts';

const NAMES = ['claude', 'codex', 'gemini', 'opencode', 'pi'] as const;

/** As tmux shows it, run by a program that says nothing. */
function seenAs(one: RecordedScreen, command = 'node'): LookResult {
  const { ansi, facts } = one;
  const { cursorX: x = 0, cursorY: y = 0, width = 0, height = 0, title = '', cursorShown = true } = facts;
  const pane = { kind: 'pane', ansi: ansi.replace(/\n$/, ''), cursor: { x, y }, cursorShown, width, height, title };
  return { ...pane, text: withoutColours(one), command, dead: false, mode: undefined } as unknown as LookResult;
}

const unheard = (agent: string) => ({ command: '', shell: 'found', claudeSession: '', agent }) as const;

describe.each(NAMES)('%s without hooks', (agent) => {
  const recorded = screensOf(agent).recorded.filter(({ facts }) => !facts.inMode);
  const safe = recorded.filter(isSafeScreen);
  /** What its thread may expect: this agent, or another one. Together the screens of an agent meet all of them. */
  const expectedBy = (one: RecordedScreen) => new Set([agent, NAMES[recorded.indexOf(one) % NAMES.length] ?? agent]);

  it.each(safe)('is recognised, and typed into as itself: $path', (one) => {
    for (const expected of expectedBy(one)) {
      const { screen, isAgent, driver } = readPane(seenAs(one), unheard(expected));
      expect([driver.name, isAgent, screen.kind], `a thread of ${expected}`).toEqual([agent, true, 'empty']);
    }
  });

  it.each(recorded.filter((one) => !isSafeScreen(one)))('is never empty for another agent: $path', (one) => {
    for (const expected of expectedBy(one)) {
      const { screen } = readPane(seenAs(one), unheard(expected));
      if (!/^shell-/.test(one.name)) expect(screen.kind, `a thread of ${expected}`).not.toBe('empty');
    }
  });

  it('is not looked for in a shell', () => {
    for (const one of safe) expect(readPane(seenAs(one, 'bash'), unheard('claude')).isAgent, one.path).toBe(false);
  });

  it('is the only one that its program may be', () => {
    const { programs } = allDrivers().find(({ name }) => name === agent) ?? { programs: [] };
    for (const command of programs)
      for (const other of NAMES.filter((name) => name !== agent))
        for (const one of screensOf(other).recorded.filter(isSafeScreen).slice(0, 3))
          expect(readPane(seenAs(one, command), unheard(other)).screen.kind, one.path).not.toBe('empty');
  });
});

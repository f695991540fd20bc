// The script that types reads each recorded box as its driver describes it: an empty one, or the text. Else Enter would wait in vain, or
// follow a text that is not there yet.

import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { driverOf } from '../../agents/list.ts';
import { BOX_OF } from '../../tmux/keys.ts';
import { type RecordedAgent, type RecordedScreen, screensOf, withoutColours } from '../support/recorded-screens.ts';
import { SHELLS } from '../support/shells.ts';

interface Boxes {
  readonly agent: RecordedAgent;
  /** What an empty box may show. */
  readonly empty: RegExp;
}

const BOXES: readonly Boxes[] = [
  { agent: 'codex', empty: /^=AskCodextodoanything$/ },
  { agent: 'gemini', empty: /^=Typeyourmessageor@path\/to\/file$/ },
  { agent: 'opencode', empty: /^=┃┃(?:Askanything….*)?┃┃(?:Build|Plan)·ScriptedLab/ },
  { agent: 'pi', empty: /^=─+$/ },
];

function boxOf(agent: RecordedAgent, screens: readonly RecordedScreen[], shell: readonly string[] = ['sh']) {
  const shown = driverOf(agent).typing.shownText('');
  if (shown === undefined) throw new Error(`${agent} has no box`);
  const [program = '', ...args] = shell;
  const env = { ...process.env, from: shown.from, to: shown.to };
  return screens.map((screen) => {
    const input = withoutColours(screen).replace(/ +$/gm, ''); // as without -e
    return spawnSync(program, [...args, '-c', `${BOX_OF}\nbox_of`], { env, input, encoding: 'utf8' }).stdout.trim();
  });
}

const isEmpty = ({ name }: RecordedScreen) => /^(?:empty|busy)-/.test(name) && !name.includes('draft');
/** The text in its box begins so. */
const WRITTEN: Readonly<Record<string, string>> = {
  'draft-one-line': 'ahalfwrittenthought',
  'draft-wrapped': 'thequickbrownfox',
  'busy-with-draft': 'typedwhilebusy',
  'draft-pasted-block': '[',
};

describe.each(BOXES)('the box of $agent', ({ agent, empty }) => {
  const { recorded } = screensOf(agent);

  it('is found where it is empty', () => {
    const screens = recorded.filter(isEmpty);
    const found = boxOf(agent, screens);
    for (const [at, { path }] of screens.entries()) expect(found[at], path).toMatch(empty);
  });

  it('contains the text', () => {
    const screens = recorded.filter(({ name }) => name in WRITTEN);
    expect(screens.length).toBeGreaterThan(9);
    const found = boxOf(agent, screens);
    for (const [at, { path, name }] of screens.entries()) {
      expect(found[at], path).toMatch(/^=/);
      expect(found[at], path).toContain(WRITTEN[name]);
    }
  });

  it('shows the parts that its driver looks for', () => {
    const parts = (text: string) => driverOf(agent).typing.shownText(text)?.parts ?? [];
    for (const [name, text] of [
      ['draft-one-line', 'a half written thought'],
      ['draft-pasted-block', 'x'.repeat(3_000)],
    ] as const) {
      const found = boxOf(
        agent,
        recorded.filter((one) => one.name === name),
      );
      for (const box of found) expect(parts(text).some((part) => box.includes(part))).toBe(true);
    }
  });

  it.each(SHELLS)('is the same in every shell (%s)', (_, ...shell) => {
    const screens = recorded.filter(({ path }) => /120x40\/(?:empty-fresh|draft-one-line)$/.test(path));
    expect(boxOf(agent, screens, shell)).toEqual(boxOf(agent, screens));
  });
});

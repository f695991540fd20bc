// The tables of agents in docs/agents.md and README.md are made from the drivers.

import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import type { AgentDriver, AgentGuarantees } from '../../agents/driver.ts';
import { guaranteeNotes } from '../../agents/guarantees.ts';
import { allDrivers, driverOf } from '../../agents/list.ts';
import { AGENT_NAMES } from '../../core/agent-names.ts';
import { untrustedLine } from '../../core/untrusted-text.ts';
import { welcomeText } from '../../core/welcome-text.ts';

const ASKS: Readonly<Record<AgentGuarantees['permission'], string>> = {
  api: 'one tap',
  hook: 'one tap',
  keys: 'one tap, by keys',
  none: 'in the terminal only',
  never: 'it has none',
};
const yesOrNo = (is: boolean) => (is ? 'yes' : 'no');

const ROWS: readonly (readonly [string, (driver: AgentDriver) => string])[] = [
  ['Reply in the thread', () => 'yes'],
  ['Text between tools', ({ guarantees }) => (guarantees.textBetweenTools ? 'when it is written' : 'at the end')],
  ['Receipt', ({ guarantees }) => (guarantees.receipt === 'hook' ? 'its own report' : 'its screen')],
  ['Permission', ({ guarantees }) => ASKS[guarantees.permission]],
  ['Question', ({ guarantees }) => ASKS[guarantees.question]],
  [
    'Dialog stays open in the terminal',
    ({ guarantees }) => (guarantees.permission === 'never' ? '–' : yesOrNo(guarantees.permission !== 'hook')),
  ],
  ['Draft in its box', ({ guarantees }) => (guarantees.draft === 'kept' ? 'kept' : 'kept, your message waits')],
  ['While it works', ({ typing }) => (typing.onlyWhenIdle ? 'your message waits' : 'it is typed at once')],
  ['End of every turn', ({ guarantees }) => (guarantees.everyEnd ? 'reported' : 'some by its screen')],
  ['Attachments', () => 'yes'],
  [
    'Without a terminal (`!agent`)',
    ({ headless }) => (headless === undefined ? 'no' : headless.asks ? 'yes' : 'yes, never asks'),
  ],
  ['Continues a conversation', ({ guarantees }) => yesOrNo(guarantees.resume)],
];

const IN_README = ['Text between tools', 'Permission', 'Question', 'Draft in its box', 'End of every turn'];

function table(rows: typeof ROWS): string {
  const drivers = AGENT_NAMES.map((name) => driverOf(name)).toSorted((a, b) => order(a) - order(b));
  const lines = [
    ['', ...drivers.map(({ title }) => title)],
    ['---', ...drivers.map(() => '---')],
    ...rows.map(([name, cell]) => [name, ...drivers.map(cell)]),
  ];
  return lines.map((cells) => `| ${cells.join(' | ')} |`.replace('|  |', '| |')).join('\n');
}

/** Claude Code first, the others by their names. */
const order = ({ name }: AgentDriver) => (name === 'claude' ? -1 : ['codex', 'gemini', 'opencode', 'pi'].indexOf(name));

it('docs/agents.md has the table of what each agent can do', () => {
  expect(readFileSync('docs/agents.md', 'utf8')).toContain(table(ROWS));
});

it('README.md has the small table', () => {
  expect(readFileSync('README.md', 'utf8')).toContain(table(ROWS.filter(([name]) => IN_README.includes(name))));
});

it('every agent is in the list of names, and every name has its own driver', () => {
  expect(allDrivers().map(({ name }) => name)).toEqual([...AGENT_NAMES]);
});

it('a welcome says nothing of an agent that can do everything, and one clause per weakness of the others', () => {
  expect(guaranteeNotes(driverOf('claude'))).toEqual([]);
  expect(guaranteeNotes(driverOf('gemini'))).toEqual([
    'a message waits while it works',
    'a message waits while its box has a draft',
    'what it says between tools comes at the end',
    'its dialogs are answered by pressing their keys',
  ]);
  for (const driver of allDrivers()) expect(guaranteeNotes(driver).join('; ').length, driver.name).toBeLessThan(400);
});

/** On a host without any of our files. */
const BARE = { settings: {}, scripts: '/s', home: '/h', directory: '/d', host: 'mini', hasExtension: false };

it('what a start cannot do is said in plain sentences, which the welcome shows as they are', () => {
  const weak = allDrivers().flatMap((driver) => {
    const { weaker } = driver.launch({ command: [driver.name], ...BARE });
    return weaker === undefined ? [] : [{ driver, weaker }];
  });
  expect(weak.map(({ driver }) => driver.name)).toEqual(['codex', 'gemini']);
  for (const { driver, weaker } of weak) {
    expect(untrustedLine(weaker, 500)).toBe(weaker);
    const agent = { title: driver.title, notes: guaranteeNotes(driver), weaker };
    const text = welcomeText({ session: 'shop', host: 'mini', cwd: '/d', agent });
    expect(text).toContain(`\n-# ${weaker}\n`);
    expect(text).not.toMatch(/\bhere\b/); // Discord shows it in the channel, too
  }
});

// What an agent cannot do as well as others, in words for its thread. Pure.

import type { AgentDriver, AgentGuarantees } from './driver.ts';

/** One short clause each; none if it can do everything. */
export function guaranteeNotes({ guarantees, typing }: Pick<AgentDriver, 'guarantees' | 'typing'>): readonly string[] {
  const { receipt, permission, question, draft, textBetweenTools } = guarantees;
  return [
    ...(receipt === 'screen' ? ['✅ is read from its screen'] : []),
    ...(typing.onlyWhenIdle ? ['a message waits while it works'] : []),
    ...(draft === 'waits' ? ['a message waits while its box has a draft'] : []),
    ...(textBetweenTools ? [] : ['what it says between tools comes at the end']),
    ...PERMISSIONS[permission],
    ...(question === permission ? [] : QUESTIONS[question]),
  ];
}

/** For the welcome of a headless agent. */
export function headlessWords({ title, headless }: Pick<AgentDriver, 'title' | 'headless'>): {
  readonly title: string;
  readonly notes: readonly string[];
} {
  const denies = 'it cannot ask for permission without a terminal, so what would need one is denied';
  return { title, notes: headless?.asks ? [] : [denies] };
}

const PERMISSIONS: Readonly<Record<AgentGuarantees['permission'], readonly string[]>> = {
  api: [],
  hook: ['while it asks in the thread, its terminal shows no dialog'],
  keys: ['its dialogs are answered by pressing their keys'],
  none: ['its dialogs cannot be answered in the thread'],
  never: ['it works without asking for permission'],
};

const QUESTIONS: typeof PERMISSIONS = {
  api: [],
  hook: ['while it asks a question in the thread, its terminal shows none'],
  keys: ['its questions are answered by pressing keys'],
  none: ['its questions cannot be answered in the thread'],
  never: [],
};

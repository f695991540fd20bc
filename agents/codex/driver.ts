// Codex, as the driver that all of threadmux uses. Its guarantees are those of a Codex with a server of its own; `launch` says when
// they are weaker.

import type { PromptDecision } from '../../core/prompt.ts';
import type { AgentDriver } from '../driver.ts';
import { type AgentEvent, type AskedEvent, parseAgentEvent } from '../event.ts';
import { CODEX_COMMANDS } from './commands.ts';
import { headlessCodex } from './headless.ts';
import { hookAnswer, readCodexHook } from './hook-events.ts';
import { launchCodex } from './launch.ts';
import { readCodexScreen } from './screen/screen.ts';
import { CODEX_TYPING, codexBoxHolds, codexTimesShown } from './typing.ts';

export const codex: AgentDriver = {
  name: 'codex',
  title: 'Codex',
  programs: ['codex'],
  variables: ['OPENAI_*', 'CODEX_*', 'AZURE_OPENAI_*'],
  guarantees: {
    receipt: 'hook',
    permission: 'api',
    question: 'api',
    textBetweenTools: true,
    draft: 'waits',
    everyEnd: true,
    resume: true,
  },
  asksVersion: true,
  launch: launchCodex,
  headless: headlessCodex,
  readEvent: readCodexEvent,
  screen: { read: readCodexScreen, boxHolds: codexBoxHolds, timesShown: codexTimesShown },
  typing: CODEX_TYPING,
  answer: answerCodex,
  commands: { builtin: CODEX_COMMANDS },
};

/** The companion writes our own form, a hook that of Codex. */
function readCodexEvent(json: unknown): AgentEvent | undefined {
  const isOfHook = typeof json === 'object' && json !== null && 'hook_event_name' in json;
  return isOfHook ? readCodexHook(json) : parseAgentEvent(json);
}

/** The companion gets the decision as it is. */
function answerCodex(asked: AskedEvent, decision: PromptDecision): string | undefined {
  return hookAnswer(asked, decision) ?? (asked.ask === undefined ? undefined : JSON.stringify(decision));
}

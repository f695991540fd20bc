// Claude Code, as the driver that all of threadmux uses.

import { guardForPrompt } from '../../core/untrusted-text.ts';
import type { AgentDriver } from '../driver.ts';
import { BUILTIN_COMMANDS } from './commands/builtin.ts';
import { LIST_OWN_COMMANDS, parseOwnCommands } from './commands/own-commands.ts';
import { parsePrinted, READ_TRANSCRIPT_END } from './commands/printed.ts';
import { headlessClaude } from './headless.ts';
import { permissionOutput, readHookEvent } from './hook-event.ts';
import { launchClaude } from './launch.ts';
import { DIALOG, readScreen } from './screen/screen.ts';
import { readTurn, toolAnswered } from './transcript/transcript.ts';
import { waitUntilSettled } from './transcript/transcript-file.ts';
import { boxHolds, boxWhileTyping, shownText, timesShown } from './typing.ts';
import { limitChoice, parseUsageLimit } from './usage-limit.ts';

export const claude: AgentDriver = {
  name: 'claude',
  title: 'Claude',
  programs: ['claude'],
  variables: ['ANTHROPIC_*', 'CLAUDE_*'],
  guarantees: {
    receipt: 'hook',
    permission: 'api',
    question: 'api',
    textBetweenTools: true,
    draft: 'kept',
    // An interrupted turn is not reported: its transcript and the screen tell it.
    everyEnd: false,
    resume: true,
  },
  launch: launchClaude,
  headless: headlessClaude,
  readEvent: readHookEvent,
  screen: { read: readScreen, dialogLine: DIALOG, boxHolds, timesShown },
  typing: {
    refuse: () => undefined,
    guard: guardForPrompt,
    boxLines: boxWhileTyping,
    shownText,
    stash: { key: 'C-s', confirmed: '› stashed' },
    // A text that is entered meanwhile sometimes stays in the box although it was submitted, or is submitted after the next one.
    turnEnds: '^[^ ]+ [^ ].*… \\(running (.* )?stop hook',
    onlyWhenIdle: false, // it has its own queue, and reports each text of it
    interrupt: ['Escape'],
  },
  answer: permissionOutput,
  turns: { read: readTurn, toolAnswered, settled: waitUntilSettled },
  commands: {
    builtin: BUILTIN_COMMANDS,
    own: { script: LIST_OWN_COMMANDS, parse: parseOwnCommands },
    printed: { script: READ_TRANSCRIPT_END, parse: parsePrinted },
  },
  modes: {
    key: 'BTab',
    background: /↓ to manage|\bWaiting for \d{1,4} background agents?\b/u,
    names: {
      normal: 'default',
      plan: 'plan',
      acceptEdits: 'acceptEdits',
      auto: 'auto',
      dontAsk: 'dontAsk',
      bypass: 'bypassPermissions',
    },
  },
  model: { command: (model) => `/model ${model}`, isTaken: (printed) => /^(?:Set|Reset) model to /.test(printed) },
  resetOf: ({ code, details = '' }, at) => parseUsageLimit({ error: code, text: details }, at)?.resetsAt,
  limitChoice,
};

// OpenCode: reports and answers through our plugin, which the start adds to the user's own configuration.

import type { PromptDecision } from '../../core/prompt.ts';
import { type AgentDriver, type ExtensionPaths, extensionName, type Launch, type LaunchOptions } from '../driver.ts';
import { type AskedEvent, parseAgentEvent } from '../event.ts';
import { headlessOpencode } from './headless.ts';
import { NO_CONVERSATION } from './translate.ts';
import { opencodeScreen, opencodeTyping } from './typing.ts';

export const opencode: AgentDriver = {
  name: 'opencode',
  title: 'OpenCode',
  programs: ['opencode'],
  variables: ['OPENCODE_*', 'OPENAI_*', 'ANTHROPIC_*', 'OPENROUTER_*', 'GEMINI_*', 'GOOGLE_*'],
  guarantees: {
    receipt: 'hook',
    permission: 'api',
    question: 'api',
    textBetweenTools: true,
    draft: 'waits',
    everyEnd: true,
    resume: true,
  },
  files: [
    ...['reporter.js', 'loose-fields.js', 'opencode/start', 'opencode/plugin.js', 'opencode/translate.js'],
    ...['opencode/held-texts.js', 'opencode/words.js'],
  ],
  extension: {
    folder: () => '.config/opencode/plugins',
    files: (paths) => ({ [`${extensionName(paths.home)}.js`]: loaderOf(paths) }),
  },
  launch,
  headless: headlessOpencode,
  readEvent: parseAgentEvent,
  screen: opencodeScreen,
  typing: opencodeTyping,
  answer,
};

function launch({ command, settings, resume, scripts, home }: LaunchOptions): Launch {
  const folder = `${scripts}/opencode`;
  const session = typeof resume === 'object' && resume.session !== NO_CONVERSATION ? resume.session : undefined;
  const plugin = JSON.stringify([`${folder}/plugin.js`, { home, ...(session === undefined ? {} : { session }) }]);
  const { model, permissionMode = '', args = [] } = settings;
  return {
    argv: [
      ...['sh', `${folder}/start`, plugin, ...command],
      ...(model === undefined ? [] : ['--model', model]),
      ...(MODES[permissionMode] ?? []),
      ...(resume === 'newest' ? ['--continue'] : session === undefined ? [] : ['--session', session]),
      ...args,
    ],
    environment: {},
  };
}

/** The others are a matter of OpenCode's own configuration. */
const MODES: Readonly<Record<string, readonly string[]>> = { plan: ['--agent', 'plan'], bypassPermissions: ['--auto'] };

/** What plugin.ts sends to OpenCode. */
function answer(asked: AskedEvent, decision: PromptDecision): string {
  switch (decision.kind) {
    case 'allow':
      return reply({ reply: decision.always ? 'always' : 'once' });
    case 'deny':
      if (asked.kind === 'question') return JSON.stringify({ verb: 'reject', body: {} });
      return reply({ reply: 'reject', ...(decision.reason === '' ? {} : { message: decision.reason }) });
    case 'answers':
      return reply({ answers: decision.answers.map((answer, at) => labelsOf(asked.questions[at], answer)) });
  }
}

function reply(body: unknown): string {
  return JSON.stringify({ verb: 'reply', body });
}

/** Several labels are joined in a decision; a text in the person's own words may contain commas. */
function labelsOf(question: AskedEvent['questions'][number] | undefined, answer: string): readonly string[] {
  const labels = answer.split(', ');
  const areOptions = labels.every((label) => question?.options.some((one) => one.label === label));
  return question?.multiSelect && areOptions ? labels : [answer];
}

/** It makes an OpenCode report that threadmux did not start: it loads our plugin. */
function loaderOf({ scripts, home }: ExtensionPaths): string {
  const options = JSON.stringify({ home });
  return [
    '// Written by `threadmux install`: OpenCode reports to threadmux. `threadmux uninstall` removes it.',
    `import { ThreadmuxPlugin as plugin } from ${JSON.stringify(`${scripts}/opencode/plugin.js`)};`,
    `export const ThreadmuxPlugin = (input) => plugin(input, ${options});`,
    '',
  ].join('\n');
}

// Gemini CLI: reports through the hooks of our extension. Its dialogs are answered by their keys, because nothing else can.

import { quoteShellWord } from '../../core/shell-word.ts';
import { type AgentDriver, type ExtensionPaths, extensionName, type Launch, type LaunchOptions } from '../driver.ts';
import { GEMINI_COMMANDS } from './commands.ts';
import { readGeminiHook } from './hook-events.ts';
import { geminiScreen, geminiTyping } from './typing.ts';

export const gemini: AgentDriver = {
  name: 'gemini',
  title: 'Gemini',
  programs: ['gemini'],
  variables: ['GEMINI_*', 'GOOGLE_*'],
  guarantees: {
    receipt: 'hook',
    permission: 'keys',
    question: 'keys',
    textBetweenTools: false,
    draft: 'waits',
    // The end after Esc in a dialog is seen on the screen only.
    everyEnd: false,
    resume: true,
  },
  launch: launchGemini,
  readEvent: readGeminiHook,
  screen: geminiScreen,
  typing: geminiTyping,
  answer: () => undefined,
  commands: { builtin: GEMINI_COMMANDS },
  extension: {
    isNeeded: true,
    folder: ({ home }) => `.gemini/extensions/${extensionName(home)}`,
    files: extensionFiles,
  },
};

function launchGemini({ command, settings, resume, hasExtension, host }: LaunchOptions): Launch {
  const { model, permissionMode = 'default', args = [] } = settings;
  return {
    argv: [
      ...command,
      ...(model === undefined ? [] : ['--model', model]),
      ...MODES[permissionMode],
      ...(resume === undefined ? [] : ['--resume', resume === 'newest' ? 'latest' : resume.session]),
      ...args,
    ],
    environment: {},
    ...(hasExtension === false ? { weaker: weaker(host === undefined ? '' : ` --host ${host}`) } : {}),
  };
}

const weaker = (on: string) =>
  `The extension of threadmux is not installed in Gemini CLI, so replies are not posted, and whether a message arrived is read from the screen. Run "threadmux install${on} --agent gemini" to add it.`;

/** What comes nearest to the modes of Claude Code. */
const MODES: Readonly<Record<NonNullable<LaunchOptions['settings']['permissionMode']>, readonly string[]>> = {
  default: [],
  acceptEdits: ['--approval-mode', 'auto_edit'],
  plan: ['--approval-mode', 'plan'],
  auto: ['--approval-mode', 'auto_edit'],
  dontAsk: [],
  bypassPermissions: ['--approval-mode', 'yolo'],
};

/** Every hook returns at once, because Gemini CLI waits for it before it draws a dialog. */
function extensionFiles({ scripts, home }: ExtensionPaths): Readonly<Record<string, string>> {
  const command = `THREADMUX_HOME=${quoteShellWord(home)} ${quoteShellWord(`${scripts}/drop`)} gemini`;
  const hook = { type: 'command', name: 'threadmux', command, timeout: TIMEOUT_MS };
  const hooks = Object.fromEntries(EVENTS.map((event) => [event, [{ hooks: [hook] }]]));
  return {
    'gemini-extension.json': json({ name: extensionName(home), version: '1.0.0' }),
    'hooks/hooks.json': json({ hooks }),
  };
}

const EVENTS = ['SessionStart', 'BeforeAgent', 'BeforeTool', 'Notification', 'AfterAgent', 'SessionEnd'];
const TIMEOUT_MS = 10_000;

function json(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

// The extension that makes Gemini CLI report to us: a folder in the user's `.gemini`, which `install` writes and removes. Every hook
// returns at once, because Gemini CLI waits for it before it draws a dialog. Pure.

import { quoteShellWord } from '../../core/shell-word.ts';
import type { AgentExtension, ExtensionPaths } from '../driver.ts';
import { extensionName } from '../extension-name.ts';

export const geminiExtension: AgentExtension = { isNeeded: true, folder: extensionFolder, files: extensionFiles };

function extensionFolder({ home }: ExtensionPaths): string {
  return `.gemini/extensions/${extensionName(home)}`;
}

/** By their paths in the folder. */
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

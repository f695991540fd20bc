// How Claude Code is started: with our hooks, its settings and the conversation to continue. Pure.

import type { SessionSettings } from '../../core/session-settings.ts';
import type { Launch, LaunchOptions } from '../driver.ts';

export function launchClaude({ command, settings, resume, hookSettings }: LaunchOptions): Launch {
  const [program = 'claude', ...args] = command;
  const hooks = hookSettings === undefined ? [] : ['--settings', hookSettings];
  const asked = settingsArguments(settings);
  if (resume === undefined) return start([program, ...hooks, ...args, ...asked]);
  if (resume === 'newest') return start([program, ...hooks, ...args, ...asked, '--continue']);
  // `--resume` with the id is exact: `--continue` takes the last conversation of the directory. A prompt is not given again.
  return start([program, ...hooks, ...keptArguments(args), '--resume', resume.session, ...asked]);
}

const start = (argv: readonly string[]): Launch => ({ argv, environment: {} });

/** The arguments that start Claude Code with these settings. */
function settingsArguments({ model, permissionMode, args = [] }: SessionSettings): readonly string[] {
  return [
    ...(model === undefined ? [] : ['--model', model]),
    ...(permissionMode === undefined ? [] : ['--permission-mode', permissionMode]),
    ...args,
  ];
}

/** Options of Claude Code that are kept for the next conversation, and whether they have a value. */
const KEPT_OPTIONS: Readonly<Record<string, boolean>> = {
  '--model': true,
  '--fallback-model': true,
  '--permission-mode': true,
  '--effort': true,
  '--agent': true,
  '--settings': true,
  '--dangerously-skip-permissions': false,
  '--allow-dangerously-skip-permissions': false,
  '--verbose': false,
  '--ide': false,
  '--chrome': false,
  '--no-chrome': false,
};

function keptArguments(args: readonly string[]): readonly string[] {
  const kept: string[] = [];
  for (let at = 0; at < args.length; at++) {
    const word = args[at] ?? '';
    const hasValue = KEPT_OPTIONS[word];
    if (hasValue === undefined && KEPT_OPTIONS[word.split('=', 1)[0] ?? ''] !== true) continue;
    kept.push(word, ...(hasValue === true ? args.slice(at + 1, at + 2) : []));
    if (hasValue === true) at++;
  }
  return kept;
}

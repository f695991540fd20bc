// Which variables of our own environment a session on this machine gets. The values may be secrets: they are passed in a
// private file, never on a command line. Pure.

import { quoteShellWord } from './shell-word.ts';

export type Variables = Readonly<Record<string, string>>;

/** What every agent gets, beside its own. PATH counts only if the login shell does not find the agent. */
export const COMMON_VARIABLES: readonly string[] = [
  ...['PATH', 'LANG', 'LC_*'],
  ...['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'http_proxy', 'https_proxy', 'no_proxy'],
];

/** A name, or the beginning of names and a "*". */
export function isVariablePattern(text: string): boolean {
  return /^[A-Za-z_]\w*\*?$/.test(text);
}

export function sessionEnvironment(
  env: Readonly<Record<string, string | undefined>>,
  patterns: readonly string[],
): Variables {
  const isListed = (name: string) =>
    patterns.some((one) => (one.endsWith('*') ? name.startsWith(one.slice(0, -1)) : name === one));
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) =>
      value !== undefined && /^[A-Za-z_]\w*$/.test(name) && isListed(name) && !isNeverPassed(name)
        ? [[name, value]]
        : [],
    ),
  );
}

/** Set in an agent that has our hooks from the command line: the home that they report to. `plugin/run` reads it. */
export const HOOKED_BY = 'THREADMUX_HOOKS';

/** Our own token, the pane that we run in, and what an agent that started us has set for its children. */
function isNeverPassed(name: string): boolean {
  return NEVER_PASSED.test(name);
}

const NEVER_PASSED =
  /^(?:DISCORD_BOT_TOKEN|THREADMUX_HOOKS|TMUX|TMUX_PANE|CLAUDECODE|CLAUDE_(?:EFFORT|PROJECT_DIR|ENV_FILE|PLUGIN_ROOT|PLUGIN_DATA)|CLAUDE_CODE_(?:ENTRYPOINT|SESSION_ID|CHILD_SESSION|SSE_PORT|EXECPATH))$/;

/** A POSIX sh script that sets them. PATH gets another name: see RUN_FOUND. `program`: what is looked for, if a script starts it. */
export function environmentScript({ PATH, ...others }: Variables, program?: string): string {
  const lines = Object.entries(others).map(([name, value]) => `export ${name}=${quoteShellWord(value)}\n`);
  const find = program === undefined ? '' : `tmx_find=${quoteShellWord(program)}\n`;
  return PATH === undefined ? lines.join('') : `${lines.join('')}tmx_path=${quoteShellWord(PATH)}\n${find}`;
}

/** Runs "$@"; our PATH, as `tmx_path`, comes first if the program is not found without it. POSIX sh. */
export const RUN_FOUND = `command -v "\${tmx_find:-$1}" >/dev/null 2>&1 || PATH=\${tmx_path:+$tmx_path:}$PATH
export PATH; unset tmx_path tmx_find; exec "$@"`;

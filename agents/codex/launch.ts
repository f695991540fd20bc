// How Codex is started in a pane: with a server of its own, which our companion follows, or with hooks. Pure.

import { createHash } from 'node:crypto';
import { quoteShellWord, quoteShellWords } from '../../core/shell-word.ts';
import { isAtLeast } from '../../core/version.ts';
import type { Launch, LaunchOptions } from '../driver.ts';
import { splitCommand } from '../driver.ts';

export function launchCodex(options: LaunchOptions): Launch {
  const { command, settings, scripts, home, local } = options;
  const { program, options: given } = splitCommand(command);
  const wishes = [
    ...given,
    ...(settings.model === undefined ? [] : ['--model', settings.model]),
    ...MODES[settings.permissionMode ?? 'default'],
    ...(settings.args ?? []),
  ];
  const words = [...resumeWords(options.resume), ...wishes];
  const embedded = [...program, ...hookOptions(scripts, home), ...words];
  const mode = chooseMode({ local: local !== undefined, version: options.version, home, wishes });
  if (mode.kind === 'hooks' || local === undefined)
    return { argv: embedded, environment: {}, weaker: `${mode.because} ${WEAKER}` };
  return {
    argv: [
      ...['/bin/sh', `${local.dist}/agents/codex/codex-pane`, home, scripts],
      quoteShellWords([...program, 'app-server', ...configOptions(wishes)]),
      quoteShellWords([local.node, `${local.dist}/bin/codex-companion.js`, scripts, home]),
      quoteShellWords(embedded),
      JSON.stringify(notice(options.directory)),
      quoteShellWords(program),
      ...words,
    ],
    environment: {},
  };
}

/** Reported if the server does not start. */
function notice(cwd: string) {
  const message = `The server of Codex did not start. ${WEAKER}`;
  return { event: 'notice', session: '', cwd, transcript: '', message };
}

/** What comes nearest to the modes of Claude Code. */
const MODES: Readonly<Record<NonNullable<LaunchOptions['settings']['permissionMode']>, readonly string[]>> = {
  default: [],
  acceptEdits: ['--sandbox', 'workspace-write', '--ask-for-approval', 'on-request'],
  plan: ['--sandbox', 'read-only', '--ask-for-approval', 'on-request'],
  auto: ['--approve-for-me'],
  dontAsk: ['--ask-for-approval', 'never'],
  bypassPermissions: ['--dangerously-bypass-approvals-and-sandbox'],
};

type Mode = { readonly kind: 'server'; readonly because: '' } | { readonly kind: 'hooks'; readonly because: string };

interface ModeFacts {
  /** It starts on the bridge's machine, where Node.js is known. */
  readonly local: boolean;
  /** What `codex --version` prints, if it is known. */
  readonly version: string | undefined;
  readonly home: string;
  readonly wishes: readonly string[];
}

/** The first version whose server we have seen. */
const SERVER_SINCE = [0, 166];
/** Unix sockets have a short limit, 104 bytes on macOS; a folder and a name follow. */
const LONGEST_HOME = 80;
/** The server does not take them, or they ask for a Codex without one. */
const WITHOUT_SERVER = /^(?:-p|--profile(?:=.*)?|--no-daemon|--dangerously-bypass-hook-trust|--oss|--remote(?:=.*)?)$/;

export function chooseMode({ local, version, home, wishes }: ModeFacts): Mode {
  const hooks = (because: string) => ({ kind: 'hooks', because }) as const;
  if (!local) return hooks('On another host, Codex runs without a server of its own.');
  if (version !== undefined && !isAtLeast(version, SERVER_SINCE))
    return hooks('This version of Codex has no server that threadmux can use.');
  const wish = wishes.find((word) => WITHOUT_SERVER.test(word));
  if (wish !== undefined)
    return hooks(`Codex runs without a server of its own because of ${wish.replace(/=.*/s, '')}.`);
  if (Buffer.byteLength(home) > LONGEST_HOME)
    return hooks("The path of threadmux's folder is too long for a server of its own.");
  return { kind: 'server', because: '' };
}

/** What the thread's welcome says. */
const WEAKER =
  'threadmux reports through hooks, which it gave to Codex as trusted for this start. A permission is asked in the thread first, and in the terminal after ten minutes. Questions, interruptions and errors are read from the screen, and only the last text of a turn is posted.';

function resumeWords(resume: LaunchOptions['resume']): readonly string[] {
  if (resume === undefined) return [];
  return resume === 'newest' ? ['resume', '--last'] : ['resume', resume.session];
}

/** The options that change the configuration: the server needs them as well. */
function configOptions(wishes: readonly string[]): readonly string[] {
  return wishes.flatMap((word, at) => {
    if (/^(?:-c|--config|--enable|--disable)$/.test(wishes[at - 1] ?? '')) return [wishes[at - 1] ?? '', word];
    return /^--(?:config|enable|disable)=/.test(word) ? [word] : [];
  });
}

// The hooks of a Codex that runs without a server, given on its command line for this start only. Codex asks before it runs a hook
// that it does not know; `hooks.state` answers that for exactly these hooks.

/** Seconds. Codex allows three at the end of a session. While `ask` waits, the terminal shows no dialog. */
const TIMEOUTS = {
  SessionStart: 60,
  UserPromptSubmit: 60,
  PreToolUse: 60,
  PermissionRequest: 600,
  Stop: 60,
  SessionEnd: 3,
} as const;

export function hookOptions(scripts: string, home: string): readonly string[] {
  const hooks = Object.entries(TIMEOUTS).map(([event, timeout]) => {
    const script =
      event === 'PermissionRequest' ? `exec ${quoteShellWord(`${scripts}/ask`)}` : quoteShellWord(`${scripts}/drop`);
    return { event, timeout, command: `THREADMUX_HOME=${quoteShellWord(home)} ${script} codex` };
  });
  const trusted = hooks.map((hook) => `${toml(trustKey(hook.event))}={trusted_hash=${toml(trustedHash(hook))}}`);
  return [
    ...hooks.flatMap(({ event, command, timeout }) => [
      '-c',
      `hooks.${event}=[{hooks=[{type="command",command=${toml(command)},timeout=${timeout}}]}]`,
    ]),
    '-c',
    `hooks.state={${trusted.join(',')}}`,
  ];
}

/** How Codex names the first hook of an event that comes from its command line. */
function trustKey(event: string): string {
  return `/<session-flags>/config.toml:${snakeCase(event)}:0:0`;
}

/** The hash that Codex stores when a person trusts a hook: of its definition, with sorted names. */
function trustedHash({ event, command, timeout }: { event: string; command: string; timeout: number }): string {
  const hook = { async: false, command, timeout, type: 'command' };
  const definition = JSON.stringify({ event_name: snakeCase(event), hooks: [hook] });
  return `sha256:${createHash('sha256').update(definition).digest('hex')}`;
}

function snakeCase(name: string): string {
  return name.replace(/(?<=[a-z])(?=[A-Z])/g, '_').toLowerCase();
}

/** A string of JSON is also one of TOML. */
function toml(text: string): string {
  return JSON.stringify(text);
}

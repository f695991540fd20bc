// The hooks of a Codex that runs without a server, given on its command line for this start only. Codex asks before it runs a hook
// that it does not know; `hooks.state` answers that for exactly these hooks. Pure.

import { createHash } from 'node:crypto';
import { quoteShellWord } from '../../core/shell-word.ts';

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

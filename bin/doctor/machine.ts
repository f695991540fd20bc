// Checks of one machine: tmux, Node.js, the clock, no secrets in its panes, and our hooks in Claude Code. Pure functions.

import type { SettingsLook } from '../../agents/claude/settings.ts';
import { formatDuration } from '../../core/duration.ts';
import { isAtLeast, NODE_NEEDED, TMUX_NEEDED } from '../../core/version.ts';
import type { Probe } from '../../hosts/probe.ts';
import { type Finding, fault, fine, warning } from './finding.ts';

const NODE = `Node.js ${NODE_NEEDED.join('.')} or newer`;
const TMUX = `tmux ${TMUX_NEEDED.join('.')} or newer`;

/** One or two seconds are normal on a busy machine; a minute puts messages in the wrong order. */
const CLOCK_WARN_MS = 5_000;
const CLOCK_FAULT_MS = 60_000;

export function judgeMachine(probe: Pick<Probe, 'tmux' | 'secrets' | 'missingAgents'>, on: string): readonly Finding[] {
  return [
    judgeTmux(probe.tmux, on),
    ...judgeSecrets(probe.secrets, on),
    ...probe.missingAgents.map((agent) =>
      warning(
        'agent',
        `The agent \`${agent}\` is not installed on ${on}: \`!new\` cannot start it there.`,
        `Install it, or set "agent" in config.json to another program.`,
      ),
    ),
  ];
}

/** `missing`: the agents that the service does not find. */
export function judgeServicePath(missing: readonly string[]): readonly Finding[] {
  return missing.map((agent) =>
    warning(
      'service',
      `The service does not find the agent \`${agent}\`: neither in its own PATH nor in that of your login shell.`,
      `Run \`threadmux service install\` again, in a terminal in which \`${agent}\` works.`,
    ),
  );
}

export function judgeNode(version: string, on: string): Finding {
  if (!isAtLeast(version, NODE_NEEDED))
    return fault('node', `Node.js ${version} on ${on} is too old.`, `Install ${NODE}.`);
  return fine('node', `Node.js ${version} on ${on}.`);
}

export function judgeClock(aheadMs: number, whose: string): Finding {
  const off = Math.abs(aheadMs);
  const says = `${whose} is ${formatDuration(off)} ${aheadMs > 0 ? 'ahead of' : 'behind'} the clock of this machine`;
  const remedy =
    'Set both clocks from the network: run `timedatectl set-ntp true`, or turn on "Set time automatically" on macOS.';
  if (off >= CLOCK_FAULT_MS) return fault('clock', `${says}: old messages may be treated as new.`, remedy);
  if (off >= CLOCK_WARN_MS) return warning('clock', `${says}.`, remedy);
  return fine('clock', `${whose} matches the clock of this machine.`);
}

function judgeTmux(version: string | undefined, on: string): Finding {
  if (version === undefined)
    return fault(
      'tmux',
      `tmux is not installed on ${on}.`,
      `Install ${TMUX} (apt install tmux, brew install tmux). On another host, you can set its path as "tmux" in config.json.`,
    );
  if (!isAtLeast(version, TMUX_NEEDED)) return fault('tmux', `${version} on ${on} is too old.`, `Install ${TMUX}.`);
  return fine('tmux', `${version} on ${on}.`);
}

function judgeSecrets(names: readonly string[], on: string): readonly Finding[] {
  return names.map((name) =>
    fault(
      'tmux-environment',
      `The tmux server on ${on} passes ${name} to every new pane, where every program can read it.`,
      `Run \`tmux set-environment -g -u ${name}\`, and store the token in config.json with \`threadmux init\`.`,
    ),
  );
}

interface HookFacts {
  readonly on: string;
  /** The install command for that machine. */
  readonly install: string;
  readonly probe: Pick<Probe, 'settingsPath' | 'courierNode' | 'home' | 'tmuxHooks'>;
  /** Undefined if there is no settings.json. */
  readonly look: SettingsLook | undefined;
  /** The missing files among those that our commands name. */
  readonly missing: readonly string[];
  /** The home of hooks whose command does not name one. */
  readonly usualHome: string;
  /** Settings files of projects that have our hooks. */
  readonly projects: readonly string[];
  /** What is to say about our plugin. The plugin of another host reports to a threadmux of its own. */
  readonly plugin: readonly Finding[];
}

export function judgeHooks(facts: HookFacts): readonly Finding[] {
  const { look, on, install, probe } = facts;
  if (look?.kind === 'invalid')
    return [
      fault(
        'settings',
        `Claude Code cannot read ${probe.settingsPath} on ${on}: ${look.why}.`,
        'Correct the file. Until then, Claude Code ignores all of its settings.',
      ),
    ];
  if (look === undefined || look.events.length === 0) {
    if (facts.plugin.length > 0) return facts.plugin;
    if (facts.projects.length > 0)
      return [fine('hooks', `The hooks are installed only in these projects: ${facts.projects.join(', ')}.`)];
    return [
      warning(
        'hooks',
        `The hooks are not installed in Claude Code on ${on}: only sessions started with \`!new\` report to their threads.`,
        `Run \`${install}\`.`,
      ),
    ];
  }
  return [
    ...facts.plugin,
    judgeEvents(look, facts),
    ...judgeFiles(facts),
    ...judgeHomes(look, facts),
    ...judgeCourierNode(facts),
    ...judgeStatusline(look, facts),
    ...(probe.tmuxHooks === false
      ? [
          warning(
            'tmux-hooks',
            `The running tmux server on ${on} does not report new and closed sessions: their threads change a little later.`,
            `Run \`${install}\`.`,
          ),
        ]
      : []),
  ];
}

type Settings = SettingsLook & { kind: 'settings' };

function judgeEvents(look: Settings, { on, install, probe }: HookFacts): Finding {
  if (look.disabled)
    return fault(
      'hooks',
      `${probe.settingsPath} on ${on} has "disableAllHooks": true, so Claude Code runs no hooks.`,
      'Remove that line, or set it to false.',
    );
  if (look.lacking.length > 0)
    return fault(
      'hooks',
      `Some hooks are missing in ${probe.settingsPath} on ${on}: ${look.lacking.join(', ')}.`,
      `Run \`${install}\` again.`,
    );
  return fine('hooks', `Claude Code on ${on} has all ${look.events.length} hooks.`);
}

function judgeFiles({ missing, on, install }: HookFacts): readonly Finding[] {
  return missing.map((path) =>
    fault(
      'hooks-path',
      `The hooks on ${on} call ${path}, which no longer exists.`,
      `Run \`${install}\` again to update the paths.`,
    ),
  );
}

function judgeHomes(look: Settings, facts: HookFacts): readonly Finding[] {
  const { probe, on, install, usualHome } = facts;
  return look.homes
    .map((home) => home ?? usualHome)
    .filter((home) => home !== probe.home)
    .map((home) =>
      fault(
        'hooks-home',
        `The hooks on ${on} write to ${home}, but threadmux reads ${probe.home}.`,
        `Set THREADMUX_HOME to the same folder everywhere, then run \`${install}\` again.`,
      ),
    );
}

function judgeCourierNode({ probe, on, install }: HookFacts): readonly Finding[] {
  const { courierNode } = probe;
  if (courierNode === undefined || courierNode.works) return [];
  return [
    fault(
      'hooks-node',
      `The hooks on ${on} start ${courierNode.path}, which no longer works (named in ${probe.home}/state/node).`,
      `Run \`${install}\` again with the Node.js to use.`,
    ),
  ];
}

function judgeStatusline(look: Settings, { on, install, probe }: HookFacts): readonly Finding[] {
  if (look.statusline === 'ours') return [];
  const why = look.statusline === 'none' ? 'has no status line' : 'has another status line';
  return [
    warning(
      'statusline',
      `${probe.settingsPath} on ${on} ${why}: replies do not show model, context and cost.`,
      `Run \`${install}\` again; your own status line stays visible.`,
    ),
  ];
}

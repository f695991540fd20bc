// What a machine needs for us, judged by what it has: tmux, Node.js, a right clock, no secrets in its panes. Pure.

import type { SettingsLook } from '../../agents/claude/settings.ts';
import { formatDuration } from '../../core/duration.ts';
import { isAtLeast, NODE_NEEDED, TMUX_NEEDED } from '../../core/version.ts';
import type { Probe } from '../../hosts/probe.ts';
import { type Finding, fault, fine, warning } from './finding.ts';

const NODE = `Node.js ${NODE_NEEDED.join('.')} or newer`;
const TMUX = `tmux ${TMUX_NEEDED.join('.')} or newer`;

/** A second or two is a busy machine; a minute puts messages in the wrong order. */
const CLOCK_WARN_MS = 5_000;
const CLOCK_FAULT_MS = 60_000;

export function judgeMachine(probe: Probe, on: string, agent: string): readonly Finding[] {
  return [
    judgeTmux(probe.tmux, on),
    ...judgeSecrets(probe.secrets, on),
    ...(probe.agent
      ? []
      : [
          warning(
            'agent',
            `The agent \`${agent}\` was not found on ${on}: \`!new\` starts a plain shell there.`,
            `Install it, or name another program under "agent" in config.json.`,
          ),
        ]),
  ];
}

export function judgeNode(version: string, on: string): Finding {
  if (!isAtLeast(version, NODE_NEEDED))
    return fault('node', `Node.js ${version} on ${on} is too old.`, `Install ${NODE}.`);
  return fine('node', `Node.js ${version} on ${on}.`);
}

export function judgeClock(aheadMs: number, whose: string): Finding {
  const off = Math.abs(aheadMs);
  const says = `${whose} is ${formatDuration(off)} ${aheadMs > 0 ? 'ahead of' : 'behind'} the clock of this machine`;
  const remedy = 'Set both clocks by the network: `timedatectl set-ntp true`, or "Set time automatically" on macOS.';
  if (off >= CLOCK_FAULT_MS) return fault('clock', `${says}: old messages may be taken for new ones.`, remedy);
  if (off >= CLOCK_WARN_MS) return warning('clock', `${says}.`, remedy);
  return fine('clock', `${whose} agrees with this machine's.`);
}

function judgeTmux(version: string | undefined, on: string): Finding {
  if (version === undefined)
    return fault(
      'tmux',
      `tmux was not found on ${on}.`,
      `Install ${TMUX} (apt install tmux, brew install tmux); on another host, its path can be given as "tmux" in config.json.`,
    );
  if (!isAtLeast(version, TMUX_NEEDED)) return fault('tmux', `${version} on ${on} is too old.`, `Install ${TMUX}.`);
  return fine('tmux', `${version} on ${on}.`);
}

function judgeSecrets(names: readonly string[], on: string): readonly Finding[] {
  return names.map((name) =>
    fault(
      'tmux-environment',
      `The tmux server on ${on} gives ${name} to every new pane: whatever runs there can read it.`,
      `Run \`tmux set-environment -g -u ${name}\`, and keep the token in config.json (threadmux init).`,
    ),
  );
}

// Whether Claude Code tells us anything: its settings, our hooks in them, and the programs they start. Pure.

interface HookFacts {
  readonly on: string;
  /** How `install` is called for that machine. */
  readonly install: string;
  readonly probe: Pick<Probe, 'settingsPath' | 'courierNode' | 'home' | 'tmuxHooks'>;
  /** Undefined: there is no settings.json. */
  readonly look: SettingsLook | undefined;
  /** Of the files that our commands name. */
  readonly missing: readonly string[];
  /** The home that hooks use if their command names none. */
  readonly usualHome: string;
  /** Settings files of single projects that have our hooks. */
  readonly projects: readonly string[];
}

export function judgeHooks(facts: HookFacts): readonly Finding[] {
  const { look, on, install, probe } = facts;
  if (look?.kind === 'invalid')
    return [
      fault(
        'settings',
        `Claude Code cannot read ${probe.settingsPath} on ${on}: ${look.why}.`,
        'Correct it; until then Claude Code runs without any of its settings.',
      ),
    ];
  if (look === undefined || look.events.length === 0) {
    if (facts.projects.length > 0)
      return [fine('hooks', `Our hooks are in single projects only: ${facts.projects.join(', ')}.`)];
    return [
      warning(
        'hooks',
        `Claude Code on ${on} does not have our hooks: only sessions started with \`!new\` report by themselves.`,
        `Run \`${install}\`.`,
      ),
    ];
  }
  return [
    judgeEvents(look, facts),
    ...judgeFiles(facts),
    ...judgeHomes(look, facts),
    ...judgeCourierNode(facts),
    ...judgeStatusline(look, facts),
    ...(probe.tmuxHooks === false
      ? [
          warning(
            'tmux-hooks',
            `The tmux server that runs on ${on} does not tell of sessions that come and go: their threads follow a little later.`,
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
      `${probe.settingsPath} on ${on} has "disableAllHooks": true, so Claude Code runs none of them.`,
      'Remove that line, or set it to false.',
    );
  if (look.lacking.length > 0)
    return fault(
      'hooks',
      `Only some of our hooks are in ${probe.settingsPath} on ${on}; missing: ${look.lacking.join(', ')}.`,
      `Run \`${install}\` again.`,
    );
  return fine('hooks', `Claude Code on ${on} has all ${look.events.length} hooks.`);
}

function judgeFiles({ missing, on, install }: HookFacts): readonly Finding[] {
  return missing.map((path) =>
    fault(
      'hooks-path',
      `The hooks on ${on} call ${path}, which is not there any more.`,
      `Run \`${install}\` again; it writes where things are now.`,
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
        `The hooks on ${on} leave their letters in ${home}, but threadmux looks in ${probe.home}.`,
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
      `The Node.js that the hooks on ${on} start is gone: ${courierNode.path} (${probe.home}/state/node).`,
      `Run \`${install}\` again with the Node.js that is to be used.`,
    ),
  ];
}

function judgeStatusline(look: Settings, { on, install, probe }: HookFacts): readonly Finding[] {
  if (look.statusline === 'ours') return [];
  const why = look.statusline === 'none' ? 'has no status line' : 'has a status line that is not ours';
  return [
    warning(
      'statusline',
      `${probe.settingsPath} on ${on} ${why}: replies come without model, context and cost.`,
      `Run \`${install}\` again; a status line of your own stays as it is and is shown.`,
    ),
  ];
}

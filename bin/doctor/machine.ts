// Checks of one machine: tmux, Node.js, the clock, and no secrets in its panes. Pure functions.

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

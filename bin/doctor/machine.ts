// What a machine needs for us, judged by what it has: tmux, Node.js, a right clock, no secrets in its panes. Pure.

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

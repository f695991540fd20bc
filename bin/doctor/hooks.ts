// Whether Claude Code tells us anything: its settings, our hooks in them, and the programs they start. Pure.

import type { SettingsLook } from '../../agents/claude/settings.ts';
import type { Probe } from '../../hosts/probe.ts';
import { type Finding, fault, fine, warning } from './finding.ts';

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

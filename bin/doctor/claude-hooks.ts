// Checks of our hooks in Claude Code: settings, files, homes, the status line, and that the plugin is not there as well.

import type { SettingsLook } from '../../agents/claude/settings.ts';
import type { Probe } from '../../hosts/probe.ts';
import { findBoth, findPlugin, PLUGIN_NAME } from '../../install/plugin.ts';
import { type Finding, fault, fine, warning } from './finding.ts';

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

interface PluginFacts {
  readonly on: string;
  /** The user's settings.json. */
  readonly settings: string;
  /** All settings files with our hooks. */
  readonly files: readonly string[];
}

/** Nothing if the plugin is not there. */
export function judgePlugin({ on, settings, files }: PluginFacts): readonly Finding[] {
  const places = findPlugin(settings);
  const both = findBoth(settings, files, places);
  if (both !== undefined) {
    const where = both.plugin === null ? '' : ` for ${both.plugin}`;
    const there = both.plugin === null ? '' : ` there`;
    return [
      fault(
        'hooks',
        `Claude Code on ${on} has both the threadmux plugin${where} and the hooks in ${both.files.join(', ')}: everything is posted twice.`,
        `Run \`claude plugin uninstall ${PLUGIN_NAME}\`${there}, or \`threadmux uninstall\` and then \`threadmux install --plugin\`.`,
      ),
    ];
  }
  if (files.length > 0) return [];
  if (places.user) return [fine('hooks', `Claude Code on ${on} has the hooks of the threadmux plugin.`)];
  if (places.projects.length === 0) return [];
  return [fine('hooks', `The threadmux plugin is installed only in these projects: ${places.projects.join(', ')}.`)];
}

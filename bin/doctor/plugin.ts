// Checks that Claude Code on this machine does not have both our hooks and our plugin.

import { findBoth, findPlugin, PLUGIN_NAME } from '../../install/plugin.ts';
import { type Finding, fault, fine } from './finding.ts';

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

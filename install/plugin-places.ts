// Where our plugin is turned on in Claude Code on this machine: for the user, or in single projects. It only reads.

import { dirname, join } from 'node:path';
import * as z from 'zod';
import { inspectSettings } from '../agents/claude/settings.ts';
import { readJson } from '../home/atomic-write.ts';
import { readBeginning } from '../home/checked-file.ts';

export const PLUGIN_NAME = 'threadmux@threadmux';

interface PluginPlaces {
  readonly user: boolean;
  /** The folders of projects that have it for themselves. */
  readonly projects: readonly string[];
}

/** As Claude Code writes it; a newer version may write more. */
const installedSchema = z.object({
  plugins: z.record(z.string(), z.array(z.object({ projectPath: z.string().optional() }))),
});

/** `settings`: the user's settings.json. */
export function findPlugin(settings: string): PluginPlaces {
  const projects = installsIn(dirname(settings)).flatMap(({ projectPath }) => projectPath ?? []);
  return { user: settingOf(settings) ?? false, projects: [...new Set(projects)].filter(isOnInProject) };
}

/** The installs that Claude Code knows, turned on or not. */
export function installsIn(claudeDir: string) {
  return readJson(join(claudeDir, 'plugins/installed_plugins.json'), installedSchema)?.plugins[PLUGIN_NAME] ?? [];
}

interface HooksAndPlugin {
  /** Settings files with our hooks. */
  readonly files: readonly string[];
  /** Where the plugin is on as well: null for the user. */
  readonly plugin: string | null;
}

/** Places where Claude Code runs the hooks of both. `user`: the user's settings.json; other files belong to projects. */
export function findBoth(user: string, files: readonly string[], places: PluginPlaces): HooksAndPlugin | undefined {
  if (files.length === 0) return undefined;
  if (places.user) return { files, plugin: null };
  for (const plugin of places.projects) {
    const there = files.filter((file) => file === user || dirname(dirname(file)) === plugin);
    if (there.length > 0) return { files: there, plugin };
  }
  return undefined;
}

function isOnInProject(project: string): boolean {
  const [shared, own] = ['settings.json', 'settings.local.json'].map((file) =>
    settingOf(join(project, '.claude', file)),
  );
  return own ?? shared ?? false;
}

/** The files of a project may be anything, and of any size. */
const MOST_BYTES = 4 * 2 ** 20;

/** Undefined if the file does not say. */
function settingOf(settings: string): boolean | undefined {
  const look = inspectSettings(readBeginning(settings, MOST_BYTES) ?? '');
  return look.kind === 'settings' ? look.plugin : undefined;
}

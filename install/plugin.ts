// Installs and removes our plugin with Claude Code's own commands, instead of hooks in settings.json. Afterwards Claude Code's files are as
// they were before.

import { existsSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as z from 'zod';
import { inspectSettings } from '../agents/claude/settings.ts';
import { ThreadmuxError } from '../core/errors.ts';
import { readJson, readText, writeJson, writeWhole } from '../home/atomic-write.ts';
import { readBeginning } from '../home/checked-file.ts';
import type { Home } from '../home/home.ts';
import { sha256 } from '../home/installed.ts';
import { readUserFile, removeIfEmpty, writeUserFile } from '../home/user-owned-file.ts';
import { type Environment, runProcess } from '../hosts/process.ts';

export const PLUGIN_NAME = 'threadmux@threadmux';
const MARKETPLACE = 'threadmux';
/** The folder of this package, which has the marketplace file. */
const PACKAGE = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '');
const TIMEOUT_MS = 120_000;

/** What we have to restore. */
const recordSchema = z.object({
  settings: z.string(),
  /** Null if it did not exist. */
  before: z.string().nullable(),
  /** The hash of the file with the plugin. */
  sha256: z.string(),
  madePlugins: z.boolean(),
});

export interface PluginParts {
  readonly home: Home;
  /** Claude Code's settings.json. */
  readonly settings: string;
  /** The command that starts Claude Code. */
  readonly claude: string;
  readonly env: Environment;
}

export async function installPlugin(parts: PluginParts): Promise<readonly string[]> {
  const { home, settings } = parts;
  const before = readText(settings);
  const folder = join(dirname(settings), 'plugins');
  const known = readJson(recordPath(home), recordSchema);
  const madePlugins = known?.madePlugins ?? !existsSync(folder);
  await claude(parts, ['plugin', 'marketplace', 'add', PACKAGE]);
  await claude(parts, ['plugin', 'install', PLUGIN_NAME]);
  writeJson(recordPath(home), {
    settings,
    before: known === undefined ? (before ?? null) : known.before,
    sha256: sha256(readText(settings) ?? ''),
    madePlugins,
  });
  return [`Claude Code: installed the plugin ${PLUGIN_NAME}. Sessions that run already get it after a restart.`];
}

/** Nothing to do if it is not installed. */
export async function uninstallPlugin(parts: PluginParts): Promise<readonly string[]> {
  const { home } = parts;
  const record = readJson(recordPath(home), recordSchema);
  if (record === undefined) return [];
  const isUnchanged = sha256(readText(record.settings) ?? '') === record.sha256;
  // The user may have removed either with Claude Code: its commands fail then.
  const claudeDir = dirname(record.settings);
  if (installsIn(claudeDir).length > 0) await claude(parts, ['plugin', 'uninstall', PLUGIN_NAME]);
  if (hasMarketplace(claudeDir)) await claude(parts, ['plugin', 'marketplace', 'remove', MARKETPLACE]);
  if (isUnchanged && record.before !== null) writeUserFile(readUserFile(record.settings), record.before);
  else if (isUnchanged) rmSync(record.settings, { force: true });
  clearPlugins(join(claudeDir, 'plugins'), record.madePlugins);
  rmSync(recordPath(home), { force: true });
  return [`Claude Code: removed the plugin ${PLUGIN_NAME}.`];
}

/** Whether `install --plugin` was used with this home. */
export function hasPlugin(home: Home): boolean {
  return existsSync(recordPath(home));
}

const recordPath = (home: Home) => home.path('state', 'plugin.json');

function hasMarketplace(claudeDir: string): boolean {
  const known = readJson(join(claudeDir, 'plugins/known_marketplaces.json'), z.record(z.string(), z.unknown()));
  return known !== undefined && MARKETPLACE in known;
}

/** Claude Code keeps a copy for some days, and empty lists. */
function clearPlugins(folder: string, isOurs: boolean): void {
  rmSync(join(folder, 'cache', MARKETPLACE), { recursive: true, force: true });
  for (const name of ['cache', 'marketplaces', 'data']) removeIfEmpty(join(folder, name));
  if (!isOurs || !existsSync(folder)) return;
  const left = readdirSync(folder);
  const empty = ['installed_plugins.json', 'known_marketplaces.json'].filter((name) =>
    /^\s*(?:\{\s*\}|\{\s*"version": \d+,\s*"plugins": \{\s*\}\s*\})\s*$/.test(readText(join(folder, name)) ?? ''),
  );
  if (left.every((name) => empty.includes(name))) rmSync(folder, { recursive: true, force: true });
}

/** Remembered for the plugin's hooks, which Claude Code copies to another place. */
export function rememberProgram(home: Home, { node, dist }: { readonly node: string; readonly dist: string }): void {
  writeWhole(join(home.folder('state'), 'node'), `${node}\n`);
  writeWhole(join(home.folder('state'), 'program'), `${dist}\n`);
}

async function claude({ claude: program, env }: PluginParts, args: readonly string[]): Promise<void> {
  const { status, stdout, stderr } = await runProcess(program, args, { env, timeoutMs: TIMEOUT_MS });
  if (status === 0) return;
  throw new ThreadmuxError(
    'not_found',
    `\`${program} ${args.join(' ')}\` failed: ${(stderr || stdout).trim().slice(0, 500)}`,
    {
      hint: 'Check that Claude Code is installed and new enough for plugins, or run `threadmux install` without --plugin.',
    },
  );
}

// Where the plugin is turned on in Claude Code on this machine: for the user, or in single projects. This only reads.

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
function installsIn(claudeDir: string) {
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

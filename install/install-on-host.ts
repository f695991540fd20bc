// Installs and uninstalls our hooks on another host, from this machine. The backups stay on this machine. Only sh and tmux run on
// the host, and no secret is sent there.

import { rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type InstalledPaths, isOfHome } from '../agents/claude/hook-commands.ts';
import { loadInstalled } from '../home/installed.ts';
import type { Host } from '../hosts/host.ts';
import { findHostPaths, type HostPaths, putScripts, removeHome } from '../hosts/host-home.ts';
import {
  checkHostFile,
  type HostFile,
  readHostFiles,
  removeHostFile,
  writeHostFile,
} from '../hosts/host-user-files.ts';
import type { Tmux } from '../tmux/tmux.ts';
import { hookPlaceOf, unloadHooks } from '../tmux/tmux-hooks.ts';
import { extensionFiles, extensionPart, installedExtensions } from './extension-files.ts';
import {
  applyChange,
  checkNoBridge,
  describeChange,
  type FileChange,
  type Files,
  inOrder,
  planAdding,
  planRemoving,
  revertChange,
  settingsPart,
  tmuxPart,
  withInstallLock,
} from './file-change.ts';
import { describeInstall } from './install.ts';
import { driverFilesForHosts } from './program-files.ts';

export interface HostInstallOptions {
  /** The folder of our home on this machine. */
  readonly root: string;
  /** The name of this machine on the host. */
  readonly name: string;
  readonly host: Host;
  /** Undefined does not change tmux on the host. */
  readonly tmux: Tmux | undefined;
  readonly dryRun?: boolean | undefined;
  /** The names of agents whose extensions are added. */
  readonly agents?: readonly string[] | undefined;
}

type HostChange = FileChange<HostFile>;

/** Returns what was done, one sentence per part. */
export async function installOn(
  options: HostInstallOptions & { readonly files: Readonly<Record<string, string>> },
): Promise<readonly string[]> {
  const { root, name, host, tmux } = options;
  const said = options.dryRun
    ? (await planFor(options)).changes.flatMap(describeChange)
    : await withInstallLock(
        root,
        async () => {
          const { home: there } = await putScripts(host, name, options.files);
          const { changes, agents } = await planFor(options, there);
          const records = recordsFor(root, host);
          // Before the extension that loads them. One agent at a time: a host may not take a command of any length.
          await inOrder(agents, (agent) => putScripts(host, name, driverFilesForHosts(agent)));
          const lines = await inOrder(changes, (one) => applyChange(one, records, filesOn(host)));
          return tmux === undefined ? lines : [...lines, await describeInstall(tmux, `${there}/tmux.conf`)];
        },
        host.name,
      );
  return said.map((line) => `${host.name}: ${line}`);
}

/** Undoes installOn. `purge` also deletes our home on the host. */
export async function uninstallOn(
  options: HostInstallOptions & { readonly purge?: boolean | undefined },
): Promise<readonly string[]> {
  const { root, name, host, tmux } = options;
  if (options.purge) checkNoBridge(root);
  const said = options.dryRun
    ? (await planAgainst(options)).changes.flatMap(describeChange)
    : await withInstallLock(
        root,
        async () => {
          const { changes, places } = await planAgainst(options);
          const records = recordsFor(root, host);
          const lines = await inOrder(changes, (one) => revertChange(one, records, filesOn(host)));
          if (loadInstalled(records).length === 0) rmSync(records, { recursive: true, force: true });
          const isLive = tmux && (await unloadHooks(tmux, hookPlaceOf(name)).catch(() => false));
          return [
            ...lines,
            ...(isLive ? ['tmux: removed the hooks from the running server.'] : []),
            ...(options.purge ? await purge(host, places) : []),
          ];
        },
        host.name,
      );
  return said.map((line) => `${host.name}: ${line}`);
}

interface Plan {
  readonly changes: readonly HostChange[];
  readonly places: HostPaths;
  /** Those whose extensions are added or are there already. */
  readonly agents: readonly string[];
}

/** All checks run here, before any change. `home` is our home on the host; by default the path that it will have. */
async function planFor(options: HostInstallOptions, home?: string): Promise<Plan> {
  const { host, tmux } = options;
  const places = await findHostPaths(host, options.name);
  const { settings, confs } = places;
  const files = await readHostFiles(host, [settings, ...confs]);
  const there = home ?? places.home;
  const part = partsOf(there);
  const records = recordsFor(options.root, host);
  const userHome = dirname(confs[0] ?? '');
  const added = extensionFiles(userHome, { scripts: `${there}/bin`, home: there }, options.agents ?? [], records);
  const found = await readHostFiles(
    host,
    added.map(({ path }) => path),
  );
  const [file, ...others] = files as [HostFile, ...HostFile[]];
  const conf = others.find(({ text }) => text !== undefined) ?? others[0];
  const changes = [planAdding(records, file, part.settings)];
  if (tmux !== undefined && conf !== undefined) changes.push(planAdding(records, conf, part.tmux));
  for (const [at, one] of found.entries()) changes.push(planAdding(records, one, added[at]?.part ?? extensionPart('')));
  const agents = [...new Set(added.map(({ agent }) => agent))];
  return { changes: checked(host, changes), places, agents };
}

async function planAgainst({ root, name, host, tmux }: HostInstallOptions): Promise<Omit<Plan, 'agents'>> {
  const places = await findHostPaths(host, name);
  const records = recordsFor(root, host);
  const known = loadInstalled(records);
  const pathsOf = (kind: 'settings' | 'tmux', usual: readonly string[]) => [
    ...new Set([...usual, ...known.flatMap((one) => (one.kind === kind ? one.path : []))]),
  ];
  const part = partsOf(places.home);
  const settings = await readHostFiles(host, pathsOf('settings', [places.settings]));
  const confs = tmux && (await readHostFiles(host, pathsOf('tmux', places.confs)));
  const added = await readHostFiles(host, installedExtensions(records));
  const changes = [
    ...settings.map((file) => planRemoving(records, file, part.settings)),
    ...(confs ?? [])
      .map((file) => planRemoving(records, file, part.tmux))
      .filter(({ file, after }) => file.text !== after || known.some(({ path }) => path === file.path)),
    ...added.map((file) => planRemoving(records, file, extensionPart(''))),
  ];
  return { changes: checked(host, changes), places };
}

/** Only our own parts: another threadmux may have hooks in the same files. */
function partsOf(home: string) {
  const paths: InstalledPaths = { dist: '', home, scripts: `${home}/bin`, isMine: isOfHome(home) };
  const conf = `${home}/tmux.conf`;
  return { settings: settingsPart(paths), tmux: tmuxPart(conf, conf) };
}

function checked(host: Host, changes: readonly HostChange[]): readonly HostChange[] {
  for (const { file, after } of changes) if (after !== file.text) checkHostFile(host, file);
  return changes;
}

function filesOn(host: Host): Files<HostFile> {
  return {
    write: (file, text) => writeHostFile(host, file, text),
    remove: (file, madeFolder) => removeHostFile(host, file, madeFolder),
  };
}

function recordsFor(root: string, host: Host): string {
  return join(root, 'state', 'hosts', host.name);
}

async function purge(host: Host, { home }: HostPaths): Promise<readonly string[]> {
  const letters = await removeHome(host, home);
  const lost = letters === 0 ? '' : `, with ${letters} undelivered letters`;
  return [`deleted ${home}${lost}. \`threadmux up\` creates it again while this host is configured.`];
}

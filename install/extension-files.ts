// The extensions of other agents that `install` adds: files that are ours alone, below the user's home.

import { join } from 'node:path';
import type { ExtensionPaths } from '../agents/driver.ts';
import { allDrivers } from '../agents/list.ts';
import { ThreadmuxError } from '../core/errors.ts';
import { loadInstalled } from '../home/installed.ts';
import type { ChangePart } from './file-change.ts';

interface ExtensionFile {
  /** The agent that loads it. */
  readonly agent: string;
  readonly path: string;
  readonly part: ChangePart;
}

/** Those of the agents in `asked`, and those that are installed already, because their paths may have changed. */
export function extensionFiles(
  userHome: string,
  paths: ExtensionPaths,
  asked: readonly string[],
  records: string,
): readonly ExtensionFile[] {
  const installed = installedExtensions(records);
  return allDrivers().flatMap(({ name, extension }) => {
    if (extension === undefined) return [];
    const folder = join(userHome, extension.folder(paths));
    const files = Object.entries(extension.files(paths)).map(([path, text]) => [join(folder, path), text] as const);
    if (!asked.includes(name) && !files.some(([path]) => installed.includes(path))) return [];
    if (!userHome.startsWith('/'))
      throw new ThreadmuxError('home_unsafe', 'HOME is not set', {
        hint: 'Run this as yourself, with HOME set to your home folder.',
      });
    return files.map(([path, text]) => ({ agent: name, path, part: extensionPart(text) }));
  });
}

/** The last file first: removed in this order, the folders that were made for them become empty. */
export function installedExtensions(records: string): readonly string[] {
  return loadInstalled(records)
    .flatMap(({ kind, path }) => (kind === 'extension' ? path : []))
    .toReversed();
}

export function extensionPart(text: string): ChangePart {
  return { kind: 'extension', add: () => text, remove: () => '', added: () => 'added the extension of threadmux.' };
}

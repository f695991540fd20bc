// The extensions of other agents that `install` adds: files that are ours alone, below the user's home.

import { join } from 'node:path';
import type { ExtensionPaths } from '../agents/driver.ts';
import { allDrivers } from '../agents/list.ts';
import type { ChangePart } from './file-change.ts';

interface ExtensionFile {
  readonly path: string;
  readonly part: ChangePart;
}

/** Those of the agents in `asked`, and those that are installed already, because their paths may have changed. */
export function extensionFiles(
  userHome: string,
  paths: ExtensionPaths,
  asked: readonly string[],
  installed: readonly { readonly path: string }[],
): readonly ExtensionFile[] {
  return allDrivers().flatMap(({ name, extension }) => {
    if (extension === undefined) return [];
    const folder = join(userHome, extension.folder(paths));
    const files = Object.entries(extension.files(paths)).map(([path, text]) => [join(folder, path), text] as const);
    const isThere = files.some(([path]) => installed.some((one) => one.path === path));
    return isThere || asked.includes(name) ? files.map(([path, text]) => ({ path, part: extensionPart(text) })) : [];
  });
}

export function extensionPart(text: string): ChangePart {
  return {
    kind: 'extension',
    add: () => text,
    remove: () => '',
    added: () => 'added the extension of threadmux.',
  };
}

// Checks the extensions that `install --agent` adds to other agents on this machine: whether they are there and up to date.

import { join } from 'node:path';
import type { AgentDriver, ExtensionPaths } from '../../agents/driver.ts';
import { readText } from '../../home/atomic-write.ts';
import { type Finding, fine, warning } from './finding.ts';

/** `drivers`: those whose program is installed. */
export function examineExtensions(
  drivers: readonly AgentDriver[],
  userHome: string,
  paths: ExtensionPaths,
): readonly Finding[] {
  return drivers.flatMap(({ name, title, extension }) => {
    if (extension === undefined) return [];
    const folder = join(userHome, extension.folder(paths));
    const states = Object.entries(extension.files(paths)).map(([path, text]) => {
      const found = readText(join(folder, path));
      return found === undefined ? 'missing' : found === text ? 'good' : 'old';
    });
    const add = `Run \`threadmux install --agent ${name}\`.`;
    if (states.every((state) => state === 'good')) return [fine('hooks', `The extension is installed in ${title}.`)];
    if (states.every((state) => state === 'missing'))
      return [warning('hooks', `The extension is not installed in ${title}: its replies are not posted.`, add)];
    return [warning('hooks', `The extension in ${title} is not up to date: ${folder}`, add)];
  });
}

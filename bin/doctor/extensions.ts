// Checks the extensions that `install --agent` adds to other agents, here and on hosts: whether they are there and up to date.

import { join } from 'node:path';
import type { AgentDriver, ExtensionPaths } from '../../agents/driver.ts';
import { allDrivers } from '../../agents/list.ts';
import { readText } from '../../home/atomic-write.ts';
import type { Host } from '../../hosts/host.ts';
import { readHostFiles } from '../../hosts/host-user-files.ts';
import { type Finding, fine, warning } from './finding.ts';

/** `drivers`: those whose program is installed. */
export function examineExtensions(
  drivers: readonly AgentDriver[],
  userHome: string,
  paths: ExtensionPaths,
): readonly Finding[] {
  return drivers
    .filter(({ name }) => name !== 'claude') // its hooks have a check of their own
    .map((driver) => {
      const files = Object.entries(filesOf(driver, userHome, paths));
      return judgeExtension(driver, stateOf(files.map(([path, text]) => [readText(path), text])), '');
    });
}

/** Only those that are there: nobody knows which agents a host has. */
export async function examineHostExtensions(host: Host, userHome: string, paths: ExtensionPaths) {
  const all = allDrivers().map((driver) => ({ driver, files: filesOf(driver, userHome, paths) }));
  const found = await readHostFiles(
    host,
    all.flatMap(({ files }) => Object.keys(files)),
  );
  const textOf = new Map(found.map(({ path, text }) => [path, text]));
  return all.flatMap(({ driver, files }) => {
    const state = stateOf(Object.entries(files).map(([path, text]) => [textOf.get(path), text]));
    return state === 'missing' ? [] : [judgeExtension(driver, state, host.name)];
  });
}

/** By their whole paths. */
function filesOf(
  { extension }: AgentDriver,
  userHome: string,
  paths: ExtensionPaths,
): Readonly<Record<string, string>> {
  if (extension === undefined) return {};
  const folder = join(userHome, extension.folder(paths));
  return Object.fromEntries(Object.entries(extension.files(paths)).map(([path, text]) => [join(folder, path), text]));
}

type ExtensionState = 'good' | 'missing' | 'old';

function stateOf(files: readonly (readonly [found: string | undefined, wanted: string])[]): ExtensionState {
  if (files.every(([found]) => found === undefined)) return 'missing';
  return files.every(([found, wanted]) => found === wanted) ? 'good' : 'old';
}

/** `on`: the name of another host, or empty. */
function judgeExtension({ name, title, extension }: AgentDriver, state: ExtensionState, on: string): Finding {
  const where = on === '' ? title : `${title} on ${on}`;
  const command = `threadmux install ${on === '' ? '' : `--host ${on} `}--agent ${name}`;
  if (extension === undefined)
    return fine('hooks', `${where} reports if threadmux starts it. Otherwise it works by its screen.`);
  if (state === 'good') return fine('hooks', `The extension is installed in ${where}.`);
  if (state === 'old') return warning('hooks', `The extension in ${where} is not up to date.`, `Run \`${command}\`.`);
  if (extension.isNeeded)
    return warning(
      'hooks',
      `The extension is not installed in ${where}: its replies are not posted.`,
      `Run \`${command}\`.`,
    );
  return fine('hooks', `${where} reports if threadmux starts it. \`${command}\` makes it report always.`);
}

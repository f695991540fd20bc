// Which agents `threadmux install` adds its hooks to, beside Claude Code: those of --agent, or those that a person chooses.

import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { AgentDriver } from '../../agents/driver.ts';
import { allDrivers, knownDriver } from '../../agents/list.ts';
import type { ConfigEnvironment } from '../../core/config.ts';
import { ThreadmuxError } from '../../core/errors.ts';
import { loadInstalled } from '../../home/installed.ts';
import { openQuestions } from '../questions.ts';

/** `flag`: names separated by commas, or "all". Without it, a person at a terminal is asked about the agents that are found. */
export async function agentsToInstall(
  flag: string | undefined,
  {
    root,
    project,
    dryRun,
  }: { readonly root: string; readonly project?: string | undefined; readonly dryRun?: boolean | undefined },
  env: ConfigEnvironment,
): Promise<readonly string[]> {
  if (flag !== undefined) return namedAgents(flag);
  const known = loadInstalled(join(root, 'state'));
  const found = allDrivers().filter((driver) => isNew(driver, known) && isInPath(driver, env.PATH ?? ''));
  if (found.length === 0 || project !== undefined || dryRun) return [];
  const questions = await openQuestions({ yes: false });
  if (!questions.isTerminal) return [];
  try {
    const chosen: string[] = [];
    for (const { name, title } of found)
      if (await questions.yes(`${title} is installed here. Add the extension of threadmux to it?`, true))
        chosen.push(name);
    return chosen;
  } finally {
    questions.close();
  }
}

export function namedAgents(flag: string): readonly string[] {
  if (flag === 'all') return allDrivers().map(({ name }) => name);
  const names = flag.split(',').filter(Boolean);
  const unknown = names.find((name) => knownDriver(name) === undefined);
  if (unknown === undefined) return names;
  const known = allDrivers().map(({ name }) => name);
  throw new ThreadmuxError('bad_usage', `${JSON.stringify(unknown)} is not an agent that threadmux knows`, {
    hint: `Use ${known.join(', ')} or all.`,
  });
}

/** Most agents report without anything in the user's files. */
export function nothingToAdd(names: readonly string[]): readonly string[] {
  return names.flatMap((name) => {
    const driver = knownDriver(name);
    if (driver === undefined || driver.name === 'claude' || driver.extension !== undefined) return [];
    return [`${driver.title}: nothing to add. It reports if threadmux starts it; otherwise it works by its screen.`];
  });
}

function isNew({ extension }: AgentDriver, known: readonly { readonly path: string }[]): boolean {
  const folder = extension?.folder({ scripts: '', home: '' });
  return folder !== undefined && !known.some(({ path }) => path.includes(`/${folder}/`));
}

/** Whether one of its programs is in this PATH, or exists if it is a path itself. */
export function isInPath({ programs }: Pick<AgentDriver, 'programs'>, path: string): boolean {
  const folders = path.split(delimiter).filter((folder) => folder.startsWith('/'));
  return programs.some((program) =>
    program.startsWith('/') ? isExecutable(program) : folders.some((folder) => isExecutable(join(folder, program))),
  );
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

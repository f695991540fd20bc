// Installs the agents of the lab once, into a cache outside the project: about 1.1 GB from the npm registry.

import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { agentFolder, agentPackage, agentProgram, type LabAgentName, labAgents } from './packages.ts';

export function setup(): void {
  for (const name of labAgents()) if (!existsSync(agentProgram(name))) install(name);
}

function install(name: LabAgentName): void {
  const folder = agentFolder(name);
  const { npm, version, program, finish, later } = agentPackage(name);
  process.stdout.write(`Installing ${npm} ${version} (once) into ${folder}\n`);
  mkdirSync(dirname(folder), { recursive: true });
  const making = mkdtempSync(`${folder}-`); // its own folder: a partial install must not be mistaken for a complete one
  const run = (command: string, ...args: string[]) =>
    execFileSync(command, args, { cwd: making, stdio: ['ignore', 'inherit', 'inherit'] });
  const add = (spec: string, ...options: string[]) =>
    run('npm', 'install', '--no-fund', '--no-audit', '--loglevel=error', ...options, spec);
  try {
    writeFileSync(join(making, 'package.json'), '{"private":true}\n');
    add(`${npm}@${version}`);
    if (later !== undefined) {
      mkdirSync(join(making, 'later'));
      writeFileSync(join(making, 'later/package.json'), '{}\n');
      add(`${later}@${version}`, '--save-exact', '--prefix', 'later');
    }
    if (finish !== undefined) run(process.execPath, join('node_modules', npm, finish));
    const env = { PATH: process.env.PATH ?? '', HOME: making }; // its first start writes files
    const asked = spawnSync(join('node_modules/.bin', program), ['--version'], { cwd: making, env, encoding: 'utf8' });
    const said = `${asked.stdout}${asked.stderr}`.trim();
    if (!said.includes(version)) throw new Error(`${npm} says that it is ${said}, not ${version}`);
    rmSync(folder, { recursive: true, force: true });
    renameSync(making, folder);
  } finally {
    rmSync(making, { recursive: true, force: true });
  }
}

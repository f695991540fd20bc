// Checks of another host: the connection and our files there.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { isOfHome } from '../../agents/claude/hook-commands.ts';
import { inspectSettings } from '../../agents/claude/settings.ts';
import type { Host } from '../../hosts/host.ts';
import { type HostHome, missingFiles, missingFolders, probeHome, probeHost } from '../../hosts/probe.ts';
import { filesForHosts } from '../../install/program-files.ts';
import { hookPlaceOf } from '../../tmux/tmux-hooks.ts';
import { judgeHooks } from './claude-hooks.ts';
import { examineHostExtensions } from './extensions.ts';
import { type Finding, fault, fine, warning } from './finding.ts';
import { judgeRoots } from './home.ts';
import { judgeClock, judgeMachine } from './machine.ts';

interface HostExamination {
  /** The name of this machine on the host. */
  readonly name: string;
  /** The programs of the agents that start there. */
  readonly agents: readonly string[];
  readonly socket: string | undefined;
  /** The folders on the host where terminals may be started. */
  readonly roots: readonly string[];
  /** Whether a bridge is running here; it collects the letters of the host. */
  readonly isUp: boolean;
  readonly tellAgent: boolean;
}

export async function examineHost(
  host: Host,
  { name, agents, socket, roots, isUp, tellAgent }: HostExamination,
): Promise<readonly Finding[]> {
  const on = host.name;
  const probe = await probeHost(host, { agents, socket, name, hookOption: hookPlaceOf(name).option });
  const wanted = Object.entries(filesForHosts(name, tellAgent)).map(([file, text]) => [
    file,
    text.replaceAll('{HOME}', probe.home),
  ]);
  const home = await probeHome(host, probe.home, Object.fromEntries(wanted));
  const look = probe.settings === undefined ? undefined : inspectSettings(probe.settings, isOfHome(probe.home));
  const missing = await missingFiles(host, look?.kind === 'settings' ? look.files : []);
  const install = `threadmux install --host ${on}`;
  const userHome = dirname(dirname(dirname(probe.home))); // above .threadmux/for/<name>
  const clock = judgeClock(probe.clockAheadMs, `The clock of ${on}`);
  return [
    fine('host', `${on} is reachable.`),
    ...(clock.level === 'ok' ? [] : [clock]),
    ...judgeMachine(probe, on),
    ...judgeRoots(await missingFolders(host, roots), on),
    ...judgeHostHome({ on, path: probe.home, home, isUp, install }),
    ...judgeHooks({ on, install, probe, look, missing, usualHome: probe.home, projects: [], plugin: [] }),
    ...(await examineHostExtensions(host, userHome, { scripts: `${probe.home}/bin`, home: probe.home })),
  ];
}

interface HostHomeFacts {
  readonly on: string;
  readonly path: string;
  readonly home: HostHome;
  readonly isUp: boolean;
  readonly install: string;
}

const LOW_KB = 64 * 1024;
const FULL_KB = 1024;

function judgeHostHome(facts: HostHomeFacts): readonly Finding[] {
  return [judgeScripts(facts), ...judgeLetters(facts), ...judgeRoom(facts.on, facts.home.freeKb)];
}

function judgeScripts({ on, path, home, install }: HostHomeFacts): Finding {
  if (!home.exists)
    return warning(
      'home',
      `The threadmux scripts are not on ${on} yet.`,
      `\`threadmux up\` copies them when it first uses the host. To copy them now, run \`${install}\`.`,
    );
  if (home.bell !== 'pipe')
    return fault(
      'home',
      `${path}/bell on ${on} is ${home.bell === 'missing' ? 'missing' : 'not a named pipe'}: replies from there are noticed late.`,
      `Run \`${install}\`.`,
    );
  if (home.outdated.length > 0)
    return warning(
      'home',
      `The threadmux scripts on ${on} are from another version: ${home.outdated.join(', ')}.`,
      `Restart threadmux, or run \`${install}\`.`,
    );
  return fine('home', `The threadmux scripts are in ${path} on ${on}.`);
}

function judgeLetters({ on, home: { letters }, isUp }: HostHomeFacts): readonly Finding[] {
  if (letters === 0) return [];
  const what = `${letters} ${letters === 1 ? 'letter is' : 'letters are'} waiting on ${on}`;
  return isUp
    ? [
        warning(
          'letters',
          `${what} although threadmux is running.`,
          'Run this again in a minute. If they are still waiting, run `threadmux logs` to see why.',
        ),
      ]
    : [warning('letters', `${what}.`, '`threadmux up` collects and posts them.')];
}

function judgeRoom(on: string, freeKb: number | undefined): readonly Finding[] {
  if (freeKb === undefined || freeKb >= LOW_KB) return [];
  const says = `The disk of ${on} has only ${Math.floor(freeKb / 1024)} MB left`;
  return freeKb < FULL_KB
    ? [fault('disk', `${says}: replies from there are lost.`, `Free some space on ${on}.`)]
    : [warning('disk', `${says}.`, `Free some space on ${on}.`)];
}

interface ControlDir {
  readonly path: string;
  remove(): void;
}

/** A private folder for ssh's control sockets, so that a check leaves nothing in our home. */
export function temporaryControlDir(): ControlDir {
  const path = mkdtempSync(join(tmpdir(), 'tmx-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true, maxRetries: 3 }) };
}

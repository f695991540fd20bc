// What the doctor looks at on another host: how it is reached, what is ours there, and what is left of an earlier version.

import { isOfInstallation } from '../../agents/claude/hook-commands.ts';
import { inspectSettings } from '../../agents/claude/inspect-settings.ts';
import type { Host } from '../../hosts/host.ts';
import { type HostHome, missingFiles, missingFolders, probeHome, probeHost } from '../../hosts/probe.ts';
import { hookPlaceOf } from '../../tmux/tmux-hooks.ts';
import { filesForHosts } from '../files-for-hosts.ts';
import { type Finding, fault, fine, warning } from './finding.ts';
import { judgeRoots } from './home.ts';
import { judgeHooks } from './hooks.ts';
import { judgeClock, judgeMachine } from './machine.ts';

interface HostExamination {
  /** What we are called there. */
  readonly name: string;
  readonly agent: string;
  readonly socket: string | undefined;
  /** Where terminals may be started there. */
  readonly roots: readonly string[];
  /** Whether a bridge runs here, which collects the letters there. */
  readonly isUp: boolean;
}

export async function examineHost(
  host: Host,
  { name, agent, socket, roots, isUp }: HostExamination,
): Promise<readonly Finding[]> {
  const on = host.name;
  const probe = await probeHost(host, { agent, socket, name, hookOption: hookPlaceOf(name).option });
  const wanted = Object.entries(filesForHosts(name)).map(([file, text]) => [
    file,
    text.replaceAll('{HOME}', probe.home),
  ]);
  const home = await probeHome(host, probe.home, Object.fromEntries(wanted));
  const look = probe.settings === undefined ? undefined : inspectSettings(probe.settings, isOfInstallation(probe.home));
  const missing = await missingFiles(host, look?.kind === 'settings' ? look.files : []);
  const install = `threadmux install --host ${on}`;
  const clock = judgeClock(probe.clockAheadMs, `The clock of ${on}`);
  return [
    fine('host', `${on} can be reached.`),
    ...(clock.level === 'ok' ? [] : [clock]),
    ...judgeMachine(probe, on, agent),
    ...judgeRoots(await missingFolders(host, roots), on),
    ...judgeHostHome({ on, path: probe.home, home, isUp, install }),
    ...judgeHooks({ on, install, probe, look, missing, usualHome: probe.home, projects: [] }),
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
  const { on, home, install } = facts;
  return [
    judgeScripts(facts),
    ...judgeLetters(facts),
    ...judgeRoom(on, home.freeKb),
    ...(home.old === undefined
      ? []
      : [
          fault(
            'token',
            `An earlier version left its program and the bot's token in ${home.old} on ${on}.`,
            `Run \`${install}\`; it removes them.`,
          ),
        ]),
  ];
}

function judgeScripts({ on, path, home, install }: HostHomeFacts): Finding {
  if (!home.exists)
    return warning(
      'home',
      `Our scripts are not on ${on} yet.`,
      `\`threadmux up\` puts them there when it first uses the host; \`${install}\` does it now.`,
    );
  if (home.bell !== 'pipe')
    return fault(
      'home',
      `${path}/bell on ${on} is ${home.bell === 'missing' ? 'missing' : 'not a named pipe'}: what is said there is noticed late.`,
      `Run \`${install}\`.`,
    );
  if (home.outdated.length > 0)
    return warning(
      'home',
      `Our scripts on ${on} are not those of this version: ${home.outdated.join(', ')}.`,
      `Restart threadmux, or run \`${install}\`.`,
    );
  return fine('home', `Our scripts are in ${path} on ${on}.`);
}

function judgeLetters({ on, home: { letters }, isUp }: HostHomeFacts): readonly Finding[] {
  if (letters === 0) return [];
  const what = `${letters} ${letters === 1 ? 'letter waits' : 'letters wait'} on ${on}`;
  return isUp
    ? [
        warning(
          'letters',
          `${what} although threadmux runs.`,
          'Run this again in a minute; if they still wait, `threadmux logs` says why.',
        ),
      ]
    : [warning('letters', `${what}.`, '`threadmux up` collects and posts them.')];
}

function judgeRoom(on: string, freeKb: number | undefined): readonly Finding[] {
  if (freeKb === undefined || freeKb >= LOW_KB) return [];
  const says = `The disk of ${on} has only ${Math.floor(freeKb / 1024)} MB left`;
  return freeKb < FULL_KB
    ? [fault('disk', `${says}: what is said there is lost.`, `Make room on ${on}.`)]
    : [warning('disk', `${says}.`, `Make room on ${on}.`)];
}

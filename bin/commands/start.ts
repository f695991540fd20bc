// threadmux start, stop, new and kill. start and stop can be repeated; new fails if the session exists, and kill if it does not.

import { resolve } from 'node:path';
import { agentOfCommand } from '../../agents/configured-agent.ts';
import { agentToStart, commandLine, launchOn, resumeOf, variablesFor } from '../../bridge/commands/launch-agent.ts';
import type { FoundSessions } from '../../bridge/commands/sessions.ts';
import { isThreadmuxError, ThreadmuxError } from '../../core/errors.ts';
import { declaresName, type Project, projectsOf, settingsOf } from '../../core/project.ts';
import { sessionEnvironment } from '../../core/session-environment.ts';
import { parseSessionName, type SessionName } from '../../core/session-name.ts';
import type { SessionSettings } from '../../core/session-settings.ts';
import { settingFor } from '../../core/setting-words.ts';
import { localServer } from '../../home/config-file.ts';
import { putEndMark, removeEndMark } from '../../home/end-marks.ts';
import { programPlace } from '../../install/program-files.ts';
import { projectOfPlace } from '../../threads/destination.ts';
import { loadWorktrees } from '../../threads/known-worktree.ts';
import {
  conversationOf,
  rememberedSession,
  settingsToStart,
  startedText,
  startOf,
} from '../../threads/remembered-session.ts';
import { killSession, listSessions, newSession, stopKeeping } from '../../tmux/sessions.ts';
import { findTarget, hostAndName, openSessionFinder, type SessionFinder, type SessionTarget } from '../find-session.ts';
import { printable, printJson, printNote, printText, withProgress } from '../print.ts';
import { sessionData, withStates } from './sessions.ts';
import { untilAgentRuns } from './until-agent-runs.ts';

interface StartFlags {
  readonly host?: string;
  readonly dir?: string;
  readonly prefix?: string;
  readonly json?: boolean;
  readonly model?: string;
  readonly mode?: string;
  readonly agent?: string;
  readonly continue?: boolean;
}

type Started = FoundSessions & { readonly created: boolean; readonly isShell: boolean };

const PREFIX = 'agent';
const TRIES = 20;

/** The pane stays open when its program exits, so that the caller can read its last output. */
export async function startSession(
  name: string | undefined,
  command: readonly string[],
  flags: StartFlags,
): Promise<void> {
  if (name !== undefined && flags.prefix !== undefined)
    throw new ThreadmuxError('bad_usage', 'use either a name or --prefix, not both');
  const reach = openSessionFinder();
  const started =
    name === undefined
      ? await startNext(reach, command, flags)
      : await startOne(reach, hostAndName(reach, name, flags.host), command, flags, true);
  await report(started, reach, flags);
}

export async function createSession(name: string, command: readonly string[], flags: StartFlags): Promise<void> {
  const reach = openSessionFinder();
  const started = await startOne(reach, hostAndName(reach, name, flags.host), command, flags, false);
  if (!started.created)
    throw new ThreadmuxError('session_exists', `session ${name} already exists`, {
      hint: `Open it with: threadmux attach ${name}`,
    });
  await report(started, reach, flags);
}

export async function stopSession(name: string | undefined, flags: StartFlags): Promise<void> {
  const reach = openSessionFinder();
  try {
    const target = await findTarget(reach, name, flags.host);
    await end(target, reach, flags, 'stopped');
  } catch (error) {
    if (name === undefined || !isThreadmuxError(error, 'session_not_found')) throw error;
    const { session, host } = hostAndName(reach, name, flags.host);
    if (flags.json) printJson({ host, name: session, stopped: false });
    else printNote(`Session ${printable(session)} does not exist on ${host}: nothing to stop.`);
  }
}

export async function killByName(name: string, flags: StartFlags): Promise<void> {
  const reach = openSessionFinder();
  await end(await findTarget(reach, name, flags.host), reach, flags, 'killed');
}

async function end(
  { host, tmux, session }: SessionTarget,
  { home, config }: SessionFinder,
  { json }: StartFlags,
  done: 'stopped' | 'killed',
): Promise<void> {
  const ended = { host, name: session.group ?? session.name };
  // The bridge would start a declared session again.
  if (declaresName(config, ended.name))
    putEndMark(home, ended, { serverPid: session.serverPid, sessionId: session.id });
  await withProgress(`ending ${session.name}`, killSession(tmux, session)).catch((error: unknown) => {
    removeEndMark(home, ended);
    throw error;
  });
  if (json) printJson({ host, name: session.name, [done]: true });
  else printNote(`Ended session ${printable(session.name)} on ${host}.`);
}

/** If another program takes the name at the same time, tries the next number. */
async function startNext(reach: SessionFinder, command: readonly string[], flags: StartFlags): Promise<Started> {
  const { prefix = PREFIX, host = reach.config.defaultHost } = flags;
  const all = await withProgress(`connecting to ${host}`, listSessions(reach.hosts.tmux(host)));
  const first = nextIndex(
    prefix,
    all.map(({ name }) => name),
  );
  for (let index = first; index < first + TRIES; index++) {
    const place = { session: `${prefix}-${index}`, host };
    const started = await startOne(reach, place, command, flags, true);
    if (started.created) return started;
  }
  throw new ThreadmuxError('busy', `no free name with the prefix ${prefix}-`, {
    hint: 'Try again, or choose a name.',
  });
}

/** One more than the highest number. Gaps are not filled, so that an old name is not used again. */
function nextIndex(prefix: string, names: readonly string[]): number {
  const taken = names.flatMap((name) => {
    const index = name.startsWith(`${prefix}-`) ? name.slice(prefix.length + 1) : '';
    return /^\d{1,9}$/.test(index) ? [Number(index)] : [];
  });
  return Math.max(0, ...taken) + 1;
}

async function startOne(
  reach: SessionFinder,
  place: { readonly session: string; readonly host: string },
  words: readonly string[],
  flags: StartFlags,
  remainOnExit: boolean,
): Promise<Started> {
  const { host } = place;
  const name: SessionName = parseSessionName(place.session);
  const isLocal = reach.hosts.isLocal(host);
  const known = rememberedSession(reach.records, { name, host, defaultHost: host });
  const before = known === undefined ? undefined : startOf(known);
  const here = isLocal && !flags.dir?.startsWith('~') ? resolve(flags.dir ?? '.') : flags.dir;
  // A worktree that was kept is used again.
  const kept = loadWorktrees(reach.home).find((one) => one.host === host && one.session === name && one.start !== '');
  const again = kept !== undefined && kept.directory === before?.directory ? kept.start : before?.directory;
  const directory = (flags.dir === undefined ? again : undefined) ?? here;
  const origin = directory === again ? before?.directory : directory;
  const asked = askedSettings(flags, words);
  const isForAgent = flags.continue || Object.keys(asked).length > 0;
  const given = words.length > 0 ? words : before?.command.length && !isForAgent ? before.command : undefined;
  const settings = settingsToStart(known, asked);
  const isSame = asked.agent === undefined || asked.agent === known?.agent;
  const conversation = flags.continue && known !== undefined && isSame ? conversationOf(known) : undefined;
  const project = projectOf(reach, host, origin ?? '~');
  const layers = (agent?: string) =>
    given === undefined && project !== undefined ? settingsOf(project, name, settings, agent) : settings;
  const expected = agentToStart(settings.agent, known, layers(), reach.config);
  const inForce = layers(expected.driver.name);
  const agent = given === undefined ? expected : agentOfCommand(reach.config, given, expected.driver.name);
  const environment = sessionEnvironment(process.env, (agent ?? expected).environment);
  const resume = resumeOf({ conversation, continues: flags.continue ?? false });
  const tools = { ...reach, program: programPlace(reach.home, process.env), path: environment.PATH };
  const start = { host, directory: directory ?? '~', command: given, settings: inForce, resume };
  const launch =
    agent && (await withProgress(`looking for the agent on ${host}`, launchOn({ ...start, agent }, tools)));
  const command = launch === undefined ? given : commandLine(launch, isLocal);
  const tmux = reach.hosts.tmux(host);
  const folder = reach.home.folder('state');
  const { session, created } = await withProgress(
    `starting ${name} on ${host}`,
    newSession(tmux, {
      ...{ name, remainOnExit: remainOnExit || (launch !== undefined && 'at start') },
      ...(directory === undefined ? {} : { directory }),
      ...(command === undefined ? {} : { command }),
      ...(isLocal ? { environment: { ...variablesFor(agent, environment, launch), folder } } : {}),
      started: startedText({
        ...{ directory: origin ?? '~', command: given ?? [] },
        ...(agent === undefined ? {} : { agent: agent.driver.name, weaker: launch?.weaker }),
        ...(Object.keys(settings).length > 0 ? { settings } : {}),
      }),
    }),
  );
  if (created && launch !== undefined && agent !== undefined) {
    await withProgress(`waiting for ${name}`, untilAgentRuns(tmux, session, agent.driver));
    if (!remainOnExit) await stopKeeping(tmux, session);
  }
  return { host, session, created, record: undefined, isShell: command === undefined };
}

function askedSettings({ model, mode, agent, continue: continues }: StartFlags, words: readonly string[]) {
  const asked: SessionSettings = {
    ...(model === undefined ? {} : settingFor('model', model)),
    ...(mode === undefined ? {} : settingFor('mode', mode)),
    ...(agent === undefined ? {} : settingFor('agent', agent)),
  };
  if (words.length > 0 && (continues || Object.keys(asked).length > 0))
    throw new ThreadmuxError(
      'bad_usage',
      '--model, --mode, --agent and --continue are for the agent, not for a command after --',
    );
  return asked;
}

/** The project of a directory, if the configuration has one. */
function projectOf({ config, remote }: SessionFinder, host: string, directory: string): Project | undefined {
  const local = () => localServer({ api: '', token: '', channel: '', user: '' }, config.projects);
  const servers = config.servers.length > 0 ? config.servers : [local()];
  const absolute = (path: string) => path.replace(/^~(?=\/|$)/, (tilde) => remote.userHome(host) ?? tilde);
  return projectOfPlace({ host, directory: absolute(directory) }, projectsOf(config, servers), absolute);
}

/** Prints only the name to stdout, for scripts that let us choose it. */
async function report(started: Started, reach: SessionFinder, { json }: StartFlags): Promise<void> {
  const { host, session, created, isShell } = started;
  if (json) {
    const [found] = await withStates(host, [started], reach);
    const state = created && !isShell && found?.state.state === 'shell' ? { state: 'starting' as const } : found?.state;
    return printJson({ created, ...sessionData({ ...started, state: state ?? { state: 'ended' } }) });
  }
  printText(session.name);
  const what = isShell ? ' with a shell, because the agent is not installed there' : '';
  if (created) printNote(`Started session ${session.name} on ${host}${what}.`);
  else if (session.pane.dead)
    printNote(
      `Session ${session.name} exists, but its program has exited. Run \`threadmux capture ${session.name}\` to see its output.`,
    );
  else printNote(`Session ${session.name} already exists.`);
}

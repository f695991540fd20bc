// Starts a session here or on another host, if it does not exist yet. It works without the bridge. The thread is created at the agent's
// first report, or before it if the agent asks something.

import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { agentOfCommand } from '../../agents/configured-agent.ts';
import type { AgentDriver } from '../../agents/driver.ts';
import type { AgentScreen } from '../../agents/screen.ts';
import { agentToStart, commandLine, launchOn, resumeOf, variablesFor } from '../../bridge/commands/launch-agent.ts';
import type { FoundSessions } from '../../bridge/commands/sessions.ts';
import { ThreadmuxError } from '../../core/errors.ts';
import { settingsOf } from '../../core/project.ts';
import { sessionEnvironment } from '../../core/session-environment.ts';
import { parseSessionName, type SessionName } from '../../core/session-name.ts';
import type { SessionSettings } from '../../core/session-settings.ts';
import { settingFor } from '../../core/session-settings.ts';
import { neutralise } from '../../core/untrusted-text.ts';
import { programPlace } from '../../install/program-files.ts';
import { screenOf } from '../../threads/read-pane.ts';
import {
  conversationOf,
  rememberedSession,
  settingsToStart,
  startedText,
  startOf,
} from '../../threads/remembered-session.ts';
import { lookForExit, QUIT_HISTORY, quitReport } from '../../tmux/last-output.ts';
import { lookAtPane } from '../../tmux/look.ts';
import type { PaneRef } from '../../tmux/pane.ts';
import { killSession, listSessions, newSession, type Session, stopKeeping } from '../../tmux/sessions.ts';
import type { Tmux } from '../../tmux/tmux.ts';
import { paneOf, type SessionFinder } from '../find-session.ts';
import { withProgress } from '../print.ts';
import { configuredProject } from './configured-project.ts';
import { orderThreadOf } from './give-order.ts';
import { takeStartPlace } from './start-place.ts';

export interface StartOptions {
  readonly host?: string;
  readonly dir?: string;
  readonly prefix?: string;
  readonly model?: string;
  readonly mode?: string;
  readonly agent?: string;
  readonly continue?: boolean;
  readonly worktree?: boolean;
}

export type StartedSession = FoundSessions & { readonly created: boolean; readonly isShell: boolean };

const PREFIX = 'agent';
const TRIES = 20;

/** If another program takes the name at the same time, tries the next number. */
export async function startNext(
  finder: SessionFinder,
  command: readonly string[],
  flags: StartOptions,
): Promise<StartedSession> {
  const { prefix = PREFIX, host = finder.config.defaultHost } = flags;
  const all = await withProgress(`connecting to ${host}`, listSessions(finder.hosts.tmux(host)));
  const first = nextIndex(
    prefix,
    all.map(({ name }) => name),
  );
  for (let index = first; index < first + TRIES; index++) {
    const place = { session: `${prefix}-${index}`, host };
    const started = await startOne(finder, place, command, flags, true);
    if (started.created) return started;
  }
  throw new ThreadmuxError('busy', `no free name with the prefix ${prefix}-`, { hint: 'Try again, or choose a name.' });
}

/** One more than the highest number. Gaps are not filled, so that an old name is not used again. */
function nextIndex(prefix: string, names: readonly string[]): number {
  const taken = names.flatMap((name) => {
    const index = name.startsWith(`${prefix}-`) ? name.slice(prefix.length + 1) : '';
    return /^\d{1,9}$/.test(index) ? [Number(index)] : [];
  });
  return Math.max(0, ...taken) + 1;
}

export async function startOne(
  finder: SessionFinder,
  place: { readonly session: string; readonly host: string },
  words: readonly string[],
  flags: StartOptions,
  remainOnExit: boolean,
): Promise<StartedSession> {
  const { host } = place;
  const name: SessionName = parseSessionName(place.session);
  const isLocal = finder.hosts.isLocal(host);
  const known = rememberedSession(finder.records, { name, host, defaultHost: host });
  const before = known === undefined ? undefined : startOf(known);
  const here = isLocal && !flags.dir?.startsWith('~') ? resolve(flags.dir ?? '.') : flags.dir;
  /** Without a worktree. */
  const origin = (flags.dir === undefined ? before?.directory : undefined) ?? here;
  const asked = askedSettings(flags, words);
  const { worktree: _, ...forAgent } = asked;
  const isForAgent = flags.continue || Object.keys(forAgent).length > 0;
  const given = words.length > 0 ? words : before?.command.length && !isForAgent ? before.command : undefined;
  const settings = settingsToStart(known, asked);
  const isSame = asked.agent === undefined || asked.agent === known?.agent;
  const conversation = flags.continue && known !== undefined && isSame ? conversationOf(known) : undefined;
  const project = configuredProject(finder, host, origin ?? '~');
  const layers = (agent?: string) =>
    given === undefined && project !== undefined ? settingsOf(project, name, settings, agent) : settings;
  const expected = agentToStart(settings.agent, known, layers(), finder.config);
  const inForce = layers(expected.driver.name);
  const agent = given === undefined ? expected : agentOfCommand(finder.config, given, expected.driver.name);
  const environment = sessionEnvironment(process.env, (agent ?? expected).environment);
  const resume = resumeOf({ conversation, continues: flags.continue ?? false });
  const tools = { ...finder, program: programPlace(finder.home, process.env), path: environment.PATH };
  const { worktree } = project === undefined ? settings : settingsOf(project, name, settings);
  const directory = await takeStartPlace({ name, host, directory: origin, project, worktree }, finder);
  const start = { host, directory: directory ?? '~', command: given, settings: inForce, resume };
  const launch =
    agent && (await withProgress(`looking for the agent on ${host}`, launchOn({ ...start, agent }, tools)));
  const command = launch === undefined ? given : commandLine(launch, isLocal);
  const tmux = finder.hosts.tmux(host);
  const folder = finder.home.folder('state');
  const { session, created } = await withProgress(
    `starting ${name} on ${host}`,
    newSession(tmux, {
      name,
      remainOnExit: remainOnExit || (launch !== undefined && 'at start'),
      ...(directory === undefined ? {} : { directory }),
      ...(command === undefined ? {} : { command }),
      ...(isLocal ? { environment: { ...variablesFor(agent, environment, launch), folder } } : {}),
      started: startedText({
        directory: origin ?? '~',
        command: given ?? [],
        ...(agent === undefined ? {} : { agent: agent.driver.name, weaker: launch?.weaker }),
        ...(Object.keys(settings).length > 0 ? { settings } : {}),
      }),
    }),
  );
  if (created && launch !== undefined && agent !== undefined) {
    const shown = await withProgress(`waiting for ${name}`, untilAgentRuns(tmux, session, agent.driver));
    // No hook reports before a person has answered, for example whether to trust the folder: the answer is given in its thread.
    if (shown === 'dialog') orderThreadOf({ host, session, record: undefined }, 'open', finder.home);
    if (!remainOnExit) await stopKeeping(tmux, session);
  }
  return { host, session, created, record: undefined, isShell: command === undefined };
}

function askedSettings(
  { model, mode, agent, worktree, continue: continues }: StartOptions,
  words: readonly string[],
): SessionSettings {
  const forAgent: SessionSettings = {
    ...(model === undefined ? {} : settingFor('model', model)),
    ...(mode === undefined ? {} : settingFor('mode', mode)),
    ...(agent === undefined ? {} : settingFor('agent', agent)),
  };
  if (words.length > 0 && (continues || Object.keys(forAgent).length > 0))
    throw new ThreadmuxError(
      'bad_usage',
      '--model, --mode, --agent and --continue are for the agent, not for a command after --',
    );
  return worktree === undefined ? forAgent : { ...forAgent, worktree };
}

/** How long an agent is watched that shows no box to write into. */
const WATCHED_MS = 3_000;

/** Waits until an agent that was just started shows that it runs. Resolves with what it shows, if that is known. Rejects with the last lines of an agent that quits at once. */
async function untilAgentRuns(
  tmux: Tmux,
  session: Session,
  driver: AgentDriver,
): Promise<AgentScreen['kind'] | undefined> {
  const pane = paneOf({ session, record: undefined });
  for (const until = Date.now() + WATCHED_MS; Date.now() < until; await sleep(100)) {
    const seen = await lookForExit(tmux, pane, QUIT_HISTORY);
    if (seen.kind === 'pane' && !seen.dead) {
      const shown = await shownNow(tmux, pane, driver);
      if (shown !== undefined && RUNS.includes(shown)) return shown;
      continue;
    }
    if (seen.kind === 'pane') await killSession(tmux, session).catch(() => {}); // it ended by itself
    const { how, lines } = quitReport(seen);
    const said = lines === '' ? 'It printed nothing.' : `Its last lines:\n${neutralise(lines)}`;
    throw new ThreadmuxError('tmux_failed', `${session.name} ${how}. ${said}`, {
      hint: 'Correct that, then start it again.',
    });
  }
  return undefined;
}

const RUNS: readonly AgentScreen['kind'][] = ['empty', 'draft', 'dialog'];

async function shownNow(tmux: Tmux, pane: PaneRef, driver: AgentDriver): Promise<AgentScreen['kind'] | undefined> {
  const seen = await lookAtPane(tmux, pane);
  return seen.kind === 'pane' ? screenOf(seen, seen, driver).kind : undefined;
}

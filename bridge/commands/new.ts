// !new starts a session.

import { agentOfCommand } from '../../agents/configured-agent.ts';
import { ThreadmuxError } from '../../core/errors.ts';
import { type Project, settingsOf } from '../../core/project.ts';
import type { SessionName } from '../../core/session-name.ts';
import type { SessionSettings } from '../../core/session-settings.ts';
import { untrustedCode } from '../../core/untrusted-text.ts';
import { toSessionPane } from '../../threads/panes.ts';
import type { ThreadRecord } from '../../threads/registry.ts';
import { conversationOf, settingsToStart, startedText, startOf } from '../../threads/remembered-session.ts';
import { killSession, newSession, type Session } from '../../tmux/sessions.ts';
import { declaredDirectory } from '../declared/declared-list.ts';
import { sendFirstMessage } from '../own-messages.ts';
import { outsideWorktrees, takePlace } from '../session-place.ts';
import { type Command, type CommandContext, replyWith } from './command.ts';
import {
  agentMissing,
  agentStarted,
  agentToStart,
  commandLine,
  launchOn,
  resumeOf,
  variablesFor,
} from './launch-agent.ts';
import { NEW_USAGE, type NewOptions, parseNewOptions } from './new-options.ts';
import { checkBypass, knownSession, projectHere } from './project-here.ts';
import { restartStream, streamOf } from './streams.ts';
import { quitAtOnce, untilItSpeaks } from './until-it-runs.ts';

export const newCommand: Command = {
  name: 'new',
  usage: NEW_USAGE,
  about:
    'start a session: an agent, or the command after `--`. One that ended starts where it was. Without a name: restart this headless agent',
  async run(order, context) {
    const stream = streamOf(order, context);
    if (order.rest === '' && stream?.kind === 'agent') return restartStream(stream);
    const asked = parseNewOptions(order.rest);
    if (asked.host !== undefined) context.hosts.get(asked.host); // an unknown host is said at once
    const project = projectHere(order, context);
    const known = knownSession(asked, project, context);
    const { wanted, begun } = await beginSession(recall(asked, known, project, context), context);
    const name = untrustedCode(wanted.name);
    const { prompt } = asked;
    const unsent = prompt === undefined ? '' : '\nThe first message was not sent. Write it in its thread.';
    if (begun.is === 'there') return replyWith(`${name} already runs${begun.link}${unsent}`);
    const { thread } = begun;
    if (prompt !== undefined) await sendFirstMessage(prompt, thread, order, context);
    if (begun.is !== 'up')
      return replyWith(`🔔 ${name} ${begun.is === 'asks' ? 'waits for you' : 'has not reported yet'}: <#${thread}>`);
    // Another host may have had a session of this name: say where it runs now.
    const host =
      asked.host !== undefined || wanted.host === context.config.defaultHost ? '' : ` on ${untrustedCode(wanted.host)}`;
    const isChosen = known !== undefined || project !== undefined;
    const place = !isChosen || asked.directory !== undefined ? '' : ` in ${untrustedCode(wanted.directory)}`;
    const where = `${host}${place}`;
    const what = begun.command === undefined ? '' : ` (${untrustedCode(begun.command.join(' '), 200)})`;
    const on = begun.branch === undefined ? '' : ` on the branch ${untrustedCode(begun.branch)}`;
    return replyWith(`▶️ ${name} is up${where}${on}${what}: <#${thread}>`);
  },
};

export interface WantedSession {
  readonly name: SessionName;
  readonly host: string;
  readonly directory: string;
  /** Undefined for the configured agent. */
  readonly command: readonly string[] | undefined;
  /** What was asked for this session; kept with its thread. */
  readonly settings?: SessionSettings | undefined;
  /** The conversation to continue. */
  readonly conversation?: string | undefined;
  /** Without `conversation`: the newest one in the directory is continued. */
  readonly continues?: boolean;
  /** The session of this name that ended. */
  readonly before: ThreadRecord | undefined;
  /** By default the project of its directory. */
  readonly project?: Project | undefined;
  /** The request of an agent that starts it. */
  readonly request?: string | undefined;
  /** Nobody waits for the session, so it is not watched until it runs. Called when tmux has created it. */
  readonly runs?: (() => void) | undefined;
}

/** What was not given is as it was when the session ran before, and otherwise as its project says. */
function recall(
  { name, host, directory, command, settings, continues }: NewOptions,
  before: ThreadRecord | undefined,
  project: Project | undefined,
  { config }: CommandContext,
): WantedSession {
  const start = before && startOf(before);
  const isSame = settings.agent === undefined || settings.agent === before?.agent;
  const conversation = continues && before !== undefined && isSame ? conversationOf(before) : undefined;
  const chosen = host ?? before?.host ?? project?.host ?? config.defaultHost;
  const isProjects = project !== undefined && (project.host ?? chosen) === chosen;
  const declared = project?.sessions.find((one) => one.name === name);
  // A conversation is found only in the directory of its project.
  const was = conversation === undefined ? start?.directory : before?.project || start?.directory;
  const { model, permissionMode, agent } = settings;
  const isForAgent = continues || (model ?? permissionMode ?? agent) !== undefined;
  const isOfAgent = agentOfCommand(config, start?.command ?? [], before?.agent ?? config.agent) !== undefined;
  const keeps = start?.command.length && (!isForAgent || isOfAgent);
  return {
    name,
    host: chosen,
    directory: directory ?? was ?? (isProjects ? declaredDirectory(project.path, declared?.directory) : '~'),
    before,
    settings,
    conversation,
    continues,
    command: command ?? (keeps ? start.command : undefined),
  };
}

export type BegunSession =
  /** `link` ends the sentence "shop already runs". */
  | { readonly is: 'there'; readonly link: string }
  | {
      /** It runs; it asks something first; or it has not reported for a while. */
      readonly is: 'up' | 'asks' | 'silent';
      readonly thread: string;
      readonly session: Session;
      /** If it is not the agent. */
      readonly command?: readonly string[];
      /** Of its worktree, if it has one. */
      readonly branch?: string | undefined;
    };

/** Rejects if it could not be started, or quit at once. */
export async function beginSession(
  wanted: WantedSession,
  context: CommandContext,
): Promise<{ wanted: WantedSession; begun: BegunSession }> {
  const { name, host } = wanted;
  const { config } = context;
  const tmux = context.hosts.tmux(host);
  const settings = settingsToStart(wanted.before, wanted.settings);
  const hasSettings = Object.keys(settings).length > 0;
  const directory = outsideWorktrees(wanted, context);
  await checkBypass(settings, { ...wanted, directory }, context);
  const destination = context.threads.destinationOf({ host, directory });
  // Otherwise the other server would have a thread for it for a moment.
  if (destination !== undefined && destination.server.name !== context.server.name) throw belongsElsewhere(wanted);
  const project = wanted.project ?? destination?.project;
  const layers = (agent?: string) => (project === undefined ? settings : settingsOf(project, name, settings, agent));
  const declaredAgent = project?.sessions.find((one) => one.name === name)?.agent;
  const asked = settings.agent ?? (wanted.conversation === undefined ? declaredAgent : undefined);
  const expected = agentToStart(asked, wanted.before, layers(), config);
  const inForce = layers(expected.driver.name);
  const agent = agentStarted(wanted, expected, config);
  const isLocal = context.hosts.isLocal(host);
  const environment = context.environmentOf(agent ?? expected);
  const launch =
    agent &&
    (await launchOn(
      {
        host,
        directory,
        agent,
        command: wanted.command,
        resume: resumeOf(wanted),
        settings: wanted.command === undefined ? inForce : settings,
      },
      { ...context, path: environment.PATH },
    ));
  if (agent !== undefined && launch === undefined) throw agentMissing(wanted, agent, context);
  const command = launch === undefined ? (wanted.command ?? []) : commandLine(launch, isLocal);
  const isDeclared = project !== undefined && wanted.command === undefined && isDeclaredIn(project, wanted, config);
  const declared = isDeclared ? (wanted.conversation === undefined ? 'new' : 'continued') : undefined;
  const place = await takePlace({ ...wanted, directory, project, settings: inForce }, context);
  const start = () =>
    newSession(tmux, {
      name,
      directory: place.directory,
      startsAfter: place.startsAfter,
      command,
      remainOnExit: isDeclared ? true : 'at start',
      ...(isLocal
        ? { environment: { ...variablesFor(agent, environment, launch), folder: context.home.folder('state') } }
        : {}),
      started: startedText({
        directory,
        command: wanted.command ?? [],
        ...(isDeclared ? { declared, by: config.host } : {}),
        ...(wanted.request === undefined ? {} : { request: wanted.request }),
        ...(agent === undefined ? {} : { agent: agent.driver.name, weaker: launch?.weaker }),
        ...(hasSettings ? { settings } : {}),
      }),
    });
  const { session, created } = await place.during(async () => {
    const there = await start();
    if (there.created || !there.session.pane.dead) return there;
    await killSession(tmux, there.session);
    return start();
  });
  if (!created) return { wanted, begun: { is: 'there', link: linkOf(wanted, session, context) } };
  // The pane of a declared session stays: its exit code says whether it crashed.
  if (session.pane.dead && !isDeclared) throw await quitAtOnce({ wanted, session }, context);
  wanted.runs?.();
  const thread = await bind(wanted, session, context, agent === undefined ? 'ours' : 'no');
  if (hasSettings) context.threads.registry.change(thread.thread, { settings });
  await place.begin(thread);
  const starting = { wanted, session, thread, isAgent: agent !== undefined, isKept: isDeclared };
  const is = wanted.runs ? 'silent' : await untilItSpeaks(starting, context);
  const { branch } = place;
  return { wanted, begun: { is, thread: thread.thread, session, branch, ...(agent === undefined ? { command } : {}) } };
}

function isDeclaredIn(
  project: Project,
  { name, host }: WantedSession,
  { defaultHost }: CommandContext['config'],
): boolean {
  return (project.host ?? defaultHost) === host && project.sessions.some((one) => one.name === name);
}

/** Creates the thread before the first report; messages there wait. */
async function bind(
  wanted: WantedSession,
  session: Session,
  context: CommandContext,
  shell: 'no' | 'ours',
): Promise<ThreadRecord> {
  const { host, directory } = wanted;
  const found = toSessionPane(host, session.socket, session);
  const pane = { ...found, path: found.path || directory }; // tmux knows no directory of a program that has quit
  const isOurs = context.threads.destinationOf({ host, directory: pane.path })?.server.name === context.server.name;
  const thread = isOurs && (await context.threads.ensure(pane, { directory: pane.path, shell }));
  if (thread) return thread;
  await killSession(context.hosts.tmux(host), session);
  throw belongsElsewhere(wanted);
}

function belongsElsewhere({ name, directory }: WantedSession): ThreadmuxError {
  return new ThreadmuxError(
    'bad_usage',
    `${untrustedCode(name)} was not started, because no channel of this server is for sessions in ${untrustedCode(directory)}.`,
    { hint: 'Start it in the directory of a project, or add one to "projects" in the configuration.' },
  );
}

function linkOf({ host }: WantedSession, session: Session, context: CommandContext): string {
  const pane = toSessionPane(host, '', session);
  const record = context.threads.registry.ofSession(host, pane);
  return record?.server === context.server.name ? `: <#${record.thread}>` : '.';
}

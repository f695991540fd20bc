// !new starts a session.

import { ThreadmuxError } from '../../core/errors.ts';
import { type Project, settingsOf } from '../../core/project.ts';
import type { SessionName } from '../../core/session-name.ts';
import { type SessionSettings, settingsArguments } from '../../core/session-settings.ts';
import { untrustedCode } from '../../core/untrusted-text.ts';
import { toSessionPane } from '../../threads/panes.ts';
import type { ThreadRecord } from '../../threads/registry.ts';
import {
  continueCommand,
  conversationOf,
  rememberedSession,
  startedText,
  startOf,
} from '../../threads/remembered-session.ts';
import { killSession, newSession, type Session } from '../../tmux/sessions.ts';
import { declaredDirectory } from '../declared/declared-list.ts';
import { sendFirstMessage } from '../first-message.ts';
import { outsideWorktrees, takePlace } from '../session-place.ts';
import { agentCommandOn, type Command, type CommandContext, replyWith } from './command.ts';
import { NEW_USAGE, type NewOptions, parseNewOptions } from './new-options.ts';
import { checkBypass, projectHere } from './project-here.ts';
import { restartStream, streamOf } from './streams.ts';
import { quitAtOnce, untilItSpeaks } from './until-it-runs.ts';

export const newCommand: Command = {
  name: 'new',
  usage: NEW_USAGE,
  about:
    'start a session: Claude, or the command after `--`. One that ended starts where it was. Without a name: restart this headless agent',
  async run(order, tools) {
    const stream = streamOf(order, tools);
    if (order.rest === '' && stream?.kind === 'agent') return restartStream(stream);
    const asked = parseNewOptions(order.rest);
    if (asked.host !== undefined) tools.hosts.get(asked.host); // an unknown host is said at once
    const project = projectHere(order, tools);
    const known = knownSession(asked, project, tools);
    const { wanted, begun } = await beginSession(recall(asked, known, project, tools), tools);
    const name = untrustedCode(wanted.name);
    const { prompt } = asked;
    const unsent = prompt === undefined ? '' : '\nThe first message was not sent. Write it in its thread.';
    if (begun.is === 'there') return replyWith(`${name} already runs${begun.link}${unsent}`);
    const { thread } = begun;
    if (prompt !== undefined) await sendFirstMessage(prompt, thread, order, tools);
    if (begun.is !== 'up')
      return replyWith(`🔔 ${name} ${begun.is === 'asks' ? 'waits for you' : 'has not reported yet'}: <#${thread}>`);
    // Another host may have had a session of this name: say where it runs now.
    const host =
      asked.host !== undefined || wanted.host === tools.config.defaultHost ? '' : ` on ${untrustedCode(wanted.host)}`;
    const isChosen = known !== undefined || project !== undefined;
    const place = !isChosen || asked.directory !== undefined ? '' : ` in ${untrustedCode(wanted.directory)}`;
    const where = `${host}${place}`;
    const what = begun.command === undefined ? '' : ` (${untrustedCode(begun.command.join(' '), 200)})`;
    const on = begun.branch === undefined ? '' : ` on the branch ${untrustedCode(begun.branch)}`;
    return replyWith(`▶️ ${name} is up${where}${on}${what}: <#${thread}>`);
  },
};

/** The session of this name that ran before. In the channel of a project, only one of its channel. */
function knownSession(
  asked: NewOptions,
  project: Project | undefined,
  tools: CommandContext,
): ThreadRecord | undefined {
  const { server, config, threads } = tools;
  const isOurs = (one: ThreadRecord) =>
    one.server === server.name && (project === undefined || one.channel === project.channel);
  const defaultHost = project?.host ?? config.defaultHost;
  return rememberedSession(threads.registry.all().filter(isOurs), { ...asked, defaultHost });
}

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
  const conversation = continues && before !== undefined ? conversationOf(before) : undefined;
  const chosen = host ?? before?.host ?? project?.host ?? config.defaultHost;
  const isProjects = project !== undefined && (project.host ?? chosen) === chosen;
  const declared = project?.sessions.find((one) => one.name === name);
  // A conversation is found only in the directory of its project.
  const was = conversation === undefined ? start?.directory : before?.project || start?.directory;
  const { model, permissionMode, agent } = settings;
  const isForAgent = continues || (model ?? permissionMode ?? agent) !== undefined;
  const keeps = start?.command.length && (!isForAgent || start.command[0] === config.agent.command[0]);
  return {
    ...{
      name,
      host: chosen,
      directory: directory ?? was ?? (isProjects ? declaredDirectory(project.path, declared?.directory) : '~'),
      before,
    },
    ...{ settings, conversation, continues },
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
  tools: CommandContext,
): Promise<{ wanted: WantedSession; begun: BegunSession }> {
  const { name, host } = wanted;
  const { config } = tools;
  const tmux = tools.hosts.tmux(host);
  const settings = { ...wanted.before?.settings, ...wanted.settings };
  const hasSettings = Object.keys(settings).length > 0;
  const directory = outsideWorktrees(wanted, tools);
  await checkBypass(settings, { ...wanted, directory }, tools);
  const project = wanted.project ?? tools.threads.destinationOf({ host, directory })?.project;
  const inForce = project === undefined ? settings : settingsOf(project, name, settings);
  const asked = commandToStart(wanted, wanted.command === undefined ? inForce : settings, config.agent.command);
  const agent = await agentCommandOn({ host, command: asked }, tools);
  const command = agent ?? asked;
  if (agent === undefined && command[0] === config.agent.command[0]) throw agentMissing(wanted, tools);
  const isDeclared = project !== undefined && wanted.command === undefined && isDeclaredIn(project, wanted, config);
  const declared = isDeclared ? (wanted.conversation === undefined ? 'new' : 'continued') : undefined;
  const place = await takePlace({ ...wanted, directory, project, settings: inForce }, tools);
  const start = () =>
    newSession(tmux, {
      ...{ name, directory: place.directory, startsAfter: place.startsAfter, command },
      remainOnExit: isDeclared ? true : 'at start',
      ...(tools.hosts.isLocal(host)
        ? { environment: { variables: tools.environment, folder: tools.stateFolder } }
        : {}),
      started: startedText({
        directory,
        command: wanted.command ?? [],
        ...(isDeclared ? { declared, by: config.host } : {}),
        ...(hasSettings ? { settings } : {}),
      }),
    });
  const { session, created } = await place.during(async () => {
    const there = await start();
    if (there.created || !there.session.pane.dead) return there;
    await killSession(tmux, there.session);
    return start();
  });
  if (!created) return { wanted, begun: { is: 'there', link: linkOf(wanted, session, tools) } };
  // The pane of a declared session stays: its exit code says whether it crashed.
  if (session.pane.dead && !isDeclared) throw await quitAtOnce({ wanted, session }, tools);
  wanted.runs?.();
  const thread = await bind(wanted, session, tools, agent === undefined ? 'ours' : 'no');
  if (hasSettings) tools.threads.registry.change(thread.thread, { settings });
  await place.begin(thread);
  const starting = { wanted, session, thread, isAgent: agent !== undefined, isKept: isDeclared };
  const is = wanted.runs ? 'silent' : await untilItSpeaks(starting, tools);
  const { branch } = place;
  return { wanted, begun: { is, thread: thread.thread, session, branch, ...(agent === undefined ? { command } : {}) } };
}

/** A command other than the agent gets no arguments for it. */
export function commandToStart(
  { command, conversation, continues }: Pick<WantedSession, 'command' | 'conversation' | 'continues'>,
  settings: SessionSettings,
  agent: readonly string[],
): readonly string[] {
  const own = command ?? agent;
  const args = own[0] === agent[0] ? settingsArguments(settings) : [];
  if (conversation !== undefined) return [...continueCommand(own, agent, conversation), ...args];
  return [...own, ...args, ...(continues ? ['--continue'] : [])];
}

function isDeclaredIn(
  project: Project,
  { name, host }: WantedSession,
  { defaultHost }: CommandContext['config'],
): boolean {
  return (project.host ?? defaultHost) === host && project.sessions.some((one) => one.name === name);
}

function agentMissing({ name, host }: WantedSession, { config, hosts }: CommandContext): ThreadmuxError {
  const program = untrustedCode(config.agent.command[0] ?? 'claude');
  const where = hosts.isLocal(host)
    ? 'the terminal that starts threadmux or in your login shell'
    : 'your login shell there';
  return new ThreadmuxError('not_found', `${program} was not found on ${untrustedCode(host)}, so nothing was started`, {
    hint: `Install it, in the PATH of ${where}, or name it in "agent". \`!new ${name} -- bash\` starts a shell instead.`,
  });
}

/** Creates the thread before the first report; messages there wait. */
async function bind(
  { name, host, directory }: WantedSession,
  session: Session,
  tools: CommandContext,
  shell: 'no' | 'ours',
): Promise<ThreadRecord> {
  const found = toSessionPane(host, session.socket, session);
  const pane = { ...found, path: found.path || directory }; // tmux knows no directory of a program that has quit
  const isOurs = tools.threads.destinationOf({ host, directory: pane.path })?.server.name === tools.server.name;
  const thread = isOurs && (await tools.threads.ensure(pane, { directory: pane.path, shell }));
  if (thread) return thread;
  await killSession(tools.hosts.tmux(host), session);
  throw new ThreadmuxError(
    'bad_usage',
    `${untrustedCode(name)} was not started, because no channel of this server is for sessions in ${untrustedCode(directory)}.`,
    {
      hint: 'Start it in the directory of a project, or add one to "projects" in the configuration.',
    },
  );
}

function linkOf({ host }: WantedSession, session: Session, tools: CommandContext): string {
  const pane = toSessionPane(host, '', session);
  const record = tools.threads.registry.ofSession(host, pane);
  return record?.server === tools.server.name ? `: <#${record.thread}>` : '.';
}

// !new starts a session.

import { ThreadmuxError } from '../../core/errors.ts';
import { type Project, settingsOf } from '../../core/project.ts';
import { parseSessionName, type SessionName } from '../../core/session-name.ts';
import { type SessionSettings, settingsArguments } from '../../core/session-settings.ts';
import { untrustedCode } from '../../core/untrusted-text.ts';
import { socketOf, toSessionPane } from '../../threads/panes.ts';
import type { ThreadRecord } from '../../threads/registry.ts';
import { continueCommand, rememberedSession, startedText, startOf } from '../../threads/remembered-session.ts';
import { killSession, newSession, type Session } from '../../tmux/sessions.ts';
import { agentCommandOn, type Command, type CommandContext, replyWith } from './command.ts';
import { restartStream, streamOf } from './streams.ts';
import { untilItSpeaks } from './until-it-runs.ts';

export const newCommand: Command = {
  name: 'new',
  usage: '!new <name> [host] [directory] [-- command]',
  about:
    'start a session: Claude, or the command after `--`. One that ended starts where it was. Without a name: restart this headless agent',
  async run(order, tools) {
    const stream = streamOf(order, tools);
    if (order.rest === '' && stream?.kind === 'agent') return restartStream(stream);
    const asked = parseNew(order.rest, tools);
    const { registry } = tools.threads;
    const ours = registry.all().filter(({ server }) => server === tools.server.name);
    const known = rememberedSession(ours, { ...asked, defaultHost: tools.config.defaultHost });
    const { wanted, begun } = await beginSession(recall(asked, known, tools), tools);
    const name = untrustedCode(wanted.name);
    if (begun.is === 'there') return replyWith(`${name} already runs${begun.link}`);
    const { thread } = begun;
    if (begun.is !== 'up')
      return replyWith(`🔔 ${name} ${begun.is === 'asks' ? 'waits for you' : 'has not reported yet'}: <#${thread}>`);
    const where = known === undefined || asked.directory !== undefined ? '' : ` in ${untrustedCode(wanted.directory)}`;
    const what = begun.command === undefined ? '' : ` (${untrustedCode(begun.command.join(' '), 200)})`;
    return replyWith(`▶️ ${name} is up${where}${what}: <#${thread}>`);
  },
};

interface Asked {
  readonly name: SessionName;
  readonly host: string | undefined;
  readonly directory: string | undefined;
  readonly command: readonly string[] | undefined;
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
  /** The session of this name that ended. */
  readonly before: ThreadRecord | undefined;
  /** By default the project of its directory. */
  readonly project?: Project | undefined;
  /** Nobody waits for the session, so it is not watched until it runs. Called when tmux has created it. */
  readonly runs?: (() => void) | undefined;
}

/** What was not given is as it was when the session ran before. */
function recall(
  { name, host, directory, command }: Asked,
  before: ThreadRecord | undefined,
  { config }: CommandContext,
): WantedSession {
  const start = before === undefined ? { directory: '~', command: [] } : startOf(before);
  return {
    ...{ name, host: host ?? before?.host ?? config.defaultHost, directory: directory ?? start.directory, before },
    command: command ?? (start.command.length > 0 ? start.command : undefined),
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
    };

/** Rejects if it could not be started, or quit at once. */
export async function beginSession(
  wanted: WantedSession,
  tools: CommandContext,
): Promise<{ wanted: WantedSession; begun: BegunSession }> {
  const { name, host, directory, conversation } = wanted;
  const { config } = tools;
  const tmux = tools.hosts.tmux(host);
  const settings = { ...wanted.before?.settings, ...wanted.settings };
  const project = wanted.project ?? tools.threads.destinationOf({ host, directory })?.project;
  const inForce = project === undefined ? settings : settingsOf(project, name, settings);
  const own = wanted.command ?? [...config.agent.command, ...settingsArguments(inForce)];
  const asked = conversation === undefined ? own : continueCommand(own, config.agent.command, conversation);
  const agent = await agentCommandOn({ host, command: asked }, tools);
  const command = agent ?? asked;
  if (agent === undefined && command[0] === config.agent.command[0]) throw agentMissing(wanted, tools);
  const isDeclared = project !== undefined && wanted.command === undefined && isDeclaredIn(project, wanted, config);
  const declared = isDeclared ? (conversation === undefined ? 'new' : 'continued') : undefined;
  const start = () =>
    newSession(tmux, {
      ...{ name, directory, command, remainOnExit: true },
      ...(tools.hosts.isLocal(host) ? { environment: tools.environment } : {}),
      started: startedText({ directory, command: wanted.command ?? [], declared }),
    });
  let { session, created } = await start();
  if (!created && session.pane.dead) {
    await killSession(tmux, session);
    ({ session, created } = await start());
  }
  if (!created) return { wanted, begun: { is: 'there', link: linkOf(wanted, session, tools) } };
  wanted.runs?.();
  const thread = await bind(wanted, session, tools, agent === undefined ? 'ours' : 'no');
  if (Object.keys(settings).length > 0) tools.threads.registry.change(thread.thread, { settings });
  const starting = { wanted, session, thread, isAgent: agent !== undefined, isKept: isDeclared };
  const is = wanted.runs ? 'silent' : await untilItSpeaks(starting, tools);
  return { wanted, begun: { is, thread: thread.thread, session, ...(agent === undefined ? { command } : {}) } };
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

/** After the name, a path is a directory and any other word is a host, in any order. */
export function parseNew(rest: string, { hosts }: Pick<CommandContext, 'hosts'>): Asked {
  const [before = '', ...after] = rest.split(/(?:^|\s)--(?:\s|$)/);
  const command = after.join(' -- ').split(/\s+/).filter(Boolean);
  const [name = '', ...words] = before.trim().split(/\s+/).filter(Boolean);
  if (name === '') throw usage('`!new <name> [host] [directory] [-- command]` needs a name');
  const directories = words.filter((word) => /^[~/]/.test(word));
  const [host, ...others] = words.filter((word) => !/^[~/]/.test(word));
  if (directories.length > 1 || others.length > 0)
    throw usage(`It is not clear what ${untrustedCode(words.join(' '))} means.`);
  if (host !== undefined) hosts.get(host); // an unknown host is said at once
  return {
    name: parseSessionName(name),
    ...{ host, directory: directories[0] },
    command: command.length > 0 ? command : undefined,
  };
}

function usage(what: string): ThreadmuxError {
  return new ThreadmuxError('bad_usage', what, {
    hint: 'Example: `!new shop mini ~/shop -- claude --model opus`',
  });
}

/** Creates the thread before the first report; messages there wait. */
async function bind(
  { name, host, directory }: WantedSession,
  session: Session,
  tools: CommandContext,
  shell: 'no' | 'ours',
): Promise<ThreadRecord> {
  const socket = (await socketOf(tools.hosts, host)) ?? '';
  const pane = toSessionPane(host, socket, session);
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

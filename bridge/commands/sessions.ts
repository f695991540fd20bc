// !sessions lists the sessions of all hosts. A host that does not answer in time is marked.

import { isShell } from '../../agents/shell-name.ts';
import { formatDuration } from '../../core/duration.ts';
import { labelOf } from '../../core/session-name.ts';
import { untrustedCode, untrustedReason } from '../../core/untrusted-text.ts';
import type { ThreadRecord } from '../../threads/registry.ts';
import { agentTitle } from '../../threads/session-pane.ts';
import type { StateName } from '../../threads/session-state.ts';
import { stateInMessage } from '../../threads/session-state.ts';
import type { Threads } from '../../threads/session-threads.ts';
import { type ShownState, shownStates } from '../../threads/stored-states.ts';
import type { HostList } from '../../tmux/host-list.ts';
import { listSessions, type Session } from '../../tmux/sessions.ts';
import { type Command, type CommandContext, replyWith } from './command.ts';

const DEADLINE_MS = 6_000;
const ROOM = 1_900;

export const sessionsCommand: Command = {
  name: 'sessions',
  usage: '!sessions',
  about: 'list all sessions on all hosts, and what they do',
  async run(_order, context) {
    const lists = await Promise.all(context.hosts.names().map((host) => listHost(host, context)));
    const lines = [...lists.flat(), ...notRunning(context)];
    return replyWith(bounded(lines.length === 0 ? ['No sessions. Start one with `!new <name>`.'] : lines));
  },
};

export const WHY_NOT = {
  stopped: 'stopped',
  manual: 'not started',
  'given up': 'given up after five crashes',
  starting: 'starts soon',
};

/** Declared sessions. */
function notRunning({ declared }: CommandContext): readonly string[] {
  return declared
    .statuses()
    .flatMap(({ place: { label }, because }) =>
      because === undefined
        ? []
        : [`⏹️ ${untrustedCode(label)} ${WHY_NOT[because]} · ${untrustedCode(`!start ${label}`)}`],
    );
}

export interface FoundSessions {
  readonly host: string;
  readonly session: Session;
  readonly record: ThreadRecord | undefined;
}

export async function findSessions(
  host: string,
  { hosts, records }: { readonly hosts: HostList; readonly records: readonly ThreadRecord[] },
  timeoutMs = DEADLINE_MS,
): Promise<readonly FoundSessions[]> {
  const list = await listSessions(hosts.tmux(host), { timeoutMs });
  return list.map((session) => ({
    host,
    session,
    record: records.find(
      (one) => one.host === host && one.serverPid === session.serverPid && one.sessionId === session.id && !one.closed,
    ),
  }));
}

/** Only sessions of this server: others must not be mentioned here. */
export async function findOurSessions(
  host: string,
  { hosts, threads, server }: Pick<CommandContext, 'hosts' | 'threads' | 'server'>,
  timeoutMs = DEADLINE_MS,
): Promise<readonly FoundSessions[]> {
  const records = threads.registry.all();
  const found = await findSessions(host, { hosts, records }, timeoutMs);
  return found.filter((one) => serverOf(host, one, threads) === server.name);
}

function serverOf(host: string, { session, record }: FoundSessions, threads: Threads): string | undefined {
  return record?.server ?? threads.destinationOf({ host, directory: session.pane.path })?.server.name;
}

async function listHost(host: string, context: CommandContext): Promise<readonly string[]> {
  try {
    const found = await findOurSessions(host, context);
    const states = await shownStates(context.hosts.tmux(host), found, context.states.get, DEADLINE_MS);
    return found.map((one, at) => line(one, states[at] ?? { state: 'shell' }, context));
  } catch (error) {
    const state = context.remote.state(host);
    const since = state.kind === 'unreachable' ? ` since <t:${Math.floor(state.since / 1_000)}:R>` : '';
    const why = untrustedReason(error).split('\n')[0];
    const known = context.threads.registry
      .all()
      .filter((one) => one.host === host && !one.closed && one.server === context.server.name)
      .map((one) => `🔌 ${untrustedCode(`${one.sessionName}@${host}`)} <#${one.thread}> unreachable`);
    return [`🔌 ${untrustedCode(host)} is not reachable${since}: ${why}`, ...known];
  }
}

function line({ host, session, record }: FoundSessions, state: ShownState, { config }: CommandContext): string {
  const thread = record === undefined ? '' : ` <#${record.thread}>`;
  const head = `${STATE_SIGNS[state.state]} ${untrustedCode(labelOf({ name: session.name, host }, config))}${thread}`;
  const what = `${head} ${wordsFor(session, state)}${sinceText(state)}`;
  const { path } = session.pane;
  const agent = agentShown(record, state);
  return [what, agent, untrustedCode(path), sessionAge(session.createdAt)].filter(Boolean).join(' · ');
}

/** A shell that got a message has been one for longer than it has this state. */
export function sinceText({ state, since }: ShownState): string {
  if (since === undefined || state === 'shell') return '';
  const duration = formatDuration(Date.now() - since, 1);
  return state === 'ended' ? ` ${duration} ago` : ` for ${duration}`;
}

/** The record keeps the agent after it has exited to a shell. */
export function agentShown(record: ThreadRecord | undefined, { state }: ShownState): string | undefined {
  return state === 'shell' ? undefined : agentTitle(record);
}

export const STATE_SIGNS: Readonly<Record<StateName, string>> = {
  starting: '▶️',
  idle: '🟢',
  working: '⏳',
  needs_person: '🔔',
  delivering: '📨',
  shell: '🐚',
  ended: '⏹️',
  unreachable: '🔌',
};

function wordsFor({ pane }: Session, state: ShownState): string {
  return state.state === 'shell' && !isShell(pane.command) ? untrustedCode(pane.command) : stateInMessage(state);
}

export function sessionAge(createdAt: number): string {
  return formatDuration(Date.now() - createdAt, 1);
}

/** `hint`: where the others are. */
export function bounded(lines: readonly string[], hint = ''): string {
  const shown: string[] = [];
  for (const one of lines) {
    if (shown.join('\n').length + one.length > ROOM)
      return `${shown.join('\n')}\n… and ${lines.length - shown.length} more${hint}`;
    shown.push(one);
  }
  return shown.join('\n');
}

// !sessions lists the sessions of all hosts. A host that does not answer in time is marked.

import { formatDuration } from '../../core/duration.ts';
import { untrustedCode, untrustedReason } from '../../core/untrusted-text.ts';
import type { ThreadRecord } from '../../threads/registry.ts';
import type { Threads } from '../../threads/session-threads.ts';
import type { HostList } from '../../tmux/host-list.ts';
import { listSessions, type Session } from '../../tmux/sessions.ts';
import { type Command, type CommandContext, replyWith } from './command.ts';

const DEADLINE_MS = 6_000;
const ROOM = 1_900;

export const sessionsCommand: Command = {
  name: 'sessions',
  usage: '!sessions',
  about: 'list all sessions on all hosts, and what they do',
  async run(_order, tools) {
    const lists = await Promise.all(tools.hosts.names().map((host) => listHost(host, tools)));
    const lines = lists.flat();
    return replyWith(bounded(lines.length === 0 ? ['No sessions. Start one with `!new <name>`.'] : lines));
  },
};

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
  return found.filter((one) => serverOf(one, threads) === server.name);
}

function serverOf({ session, record }: FoundSessions, threads: Threads): string | undefined {
  return record?.server ?? threads.destinationOf(session.pane.path)?.server.name;
}

async function listHost(host: string, tools: CommandContext): Promise<readonly string[]> {
  try {
    const found = await findOurSessions(host, tools);
    return found.map((one) => line(one, tools));
  } catch (error) {
    const state = tools.remote.state(host);
    const since = state.kind === 'unreachable' ? ` since <t:${Math.floor(state.since / 1_000)}:R>` : '';
    const why = untrustedReason(error).split('\n')[0];
    const known = tools.threads.registry
      .all()
      .filter((one) => one.host === host && !one.closed && one.server === tools.server.name)
      .map((one) => `⚪ ${untrustedCode(`${one.sessionName}@${host}`)} <#${one.thread}> unreachable`);
    return [`🔌 ${untrustedCode(host)} is not reachable${since}: ${why}`, ...known];
  }
}

function line({ host, session, record }: FoundSessions, { config }: CommandContext): string {
  const where = host === config.defaultHost ? '' : `@${host}`;
  const thread = record === undefined ? '' : ` <#${record.thread}>`;
  return `${sign(session, record)} ${untrustedCode(session.name + where)}${thread} ${stateShown(session, record)} · ${untrustedCode(session.pane.path)} · ${sessionAge(session.createdAt)}`;
}

/** Without a report, the state is the name of the running program, which is not trusted. */
function stateShown(session: Session, record: ThreadRecord | undefined): string {
  const word = sessionState(session, record);
  return record === undefined && !session.pane.dead ? untrustedCode(word) : word;
}

export function sessionState(session: Session, record: ThreadRecord | undefined): string {
  if (session.pane.dead) return 'dead';
  if (record === undefined) return session.pane.command;
  if (record.shell === 'terminal') return 'terminal';
  if (record.shell !== 'no') return 'shell';
  if (record.state === 'ended') return 'Claude has exited';
  return { working: 'working', waiting: 'waiting for you', idle: 'idle' }[record.state];
}

function sign(session: Session, record: ThreadRecord | undefined): string {
  const word = sessionState(session, record);
  return { working: '⏳', 'waiting for you': '🔔', idle: '🟢', shell: '🐚', terminal: '🖥️', dead: '💀' }[word] ?? '⚪';
}

/** tmux counts in seconds. */
export function sessionAge(createdAt: number): string {
  return formatDuration(Date.now() - createdAt * (createdAt < 1e12 ? 1_000 : 1), 1);
}

function bounded(lines: readonly string[]): string {
  const shown: string[] = [];
  for (const one of lines) {
    if (shown.join('\n').length + one.length > ROOM)
      return `${shown.join('\n')}\n… and ${lines.length - shown.length} more`;
    shown.push(one);
  }
  return shown.join('\n');
}

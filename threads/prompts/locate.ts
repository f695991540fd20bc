// Finds the thread for a prompt: that of the session whose pane ran the hook, or of the headless agent.

import { ThreadmuxError } from '../../core/errors.ts';
import { loadStreamRecord } from '../../home/stream-record.ts';
import type { Shared } from '../shared-services.ts';
import type { keptInput, PromptPane, PromptRecord } from './prompt-record.ts';
import type { PromptWatch } from './watch-prompt.ts';

/** What the prompts of a process need. */
export interface PromptsOptions extends Pick<Shared, 'home' | 'threads' | 'log' | 'sessionOf' | 'hosts' | 'remote'> {
  readonly watch: PromptWatch;
  /** How long the dialog may stay in the terminal after its hook has left. */
  readonly checkAfterMs?: number;
  readonly sweepMs?: number;
}

/** The letter of the hook. */
export interface AskLetter {
  readonly ask?: string | undefined;
  readonly tmux: string;
  readonly pane: string;
  readonly project: string;
  /** The name of the agent. */
  readonly agent: string;
  /** Of a headless agent: its thread. */
  readonly thread?: string | undefined;
  readonly writtenAt: number;
  readonly asker?: number | undefined;
  /** A program asks, and not the agent: there is no dialog. */
  readonly ofProgram?: boolean | undefined;
}

export interface PromptPlace {
  readonly thread: string;
  readonly host: string;
  readonly pane?: PromptPane;
}

/** For this long, tmux may just be too busy to report the pane. */
const UNKNOWN_FOR_MS = 30_000;

/** Undefined if it belongs nowhere. `gone` names a thread that was deleted. */
export async function locatePrompt(
  parts: Pick<PromptsOptions, 'home' | 'threads' | 'sessionOf'>,
  host: string,
  letter: AskLetter,
  cwd: string,
  gone?: string,
): Promise<PromptPlace | undefined> {
  if (letter.thread !== undefined) {
    const agent = loadStreamRecord(parts.home, letter.thread);
    if (agent?.kind !== 'agent' || gone !== undefined) return undefined;
    return { thread: letter.thread, host: agent.far?.host ?? '' };
  }
  const session = await parts.sessionOf(host, letter.tmux, letter.pane);
  if (session === undefined) {
    if (Date.now() - letter.writtenAt > UNKNOWN_FOR_MS) return undefined;
    const what = `finding the session of pane ${letter.pane}: tmux does not know it`;
    throw new ThreadmuxError('session_not_found', what);
  }
  const found = await parts.threads.ensure(session, {
    directory: letter.project || cwd,
    shell: 'no' as const,
    agent: letter.agent,
    ...(gone === undefined ? {} : { gone }),
  });
  if (found === undefined || found.thread === gone) return undefined;
  const { socket, serverPid, paneId, panePid } = session;
  // When the letter is read, the agent may have exited; then the foreground program is not the agent.
  const command = found.paneId === paneId ? found.command : session.command;
  return { thread: found.thread, host: found.host, pane: { socket, serverPid, paneId, panePid, command } };
}

/** Whether this may be the thread of a headless agent on that host. */
export function isAgentOn(
  host: string,
  thread: string,
  { home, hosts }: Pick<PromptsOptions, 'home' | 'hosts'>,
): boolean {
  const far = loadStreamRecord(home, thread)?.far;
  return far === undefined ? hosts.isLocal(host) : far.host === host;
}

export function newPromptRecord(
  id: string,
  place: PromptPlace,
  { thread, writtenAt, asker = 0, ofProgram = false, agent }: AskLetter,
  kept: ReturnType<typeof keptInput>,
): PromptRecord {
  const headless = thread !== undefined || ofProgram;
  return {
    id,
    ...place,
    headless,
    agent,
    asker,
    message: '',
    ...kept,
    at: writtenAt,
    chosen: [],
    orders: [],
    undelivered: '',
    shown: false,
  };
}

/** Whether a person may decide in this thread now. A server that is not configured any more has no list. */
export function isListed(
  person: string,
  thread: string,
  { home, threads }: Pick<PromptsOptions, 'home' | 'threads'>,
): boolean {
  const server = threads.registry.get(thread)?.server ?? loadStreamRecord(home, thread)?.server ?? '';
  return threads.connections.named(server)?.server.allow.includes(person) ?? true;
}

// !status in a session's thread: what it does, where, and with which model and mode. What cannot be found out in time is left out.

import { setTimeout as sleep } from 'node:timers/promises';
import { footer } from '../../agents/status-line.ts';
import { untrustedCode } from '../../core/untrusted-text.ts';
import { repositoryText } from '../../core/welcome-text.ts';
import { repositoryAt } from '../../hosts/repository.ts';
import { readPane } from '../../threads/read-pane.ts';
import type { ThreadRecord } from '../../threads/registry.ts';
import { readingOf, stateInMessage, stateOfSession } from '../../threads/session-state.ts';
import type { ShownState } from '../../threads/stored-states.ts';
import { settingsInForce } from '../../threads/thread-settings.ts';
import { lookAtPane } from '../../tmux/look.ts';
import type { CommandCall, CommandContext } from './command.ts';
import { agentShown, STATE_SIGNS, sinceText } from './sessions.ts';
import { modeName } from './switch-mode.ts';

/** The session of the thread in which a command was given; undefined for a terminal or a headless agent. */
export function sessionOf({ thread }: CommandCall, { threads }: CommandContext): ThreadRecord | undefined {
  const record = thread === undefined ? undefined : threads.registry.get(thread.id);
  return record?.shell === 'terminal' ? undefined : record;
}

const WITHIN_MS = 4_000;

export async function sessionStatus(
  record: ThreadRecord,
  order: CommandCall,
  context: CommandContext,
): Promise<string> {
  const { host, sessionName, cwd, claudeSession, closed } = record;
  const isThere = !closed && context.remote.state(host).kind !== 'unreachable';
  const ask = <T>(what: () => Promise<T | undefined>) =>
    isThere ? Promise.race([what().catch(() => undefined), sleep(WITHIN_MS, undefined, { ref: false })]) : undefined;
  const [repository, status, seen] = await Promise.all([
    ask(() => repositoryAt(context.hosts.get(host), cwd)),
    ask(() => context.statusOf(host, claudeSession)),
    ask(() => screenNow(order, context)),
  ]);
  const { model, permissionMode } = settingsInForce(record, context.threads);
  const state: ShownState = closed ? { state: 'ended' } : (context.states.get(record.thread) ?? derived(record, seen));
  const mode = seen?.screen.kind === 'empty' ? modeName(seen.screen.mode, seen.driver) : undefined;
  const about = [
    agentShown(record, state),
    status === undefined ? model && `model ${untrustedCode(model)}` : footer(status),
    `${mode ?? (permissionMode === 'default' ? 'manual' : permissionMode) ?? ''} mode`.replace(/^ mode$/, ''),
  ];
  return [
    `${STATE_SIGNS[state.state]} ${untrustedCode(sessionName)} ${stateInMessage(state)}${sinceText(state)}, on ${untrustedCode(host)}, in ${untrustedCode(cwd)}`,
    repository && repositoryText(repository),
    about.filter(Boolean).join(' · '),
  ]
    .filter(Boolean)
    .join('\n');
}

type SeenPane = ReturnType<typeof readPane>;

async function screenNow({ thread }: CommandCall, { panes }: CommandContext): Promise<SeenPane | undefined> {
  const pane = thread && (await panes.find(thread));
  return pane && readPane(await lookAtPane(pane.tmux, pane.record), pane.record);
}

/** For a session that is not watched yet. */
function derived(record: ThreadRecord, seen: SeenPane | undefined): ShownState {
  const now = Date.now();
  const reading = seen && readingOf(seen.screen, seen.isAgent);
  return stateOfSession({
    record,
    isHostAway: seen === undefined,
    prompts: [],
    waiting: 0,
    isOver: false,
    now,
    seen: reading && { reading, at: now },
  });
}

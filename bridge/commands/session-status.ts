// !status in a session's thread: what it does, where, and with which model and mode. What cannot be found out in time is left out.

import { footer } from '../../agents/claude/hook-input.ts';
import { formatDuration } from '../../core/duration.ts';
import { untrustedCode } from '../../core/untrusted-text.ts';
import { repositoryText } from '../../core/welcome-text.ts';
import { repositoryAt } from '../../hosts/repository.ts';
import { stateWords } from '../../threads/known-states.ts';
import { readPane } from '../../threads/read-pane.ts';
import type { ThreadRecord } from '../../threads/registry.ts';
import { settingsInForce } from '../../threads/thread-settings.ts';
import { lookAtPane } from '../../tmux/look.ts';
import type { CommandCall, CommandContext } from './command.ts';
import { STATE_SIGNS } from './sessions.ts';
import { modeName } from './switch-mode.ts';

/** The session of the thread in which a command was given; undefined for a terminal or a headless agent. */
export function sessionOf({ thread }: CommandCall, { threads }: CommandContext): ThreadRecord | undefined {
  const record = thread === undefined ? undefined : threads.registry.get(thread.id);
  return record?.shell === 'terminal' ? undefined : record;
}

const WITHIN_MS = 4_000;

export async function sessionStatus(record: ThreadRecord, order: CommandCall, tools: CommandContext): Promise<string> {
  const { host, sessionName, cwd, claudeSession, closed } = record;
  const isThere = !closed && tools.remote.state(host).kind !== 'unreachable';
  const ask = <T>(what: () => Promise<T | undefined>) => (isThere ? inTime(what()) : undefined);
  const [repository, status, mode] = await Promise.all([
    ask(() => repositoryAt(tools.hosts.get(host), cwd)),
    ask(() => tools.statusOf(host, claudeSession)),
    ask(() => modeNow(order, tools)),
  ]);
  const { model, permissionMode } = settingsInForce(record, tools.threads);
  const known = tools.states.get(record.thread);
  const state = closed ? { state: 'ended' as const, since: undefined } : known;
  const since = state?.since === undefined ? '' : ` for ${formatDuration(Date.now() - state.since, 1)}`;
  const words = state === undefined ? 'state unknown' : stateWords(state) + since;
  const about = [
    status === undefined ? model && `model ${untrustedCode(model)}` : footer(status, (at) => `<t:${Math.round(at)}:R>`),
    `${mode ?? (permissionMode === 'default' ? 'manual' : permissionMode) ?? ''} mode`.replace(/^ mode$/, ''),
  ];
  return [
    `${STATE_SIGNS[state?.state ?? 'shell']} **${untrustedCode(sessionName)}** ${words}, on ${untrustedCode(host)}, in ${untrustedCode(cwd)}`,
    repository && repositoryText(repository),
    about.filter(Boolean).join(' · '),
  ]
    .filter(Boolean)
    .join('\n');
}

async function modeNow({ thread }: CommandCall, { panes }: CommandContext): Promise<string | undefined> {
  const pane = thread && (await panes.find(thread));
  if (pane === undefined) return undefined;
  const { screen } = readPane(await lookAtPane(pane.tmux, pane.record), pane.record);
  return screen.kind === 'empty' ? modeName(screen.mode) : undefined;
}

async function inTime<T>(what: Promise<T | undefined>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, WITHIN_MS, undefined);
  });
  return Promise.race([what.catch(() => undefined), late]).finally(() => clearTimeout(timer));
}

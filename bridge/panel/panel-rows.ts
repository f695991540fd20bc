// The rows of a panel: the declared and the running sessions of a channel, with everything that is known of them.

import { loadStatus, parseStatusLineInput } from '../../agents/status-line.ts';
import { settingsOf } from '../../core/project.ts';
import { labelOf } from '../../core/session-name.ts';
import type { KnownWorktree } from '../../threads/known-worktree.ts';
import type { ThreadRecord } from '../../threads/registry.ts';
import { agentTitle } from '../../threads/session-pane.ts';
import type { TimedState } from '../../threads/session-state.ts';
import type { ServerParts } from '../bridge-options.ts';
import { sessionPrint } from '../commands/kill.ts';
import { settingWords } from '../commands/set.ts';
import type { DeclaredSessions, DeclaredStatus } from '../declared/declared-parts.ts';
import { lastThread } from '../declared/tell-end.ts';

export interface PanelRow {
  /** "shop", or "shop@mini". */
  readonly label: string;
  readonly host: string;
  /** Its thread, if it ever had one. */
  readonly thread: string | undefined;
  /** Which session it is: another one may have its name later. Empty if none runs. */
  readonly session: string;
  /** Undefined if it does not run. */
  readonly state: TimedState | undefined;
  /** Why a declared session does not run. */
  readonly because: DeclaredStatus['because'];
  /** The name of its agent. */
  readonly agent: string | undefined;
  readonly branch: string | undefined;
  readonly isWorktree: boolean;
  readonly model: string | undefined;
  /** How much of its context is used, in percent. */
  readonly context: number | undefined;
  /** The last activity, in whole minutes. */
  readonly at: number | undefined;
}

/** A worktree that was kept when its session ended, and waits for a user's decision. */
type PanelWorktree = Pick<KnownWorktree, 'project' | 'name' | 'branch' | 'host' | 'thread'>;

export interface PanelView {
  readonly rows: readonly PanelRow[];
  readonly worktrees: readonly PanelWorktree[];
}

interface RowParts extends ServerParts {
  readonly declared: DeclaredSessions;
}

const MINUTE_MS = 60_000;

export function panelView(channel: string, parts: RowParts): PanelView {
  return { rows: panelRows(channel, parts), worktrees: keptWorktrees(channel, parts) };
}

function panelRows(channel: string, parts: RowParts): readonly PanelRow[] {
  const { threads, states, declared, server } = parts;
  const statuses = declared.statuses().filter(({ place }) => place.project.channel === channel);
  const running = threads.registry
    .all()
    .filter((one) => one.server === server.name && one.channel === channel && !one.closed && one.shell !== 'terminal')
    .filter((one) => states.get(one.thread)?.state !== 'ended')
    .toSorted((a, b) => (a.sessionName < b.sessionName ? -1 : 1));
  const isOf = (record: ThreadRecord, { place }: DeclaredStatus) =>
    record.host === place.host && (record.group ?? record.sessionName) === place.name;
  const known = statuses.map((status) => {
    const record = running.find((one) => isOf(one, status));
    if (record !== undefined) return runningRow(record, parts);
    const { label, host } = status.place;
    const because = status.because ?? 'starting';
    const thread = lastThread(status.place, parts);
    return { label, host, thread, because, state: undefined, isWorktree: false, session: '', ...NOTHING };
  });
  const others = running.filter((record) => !statuses.some((status) => isOf(record, status)));
  return [...known, ...others.map((record) => runningRow(record, parts))];
}

function keptWorktrees(channel: string, { threads, worktrees }: RowParts): readonly PanelWorktree[] {
  return worktrees
    .known()
    .filter(({ state, host, directory, thread }) => {
      const isKept = state === 'kept' && threads.registry.get(thread)?.closed !== false;
      return isKept && threads.destinationOf({ host, directory })?.channel === channel;
    })
    .map(({ project, name, branch, host, thread }) => ({ project, name, branch, host, thread }));
}

const NOTHING = { agent: undefined, branch: undefined, model: undefined, context: undefined, at: undefined };

function runningRow(record: ThreadRecord, parts: RowParts): PanelRow {
  const { home, config, hosts, threads, states } = parts;
  const { host, thread, sessionName, group, cwd, claudeSession, settings, at, told, agent } = record;
  const isHere = hosts.isLocal(host);
  const status = isHere && claudeSession !== '' ? parseStatusLineInput(loadStatus(home, claudeSession)) : undefined;
  const project = threads.destinationOf({ host, directory: cwd })?.project;
  const inForce = project === undefined ? settings : settingsOf(project, sessionName, settings, agent);
  const used = status?.context_window?.used_percentage;
  return {
    label: labelOf({ name: group ?? sessionName, host }, config),
    host,
    thread,
    session: sessionPrint(host, record),
    because: undefined,
    agent: agentTitle(record),
    state: states.get(thread) ?? { state: 'starting', since: at },
    branch: told?.branch,
    isWorktree: told?.isWorktree ?? parts.worktrees.isInside({ host, directory: cwd }),
    model: status?.model?.display_name ?? told?.model ?? inForce?.model,
    context: used === undefined ? told?.context : Math.round(used),
    at: Math.floor(at / MINUTE_MS) * MINUTE_MS,
  };
}

export interface NewSessionChoices {
  readonly projects: readonly { readonly name: string; readonly directory: string; readonly host: string }[];
  readonly hosts: readonly string[];
  readonly defaultHost: string;
  readonly models: readonly string[];
  readonly modes: readonly string[];
}

/** What the form for a new session offers on the page of the local workspace. */
export function newSessionChoices(parts: ServerParts): NewSessionChoices {
  const { config, hosts, threads, server } = parts;
  const { defaultHost } = config;
  return {
    projects: threads
      .projects()
      .filter((one) => one.server === server.name && one.path !== '')
      .map(({ name, path, host = defaultHost }) => ({ name, directory: path, host })),
    hosts: hosts.names(),
    defaultHost,
    models: settingWords('model', parts),
    modes: settingWords('mode', parts),
  };
}

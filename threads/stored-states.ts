// The states of sessions for those who do not watch panes: the file that the bridge writes for other processes, and what one
// look can tell.

import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import * as z from 'zod';
import { readJson, writeJson } from '../home/atomic-write.ts';
import type { Home } from '../home/home.ts';
import { lookAtPanes } from '../tmux/look.ts';
import type { Session } from '../tmux/sessions.ts';
import type { Tmux } from '../tmux/tmux.ts';
import { readPane } from './read-pane.ts';
import type { ThreadRecord } from './registry.ts';
import { readingOf, type SessionState, STATE_NAMES, stateOfSession, type TimedState } from './session-state.ts';

const fileSchema = z.record(
  z.string(),
  z.object({ state: z.enum(STATE_NAMES), for: z.string().exactOptional(), since: z.number() }),
);

/** Only the bridge writes it. After the bridge has ended, it says what was true then. */
export function loadStates(home: Home): ReadonlyMap<string, TimedState> {
  return new Map(Object.entries(readJson(path(home), fileSchema) ?? {}));
}

export function saveStates(home: Home, states: ReadonlyMap<string, TimedState>): void {
  writeJson(path(home), Object.fromEntries(states));
}

const path = (home: Home) => join(home.folder('state'), 'sessions.json');

/** `since` is undefined if nobody watched. */
export type ShownState = SessionState & { readonly since?: number | undefined };

interface ListedSession {
  readonly session: Session;
  readonly record: ThreadRecord | undefined;
}

/** Looks at all sessions that nobody watches, with one script. The result has the same order. */
export async function shownStates(
  tmux: Tmux,
  sessions: readonly ListedSession[],
  watched: (thread: string) => TimedState | undefined,
  timeoutMs: number,
): Promise<readonly ShownState[]> {
  const known = sessions.map(({ record }) => record && watched(record.thread));
  const others = sessions.filter((_, at) => known[at] === undefined);
  const panes = others.map(({ session, record }) => ({
    serverPid: session.serverPid,
    paneId: record?.paneId ?? session.pane.id,
  }));
  const looks = panes.length === 0 ? [] : await lookAtPanes(tmux, panes, { timeoutMs });
  const now = Date.now();
  const derived: ShownState[] = [];
  for (const [at, { record }] of others.entries()) {
    // One screen per turn: a host may fill a thousand of them, and reading them takes seconds.
    if (at > 0) await nextTurn();
    const look = looks[at] ?? { kind: 'gone' };
    const isGone = look.kind === 'gone';
    const { screen, isAgent } = readPane(
      isGone ? look : { ...look, mode: undefined },
      record ?? { command: '', shell: 'found', claudeSession: '', agent: 'claude' },
    );
    const reading = isGone ? undefined : readingOf(screen, isAgent);
    derived.push(
      stateOfSession({
        record,
        isHostAway: false,
        prompts: [],
        waiting: 0,
        now,
        isOver: !isGone && look.dead,
        seen: reading && { reading, at: now },
      }),
    );
  }
  return known.map((state) => state ?? derived.shift() ?? { state: 'shell' });
}

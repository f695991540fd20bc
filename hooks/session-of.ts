// Which tmux session a letter came from: the pane that ran the hook, on its own server, whoever is
// attached where. What was seen is remembered, for panes that are gone before their last letter.

import { join } from 'node:path';
import * as z from 'zod';
import { readJson } from '../home/files.ts';
import type { Home } from '../home/home.ts';
import { keep } from '../home/keep.ts';
import type { Host } from '../tmux/host.ts';
import { type Whereabouts, whoami } from '../tmux/whoami.ts';

const seenSchema = z.object({
  socket: z.string(),
  serverPid: z.number(),
  paneId: z.string(),
  panePid: z.number(),
  sessionId: z.string(),
  sessionName: z.string(),
  group: z.string().optional(),
  command: z.string(),
  path: z.string(),
});
const storeSchema = z.record(z.string(), seenSchema);

/** `afresh` when the pane may run something else than a moment ago. */
export type SessionOf = (
  tmux: string,
  pane: string,
  afresh?: boolean,
) => Promise<Whereabouts | undefined>;

const KEPT = 500;
const FRESH_MS = 10_000;

export function createSessionOf(home: Home, host: Host): SessionOf {
  const path = join(home.folder('state'), 'panes.json');
  const stored = readJson(path, storeSchema) ?? {};
  const seen = new Map<string, Whereabouts>();
  for (const [key, one] of Object.entries(stored)) seen.set(key, { ...one, group: one.group });
  const checkedAt = new Map<string, number>();

  async function look(key: string, tmux: string, pane: string): Promise<Whereabouts | undefined> {
    const found = await whoami(host, tmux, pane);
    if (found === undefined) return seen.get(key);
    checkedAt.set(key, Date.now());
    if (JSON.stringify(found) === JSON.stringify(seen.get(key))) return found;
    seen.delete(key);
    seen.set(key, found);
    for (const oldest of seen.keys()) {
      if (seen.size <= KEPT) break;
      seen.delete(oldest);
    }
    keep(path, Object.fromEntries(seen));
    return found;
  }

  return async (tmux, pane, afresh = false) => {
    const key = `${tmux}|${pane}`;
    const known = seen.get(key);
    const age = Date.now() - (checkedAt.get(key) ?? 0);
    return known !== undefined && !afresh && age < FRESH_MS ? known : look(key, tmux, pane);
  };
}

/** Of grouped sessions the newest member's name shows; the group is what stays. */
export function sessionKey(session: Whereabouts): string {
  return `${session.serverPid}:${session.group ?? session.sessionId}`;
}

export function sessionLabel(session: Whereabouts): string {
  return session.group ?? session.sessionName;
}

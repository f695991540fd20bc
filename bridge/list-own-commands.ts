// Reads the user's own slash commands from a session's host, with one bounded command, at most once a minute.

import { driverOf } from '../agents/list.ts';
import type { SlashCommand } from '../agents/slash-command.ts';
import type { Log } from '../core/log.ts';
import type { ThreadRecord } from '../threads/registry.ts';
import type { HostList } from '../tmux/host-list.ts';

type WhereCommandsAre = Pick<ThreadRecord, 'host' | 'cwd' | 'transcript' | 'agent'>;

/** Empty if the host does not answer. Never rejects. */
type OwnCommands = (where: WhereCommandsAre) => Promise<readonly SlashCommand[]>;

const KEPT_MS = 60_000;
const TIMEOUT_MS = 5_000;
const MAX_BYTES = 2 * 2 ** 20;

export function createOwnCommands({ hosts, log }: { readonly hosts: HostList; readonly log: Log }): OwnCommands {
  const kept = new Map<string, { readonly at: number; readonly found: Promise<readonly SlashCommand[]> }>();
  return ({ host, cwd, transcript, agent }) => {
    const own = driverOf(agent).commands?.own;
    if (own === undefined) return Promise.resolve([]);
    const now = Date.now();
    for (const [key, { at }] of kept) if (now - at > KEPT_MS) kept.delete(key);
    const key = JSON.stringify([host, cwd, transcript, agent]);
    const known = kept.get(key)?.found;
    if (known !== undefined) return known;
    const found = (async () => {
      const options = { doing: 'list the slash commands', timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES };
      return own.parse(await hosts.get(host).sh(own.script, [transcript, cwd], options));
    })().catch((error: Error) => {
      kept.delete(key); // ask again next time
      log.info('listing slash commands', { host, because: error.message });
      return [];
    });
    kept.set(key, { at: now, found });
    return found;
  };
}

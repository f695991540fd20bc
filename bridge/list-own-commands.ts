// Reads the user's own slash commands from a session's host, with one bounded command, at most once a minute.

import type { ClaudeCommand } from '../agents/claude/commands/builtin.ts';
import { LIST_OWN_COMMANDS, parseOwnCommands } from '../agents/claude/commands/own-commands.ts';
import type { Log } from '../core/log.ts';
import type { ThreadRecord } from '../threads/registry.ts';
import type { HostList } from '../tmux/host-list.ts';

type WhereCommandsAre = Pick<ThreadRecord, 'host' | 'cwd' | 'transcript'>;

/** Empty if the host does not answer. Never rejects. */
export type OwnCommands = (where: WhereCommandsAre) => Promise<readonly ClaudeCommand[]>;

const KEPT_MS = 60_000;
const TIMEOUT_MS = 5_000;
const MAX_BYTES = 2 * 2 ** 20;

export function createOwnCommands({ hosts, log }: { readonly hosts: HostList; readonly log: Log }): OwnCommands {
  const kept = new Map<string, { readonly at: number; readonly found: Promise<readonly ClaudeCommand[]> }>();
  return ({ host, cwd, transcript }) => {
    const now = Date.now();
    for (const [key, { at }] of kept) if (now - at > KEPT_MS) kept.delete(key);
    const key = JSON.stringify([host, cwd, transcript]);
    const known = kept.get(key)?.found;
    if (known !== undefined) return known;
    const found = (async () => {
      const options = { doing: 'list the slash commands', timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES };
      return parseOwnCommands(await hosts.get(host).sh(LIST_OWN_COMMANDS, [transcript, cwd], options));
    })().catch((error: Error) => {
      kept.delete(key); // ask again next time
      log.info('listing slash commands', { host, because: error.message });
      return [];
    });
    kept.set(key, { at: now, found });
    return found;
  };
}

// What an agent last said in its status line: model, context and limits. Here it is a file in our home, on another host a file there.

import { loadStatus, parseStatusLineInput } from '../agents/status-line.ts';
import { parsedForeignJson } from '../core/json.ts';
import { hostFiles } from '../hosts/host-files.ts';
import type { Shared } from './shared-services.ts';

/** Undefined if it is not known. */
export type AgentStatus = (
  host: string,
  claudeSession: string,
) => Promise<ReturnType<typeof parseStatusLineInput> | undefined>;

const STATUS_BYTES = 100_000;

export function createAgentStatus({ home, hosts, remote }: Pick<Shared, 'home' | 'hosts' | 'remote'>): AgentStatus {
  async function read(host: string, claudeSession: string): Promise<unknown> {
    if (hosts.isLocal(host)) return loadStatus(home, claudeSession);
    if (!/^[\w-]{1,100}$/.test(claudeSession)) return undefined;
    const path = `${await remote.home(host)}/status/${claudeSession}.json`;
    const text = await hostFiles(hosts.get(host)).read(path, STATUS_BYTES);
    return text === undefined ? undefined : parsedForeignJson(text.toString('utf8'));
  }

  return async (host, claudeSession) => parseStatusLineInput(await read(host, claudeSession).catch(() => undefined));
}

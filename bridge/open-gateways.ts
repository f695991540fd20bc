// One gateway connection per bot token. A bot may be on several Discord servers, so each event goes only to the sides
// that it concerns, and an interaction to exactly one of them, because it can be answered only once.

import * as z from 'zod';
import type { ThreadmuxError } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import { type Gateway, openGateway } from '../discord/gateway.ts';
import type { GatewaySession } from '../discord/gateway-state.ts';
import { gatewaySessionSchema } from '../discord/payloads.ts';
import type { Rest } from '../discord/rest.ts';
import { readJson, writeBestEffort } from '../home/atomic-write.ts';
import type { Home } from '../home/home.ts';
import { createDebouncedWrite } from './debounced-write.ts';
import type { ServerSide } from './start-server.ts';

/** GUILDS, GUILD_MESSAGES and MESSAGE_CONTENT. */
const BRIDGE_INTENTS = (1 << 0) | (1 << 9) | (1 << 15);
const POSITION_MS = 200;

interface Listener {
  readonly guildIds: readonly string[];
  owns(channelId: string): Promise<boolean>;
}

export function openGateways(
  sides: readonly ServerSide[],
  options: { readonly home: Home; readonly log: Log; readonly onFatal: (error: ThreadmuxError) => void },
): { readonly gateways: readonly Gateway[]; close(): void } {
  const groups = new Map<Rest, ServerSide[]>(); // one client per token
  for (const side of sides) groups.set(side.rest, [...(groups.get(side.rest) ?? []), side]);
  const opened = [...groups].map(([rest, group]) => openFor(rest, group, options));
  return { gateways: opened.map(({ gateway }) => gateway), close: () => opened.forEach(({ close }) => void close()) };
}

function openFor(rest: Rest, sides: readonly ServerSide[], { home, log, onFatal }: Parameters<typeof openGateways>[1]) {
  // A server that joins the group needs the events at the start of a session, so the group has its own position.
  const path = `${home.folder('state')}/${sides.map((side) => side.server.name).join('+')}.gateway.json`;
  const position = createDebouncedWrite<GatewaySession>((session) => writeBestEffort(path, session), POSITION_MS);
  const gateway = openGateway({
    rest,
    token: sides[0]?.server.token ?? '',
    intents: BRIDGE_INTENTS,
    log,
    onFatal,
    load: () => readJson(path, gatewaySessionSchema),
    save: position.set,
    async handle(name, data, live) {
      const concerned = await concernedBy(name, data, sides);
      // Until the last one is done, the event does not count as read.
      const done = await Promise.allSettled(concerned.map((side) => side.hear(name, data, live)));
      const failed = done.find((one) => one.status === 'rejected');
      if (failed !== undefined) throw failed.reason;
    },
  });
  return {
    gateway,
    close() {
      gateway.close();
      position.flush();
    },
  };
}

const placeSchema = z.object({ id: z.string(), guild_id: z.string(), channel_id: z.string() }).partial();

/** Those on the guild of the event; all if it names none. */
export async function concernedBy<T extends Listener>(
  name: string,
  data: unknown,
  sides: readonly T[],
): Promise<readonly T[]> {
  const place = placeSchema.safeParse(data).data;
  const guild = name === 'GUILD_CREATE' ? place?.id : place?.guild_id;
  const there = guild === undefined ? sides : sides.filter(({ guildIds }) => guildIds.includes(guild));
  if (name !== 'INTERACTION_CREATE') return there;
  const owners = await Promise.all(there.map((side) => there.length === 1 || side.owns(place?.channel_id ?? '')));
  // If it belongs to none, one of them refuses it.
  return [there.find((_, at) => owners[at]) ?? there[0] ?? sides[0]].filter((one) => one !== undefined);
}

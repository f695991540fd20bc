// Judges what a client sends on the gateway, before anything is done about it. Pure.

import * as z from 'zod';
import { parseJson } from '../../core/json.ts';
import { sameSecret } from '../access/admit.ts';
import { INTENT_BITS } from '../workspace-context.ts';

const MAX_PAYLOAD_BYTES = 4096;
const ALL_INTENTS = (1 << 26) - 1;
const KNOWN_GAPS = (1 << 17) | (1 << 18) | (1 << 19) | (1 << 22) | (1 << 23);
const MEMBERS = 1 << 1;
const PRESENCES = 1 << 8;

const payloadSchema = z.object({ op: z.number().int(), d: z.unknown() });

const identifySchema = z.object({
  token: z.string(),
  intents: z.unknown(),
  properties: z.record(z.string(), z.unknown()),
  shard: z.unknown().optional(),
});

const resumeSchema = z.object({
  token: z.string(),
  session_id: z.string(),
  seq: z.number().int(),
});

export type Payload = z.infer<typeof payloadSchema>;

export function readPayload(raw: Buffer, isBinary: boolean): Payload | undefined {
  if (isBinary || raw.length > MAX_PAYLOAD_BYTES) return undefined;
  try {
    return payloadSchema.safeParse(parseJson(raw.toString('utf8'))).data;
  } catch {
    return undefined; // not JSON: the caller closes with 4002
  }
}

type Identified = { readonly kind: 'ok'; readonly intents: number } | { readonly kind: 'close'; readonly code: number };

export interface Gatekeeper {
  readonly token: string;
  readonly messageContentIntent: boolean;
}

export function judgeIdentify(data: unknown, gate: Gatekeeper): Identified {
  const parsed = identifySchema.safeParse(data);
  if (!parsed.success) return { kind: 'close', code: 4002 };
  const { token, intents, shard } = parsed.data;
  if (!sameSecret(token, gate.token)) return { kind: 'close', code: 4004 };
  if (shard !== undefined && !isOnlyShard(shard)) return { kind: 'close', code: 4010 };
  if (typeof intents !== 'number' || !Number.isSafeInteger(intents) || intents < 0)
    return { kind: 'close', code: 4013 };
  if (intents > ALL_INTENTS || (intents & KNOWN_GAPS) !== 0) return { kind: 'close', code: 4013 };
  const forbidden = MEMBERS | PRESENCES | (gate.messageContentIntent ? 0 : INTENT_BITS.content);
  if ((intents & forbidden) !== 0) return { kind: 'close', code: 4014 };
  return { kind: 'ok', intents };
}

/** One guild needs one shard. */
function isOnlyShard(shard: unknown): boolean {
  return Array.isArray(shard) && shard.length === 2 && shard[0] === 0 && shard[1] === 1;
}

export function readResume(data: unknown): z.infer<typeof resumeSchema> | undefined {
  return resumeSchema.safeParse(data).data;
}

/** The token of an identify of the page, which says nothing else. */
export function tokenIn(data: unknown): string {
  return z.object({ token: z.string() }).safeParse(data).data?.token ?? '';
}

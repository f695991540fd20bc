// What the gateway says, as far as the connection itself is concerned.

import * as z from 'zod';
import { parseJson } from '../core/json.ts';

const payloadSchema = z.object({
  op: z.number(),
  d: z.unknown(),
  s: z.number().nullish(),
  t: z.string().nullish(),
});
export const helloSchema = z.object({ heartbeat_interval: z.number().positive() });

export const readyEventSchema = z.object({ session_id: z.string(), resume_gateway_url: z.string() });

export const gatewayBotSchema = z.object({
  url: z.string(),
  session_start_limit: z.object({ remaining: z.number(), reset_after: z.number() }),
});

export function parsePayload(text: string): z.output<typeof payloadSchema> | undefined {
  try {
    return payloadSchema.safeParse(parseJson(text)).data;
  } catch {
    return undefined;
  }
}

/** What is kept of a gateway session between two processes. */
export const gatewaySessionSchema = z.object({ id: z.string(), resumeUrl: z.string(), seq: z.number() });

// What an agent says of itself in its status line, and the one-line footer made from it. The form is that of Claude Code's
// status line command. Every field may be missing: the footer shows what is known.

import { join } from 'node:path';
import * as z from 'zod';
import { parsedForeignJson } from '../core/json.ts';
import { untrustedText } from '../core/untrusted-text.ts';
import { readText } from '../home/atomic-write.ts';
import type { Home } from '../home/home.ts';

const window = z.object({
  used_percentage: z.number(),
  /** Seconds since 1970. */
  resets_at: z.number().optional().catch(undefined),
});

const statusSchema = z.object({
  session_id: z.string(),
  transcript_path: z.string().optional().catch(undefined),
  cwd: z.string().optional().catch(undefined),
  version: z.string().optional().catch(undefined),
  model: z.object({ display_name: z.string() }).optional().catch(undefined),
  context_window: z.object({ used_percentage: z.number() }).optional().catch(undefined),
  cost: z.object({ total_cost_usd: z.number() }).optional().catch(undefined),
  /** Only with a subscription, and only after the first reply of the session; either window may be missing. */
  rate_limits: z
    .object({ five_hour: window.optional().catch(undefined), seven_day: window.optional().catch(undefined) })
    .optional()
    .catch(undefined),
});

export type StatusLineInput = z.infer<typeof statusSchema>;

export function parseStatusLineInput(json: unknown): StatusLineInput | undefined {
  return statusSchema.safeParse(json).data;
}

export function footer(status: StatusLineInput): string {
  const { model, context_window: context, cost, rate_limits: limits } = status;
  const parts = [
    // Without the size of the context window: its use is shown next to it.
    model &&
      untrustedText(
        model.display_name
          .slice(0, 100)
          .replace(/\([^()]*context\)$/i, '')
          .trimEnd(),
      ),
    context && `${Math.round(context.used_percentage)}% context`,
    cost && cost.total_cost_usd > 0 && `$${cost.total_cost_usd.toFixed(2)}`,
    limits?.five_hour && limit('5h', limits.five_hour),
    limits?.seven_day && limit('7d', limits.seven_day),
  ];
  return parts.filter(Boolean).join(' · ');
}

/** Discord shows the time of the reset in the reader's time zone. */
function limit(name: string, used: z.infer<typeof window>): string {
  const resets = used.resets_at === undefined ? '' : ` (resets <t:${Math.round(used.resets_at)}:R>)`;
  return `${name} ${Math.round(used.used_percentage)}%${resets}`;
}

// The last status line input per session of an agent, saved for the footer of its replies.

export function loadStatus(home: Home, agentSession: string): unknown {
  const path = pathOf(home, agentSession);
  return path === undefined ? undefined : parsedForeignJson(readText(path) ?? '');
}

/** The id comes from outside, and the path must stay inside the folder. */
function pathOf(home: Home, agentSession: string): string | undefined {
  return /^[\w-]{1,100}$/.test(agentSession) ? join(home.folder('status'), `${agentSession}.json`) : undefined;
}

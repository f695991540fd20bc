import type { RefusalAnswer } from '../../workspace/request-body.ts';
import type { InspectedRequest, Inspection } from '../../workspace/rest-server.ts';

export interface FaultyRequest extends InspectedRequest {
  /** The number of earlier requests of all kinds. */
  readonly count: number;
}

export type Fault =
  /** Answered without being applied. */
  | { readonly kind: 'answer'; readonly status: number; readonly body?: unknown }
  | { readonly kind: 'reset' }
  | { readonly kind: 'silence' }
  /** Applied; then the answer is lost or wrong. */
  | { readonly kind: 'apply-then-reset' }
  | { readonly kind: 'apply-then-silence' }
  | { readonly kind: 'apply-then-answer'; readonly status: number; readonly body?: unknown }
  | { readonly kind: 'delay'; readonly ms: number }
  /** Applied, and answered when this is over. */
  | { readonly kind: 'answer-late'; readonly over: Promise<unknown> }
  /** Applied when this is over. */
  | { readonly kind: 'apply-late'; readonly over: Promise<unknown> }
  | {
      readonly kind: 'limited';
      readonly retryAfterMs: number;
      readonly scope: 'user' | 'shared' | 'global';
    }
  /** Like a Cloudflare ban: 429 without a retry time. */
  | { readonly kind: 'banned'; readonly as: 'html' | 'json' };

export interface Faults {
  onRequest?(request: FaultyRequest): Fault | undefined;
}

export interface DiscordOptions {
  readonly rateLimits?: {
    readonly perBucket: number;
    readonly windowMs: number;
    readonly globalPerSecond: number;
  };
  /** How many sessions may be started per day. */
  readonly identifyLimit?: { readonly total: number };
  readonly faults?: Faults;
  readonly refuse?: (request: InspectedRequest) => RefusalAnswer | undefined;
}

/** Faults of the bot's connections. */
export interface GatewayControls {
  /** Destroys every socket without a close frame. */
  cutAll(): void;
  stopAcking(isStopped: boolean): void;
  sendReconnect(): void;
  requestHeartbeat(): void;
  invalidateSession(isResumable: boolean): void;
  closeAll(code: number): void;
  /** Forgets every session, so that no resume can succeed. */
  dropSessions(): void;
  /** The last opcodes received, in order. */
  readonly received: readonly number[];
  readonly connected: number;
}

export function asDiscord(options?: DiscordOptions): {
  readonly inspection: Inspection;
  readonly gateway: GatewayControls;
  /** How many requests were applied that may have changed something. */
  readonly changes: () => number;
};

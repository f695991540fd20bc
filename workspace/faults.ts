// Troubles a test can order: lost answers, resets, silence, limits. Nothing happens unless somebody asks for it.

export interface FaultyRequest {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  /** How many requests came before this one, of all kinds. */
  readonly count: number;
  readonly body: unknown;
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
  | {
      readonly kind: 'limited';
      readonly retryAfterMs: number;
      readonly scope: 'user' | 'shared' | 'global';
    }
  /** As Cloudflare bans: 429 that says nothing of when to come back. */
  | { readonly kind: 'banned'; readonly as: 'html' | 'json' };

export interface Faults {
  onRequest?(request: FaultyRequest): Fault | undefined;
}

/** Troubles that a test, or an operator, can order. */
export interface GatewayControls {
  /** Destroys every socket without a close frame. */
  cutAll(): void;
  stopAcking(stopped: boolean): void;
  /** Goes on taking frames but says nothing at all, acknowledgements included. */
  mute(muted: boolean): void;
  sendReconnect(): void;
  requestHeartbeat(): void;
  invalidateSession(resumable: boolean): void;
  closeAll(code: number): void;
  /** Forgets every session, so that no resume can succeed. */
  dropSessions(): void;
  /** The last opcodes received, in order. */
  readonly received: readonly number[];
  readonly connected: number;
}

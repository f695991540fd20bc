// Where tests get in: with this one option they make the workspace as strict, and as unreliable, as Discord is. The program gives none.

import type { ClientSessions } from './gateway/client-sessions.ts';
import type { Connection } from './gateway/gateway-server.ts';
import type { RefusalAnswer } from './refusal.ts';
import type { Actor } from './wire/guild.ts';

export interface InspectedRequest {
  readonly method: string;
  /** Below the API, without the query. */
  readonly path: string;
  /** Undefined for a caller without credentials. */
  readonly actor: Actor | undefined;
  /** Parsed; undefined if there is none or it cannot be read. */
  readonly body: unknown;
}

/** What goes out: an answer, a connection that breaks, or nothing at all. */
export type InspectionOutcome = RefusalAnswer | 'reset' | 'silence';

export interface Inspection {
  /** Stands around every request that was let in: it may refuse it, delay it, and change or lose its answer. Undefined: as usual. */
  request?(
    request: InspectedRequest,
    answer: () => RefusalAnswer,
  ): InspectionOutcome | undefined | Promise<InspectionOutcome | undefined>;
  /** Gets each connection to the gateway when it begins. */
  connection?(connection: Connection, sessions: ClientSessions): void;
}

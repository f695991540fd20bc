// Where tests get in: with this one option they make the workspace as strict, and as unreliable, as Discord is. The program gives none.

import type { Connection } from './gateway.ts';
import type { Answer } from './refusal.ts';
import type { Sessions } from './sessions.ts';
import type { Actor } from './wire-guild.ts';

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
export type Outcome = Answer | 'reset' | 'silence';

export interface Inspection {
  /** Stands around every request that was let in: it may refuse it, delay it, and change or lose its answer. Undefined: as usual. */
  request?(
    request: InspectedRequest,
    answer: () => Answer,
  ): Outcome | undefined | Promise<Outcome | undefined>;
  /** Gets each connection to the gateway when it begins. */
  connection?(connection: Connection, sessions: Sessions): void;
}

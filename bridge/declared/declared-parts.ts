// What the rest of the bridge can ask of declared sessions, and what they need for it.

import type { ServerParts } from '../bridge-options.ts';
import type { CommandContext } from '../commands/command.ts';
import type { BegunSession } from '../commands/new.ts';
import type { AcceptedMessage } from '../inbox.ts';
import type { SessionRun, whyNot } from './decide-start.ts';
import type { DeclaredPlace } from './declared-list.ts';

export interface DeclaredStatus {
  readonly place: DeclaredPlace;
  /** Undefined if its host could not be asked yet. */
  readonly isThere: boolean | undefined;
  /** Why it does not run. */
  readonly because: ReturnType<typeof whyNot> | undefined;
}

export interface DeclaredSessions {
  all(): readonly DeclaredPlace[];
  statuses(): readonly DeclaredStatus[];
  /** Whether this session, whose end was noticed, starts by itself. */
  isExpected(session: { readonly host: string; readonly name: string }): boolean;
  /** Somebody wants it to run. Rejects if it could not be started. */
  start(place: DeclaredPlace): Promise<BegunSession>;
  /** The same for a message that waits for it: `first` is the declared prompt, which is stored, and has to be typed before that message. */
  startFor(
    place: DeclaredPlace,
    message: string,
  ): Promise<{ readonly begun: BegunSession; readonly first: AcceptedMessage | undefined }>;
  /** Somebody ends this session: it is not started again. The result takes it back. */
  ending(session: { readonly host: string; readonly name: string; readonly run?: SessionRun | undefined }): () => void;
  onChange(listener: () => void): void;
  begin(): void;
  close(): Promise<void>;
}

export interface DeclaredOptions extends ServerParts {
  /** The file with what is remembered. */
  readonly path: string;
  readonly context: () => CommandContext;
  readonly pausesMs?: readonly number[] | undefined;
}

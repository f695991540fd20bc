// Maps tmux session names to thread titles and back: session "web" has the thread "[agent] web".
// Every name that tmux accepts is read back from its title unchanged, or is refused with a reason.

import { ThreadmuxError } from './errors.ts';
import { isHostName, type StreamKind } from './session-name.ts';
import { untrustedCode } from './untrusted-text.ts';

const PREFIX = '[agent] ';
const TITLE_LIMIT = 100;
const TITLE: Readonly<Record<StreamKind, string>> = { terminal: 'terminal', agent: 'headless' };

/** Characters that Discord would trim or hide, or that have a special meaning in our titles. */
const ESCAPED = /[%@\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}]|(?! )\p{Zs}|^ | $|(?<= ) /gu;

interface ThreadPlace {
  /** The session's name as tmux reports it: any name that tmux accepts. */
  readonly session: string;
  /** Missing for the default host, whose titles have no "@host". */
  readonly host?: string;
}

export function threadTitle(place: ThreadPlace): string {
  if (place.session === '') throw refused(place.session, 'it is empty');
  if (!place.session.isWellFormed()) throw refused(place.session, 'it is not valid Unicode');
  const at = place.host === undefined ? '' : `@${place.host}`;
  const title = `${PREFIX}${place.session.replace(ESCAPED, encodeURIComponent)}${at}`;
  if (title.length > TITLE_LIMIT)
    throw refused(place.session, `its title would have ${title.length} characters, and ${TITLE_LIMIT} are allowed`);
  return title;
}

/** The session that a title names; undefined for a title that we would not have written. */
export function parseThreadTitle(title: string): ThreadPlace | undefined {
  const [, name, host] = title.match(/^\[agent\] ([^@]+)(?:@([^@]+))?$/s) ?? [];
  if (name === undefined || (host !== undefined && !isHostName(host))) return undefined;
  const session = unescaped(name);
  if (session === undefined) return undefined;
  const place: ThreadPlace = host === undefined ? { session } : { session, host };
  return writes(place, title) ? place : undefined;
}

function unescaped(name: string): string | undefined {
  try {
    return decodeURIComponent(name);
  } catch {
    return undefined; // an unescaped "%": not one of our titles
  }
}

function writes(place: ThreadPlace, title: string): boolean {
  try {
    return threadTitle(place) === title;
  } catch {
    return false;
  }
}

function refused(session: string, why: string): ThreadmuxError {
  return new ThreadmuxError('name_refused', `session ${untrustedCode(session, 40)} cannot have a thread: ${why}`, {
    hint: 'Give it a shorter or simpler name with: tmux rename-session',
  });
}

export function streamTitle(kind: StreamKind, name: string): string {
  return `[${TITLE[kind]}] ${name}`;
}

export function isStreamTitle(title: string): boolean {
  return /^\[(?:terminal|headless)\] /.test(title);
}

// Maps tmux session names to thread titles and back: session "web" has the thread "[agent] web".
// Every name that tmux accepts is read back from its title unchanged, or is refused with a reason.

import { ThreadmuxError } from './errors.ts';

const PREFIX = '[agent] ';
const TITLE_LIMIT = 100;
const SAFE = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;
const HOST = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$/;

/** Characters that Discord would trim or hide, or that have a special meaning in our titles. */
const ESCAPED = /[%@\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}]|(?! )\p{Zs}|^ | $|(?<= ) /gu;

/** A name that we may create a session with: tmux would run a `#(…)` in other names. */
export type SessionName = string & { readonly __brand: 'SessionName' };

export function isSessionName(text: string): text is SessionName {
  return SAFE.test(text);
}

export function parseSessionName(text: string): SessionName {
  if (isSessionName(text)) return text;
  throw new ThreadmuxError('name_refused', `${JSON.stringify(text)} cannot name a session`, {
    hint: 'Use letters, digits, "-" and "_", at most 64 of them, beginning with a letter or digit.',
  });
}

/** What we pass to `ssh` as its destination: it can be neither an option nor anything for a shell. */
export function isSshName(text: string): boolean {
  return /^[A-Za-z0-9_][A-Za-z0-9_.@-]{0,252}$/.test(text);
}

export function isHostName(text: string): boolean {
  return HOST.test(text);
}

// What people write for a session: "shop", or "shop@mini" on another host than the default one. tmux also accepts names with an "@", so
// the last one counts: a host must not be able to name its session so that a command means one on another host.

export function labelOf(
  { name, host }: { readonly name: string; readonly host: string },
  { defaultHost }: { readonly defaultHost: string },
): string {
  return host === defaultHost && !name.includes('@') ? name : `${name}@${host}`;
}

export function parseLabel(
  label: string,
  { defaultHost }: { readonly defaultHost: string },
): { readonly name: string; readonly host: string } {
  const at = label.lastIndexOf('@');
  return at < 0 ? { name: label, host: defaultHost } : { name: label.slice(0, at), host: label.slice(at + 1) };
}

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
  const shown = JSON.stringify(session.length > 40 ? `${session.slice(0, 40)}…` : session);
  return new ThreadmuxError('name_refused', `session ${shown} cannot have a thread: ${why}`, {
    hint: 'Give it a shorter or simpler name with: tmux rename-session',
  });
}

// Names terminals and headless agents after their directory and program: easy to tell apart, and short enough to type
// after "!kill".

export type StreamKind = 'terminal' | 'agent';

const TITLE: Readonly<Record<StreamKind, string>> = { terminal: 'terminal', agent: 'headless' };
const LONGEST_PART = 24;

export function streamTitle(kind: StreamKind, name: string): string {
  return `[${TITLE[kind]}] ${name}`;
}

/** A name that is not taken; a number is added if necessary. */
export function streamName(
  kind: StreamKind,
  directory: string,
  command: string,
  taken: ReadonlySet<string>,
): SessionName {
  const place = plain(directory.split('/').at(-1) ?? '') || 'dir';
  const program = command.trim().split(/\s+/, 1)[0]?.split('/').at(-1) ?? '';
  const what = kind === 'agent' ? 'agent' : plain(program) || 'terminal';
  const name = `${place}-${what}`;
  for (let number = 1; ; number++) {
    const one = number === 1 ? name : `${name}-${number}`;
    if (!taken.has(one)) return parseSessionName(one);
  }
}

function plain(text: string): string {
  return text
    .replace(/[^A-Za-z0-9_-]+/g, '-')
    .replace(/^[^A-Za-z0-9]+|(?<!-)-+$/g, '')
    .slice(0, LONGEST_PART);
}

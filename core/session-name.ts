// The names of sessions and hosts: which ones we create, what people write for them, and those of terminals and headless agents.

import { ThreadmuxError } from './errors.ts';
import { untrustedCode } from './untrusted-text.ts';

const SAFE = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;
const HOST = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$/;

/** A name that we may create a session with: tmux would run a `#(…)` in other names. */
export type SessionName = string & { readonly __brand: 'SessionName' };

export function isSessionName(text: string): text is SessionName {
  return SAFE.test(text);
}

export function parseSessionName(text: string): SessionName {
  if (isSessionName(text)) return text;
  throw new ThreadmuxError('name_refused', `${untrustedCode(text)} cannot name a session`, {
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

// Names terminals and headless agents after their directory and program: easy to tell apart, and short enough to type
// after "!kill".

export type StreamKind = 'terminal' | 'agent';

const LONGEST_PART = 24;

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

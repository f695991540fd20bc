// What went wrong on a host, as a sentence with its remedy. The words of ssh and tmux are read here and nowhere else.

import { ThreadmuxError } from '../core/errors.ts';
import { code } from '../core/outside-words.ts';
import { type Framed, isMarkLine } from './frame.ts';
import type { Ran } from './process.ts';

/** The exit status by which our scripts say that there is no tmux; see tmux.ts. */
export const NO_TMUX = 97;

/** A script that ran to its end and did not succeed. */
export function scriptFailed(host: string, doing: string, framed: Framed): ThreadmuxError {
  const what = `threadmux could not ${doing} on ${host}`;
  if (framed.status === NO_TMUX)
    return new ThreadmuxError('tmux_not_installed', `${what}: tmux was not found there`, {
      hint: `Install tmux 3.2 or newer on ${host}, or give its path as "tmux" of that host in config.json.`,
    });
  const words = lastLine(framed.stderr) ?? '';
  const said = words === '' ? `the script ended with status ${framed.status}` : code(words);
  if (meansNoTarget(words))
    return new ThreadmuxError('session_not_found', `${what}: ${said}`, {
      hint: 'The session has ended or was renamed; `threadmux sessions` lists those there are.',
    });
  const disk = DISK.find(({ pattern }) => pattern.test(words));
  if (disk !== undefined)
    return new ThreadmuxError('disk_failed', `${what}: the disk there is ${disk.is}`, {
      hint: `${disk.remedy} on ${host}, then try again.`,
    });
  if (/duplicate session/.test(words))
    return new ThreadmuxError('session_exists', `${what}: ${said}`, {
      hint: 'Choose another name.',
    });
  return new ThreadmuxError('tmux_failed', `${what}: ${said}`, {
    hint: `Try the same by hand on ${host}; \`tmux -V\` must say 3.2 or newer.`,
  });
}

const DISK = [
  { pattern: /No space left on device|quota exceeded/i, is: 'full', remedy: 'Make room' },
  { pattern: /Read-only file system/i, is: 'read-only', remedy: 'Mount it writable' },
] as const;

/** tmux says that there is no such session, window or pane, or no server at all. */
export function meansNoTarget(words: string): boolean {
  return /can't find (session|window|pane)|no current target|no server running|error connecting to [^(]{1,300}\((?:No such file|Connection refused)|lost server|server exited/.test(
    words,
  );
}

/** A script that did not come to its end on this machine. */
export function abandoned(host: string, doing: string, ran: Ran): ThreadmuxError {
  return new ThreadmuxError('tmux_failed', `threadmux could not ${doing} on ${host}: ${why(ran)}`, {
    hint: 'Is tmux on this machine still answering? Try `tmux list-sessions`.',
  });
}

/** Another call tries to open the connection, and has not succeeded yet. */
export function noConnection(host: string, ssh: string, doing: string): ThreadmuxError {
  const what = `threadmux could not ${doing} on ${host}: it does not answer`;
  return new ThreadmuxError('host_unreachable', what, { hint: `Try \`ssh ${ssh} true\` by hand.` });
}

/** A connection that did not carry a script to its end. */
export function connectionFailed(
  host: string,
  ssh: string,
  doing: string,
  ran: Ran,
  begun: boolean,
): ThreadmuxError {
  const what = `threadmux could not ${doing} on ${host}`;
  if (begun)
    return new ThreadmuxError(
      'host_unreachable',
      `${what}: the connection was lost on the way (${why(ran)})`,
      {
        hint: 'It is tried again when the host is back.',
      },
    );
  for (const { pattern, code: kind, hint } of SAID_BY_SSH) {
    const line = linesOf(ran.stderr).find((text) => pattern.test(text));
    if (line !== undefined)
      return new ThreadmuxError(kind, `${what}: ${code(line)}`, { hint: hint(ssh) });
  }
  // Without a status it was killed here, which says nothing about the host.
  if (ran.ended === 'itself' && ran.status !== undefined && ran.status !== 255)
    return new ThreadmuxError(
      'host_refused',
      `${what}: the login shell did not run our command (${why(ran)})`,
      {
        hint: `\`ssh ${ssh} sh -c true\` must work and end by itself.`,
      },
    );
  return new ThreadmuxError('host_unreachable', `${what}: ${why(ran)}`, {
    hint: `Try \`ssh ${ssh} true\` by hand.`,
  });
}

/** In this order: a changed key is followed by further complaints. */
const SAID_BY_SSH: readonly {
  readonly pattern: RegExp;
  readonly code: 'host_refused' | 'host_unreachable';
  readonly hint: (ssh: string) => string;
}[] = [
  {
    pattern: /REMOTE HOST IDENTIFICATION HAS CHANGED|host key .{0,300}has changed/i,
    code: 'host_refused',
    hint: (ssh) =>
      `Find out why the key of ${ssh} has changed; if that is right, remove the old one with \`ssh-keygen -R\`, then \`ssh ${ssh}\` once.`,
  },
  {
    pattern: /Host key verification failed|host key is known for/,
    code: 'host_refused',
    hint: (ssh) => `Run \`ssh ${ssh}\` once by hand and confirm its key.`,
  },
  {
    pattern: /Permission denied \(|Too many authentication failures|No more authentication methods/,
    code: 'host_refused',
    hint: (ssh) =>
      `A key must open it without a question: \`ssh-copy-id ${ssh}\`, and load a key with a passphrase into ssh-agent. Passwords are never asked for.`,
  },
  {
    pattern:
      /Unable to negotiate|Bad configuration option|Bad owner or permissions|invalid characters|terminating, \d+ bad/,
    code: 'host_refused',
    hint: (ssh) => `\`ssh ${ssh} true\` must work by hand; see ~/.ssh/config.`,
  },
  {
    pattern: /Could not resolve hostname/,
    code: 'host_unreachable',
    hint: (ssh) => `Is "${ssh}" a name in ~/.ssh/config or in DNS, and is this machine online?`,
  },
  {
    pattern:
      /connect to host|Connection (refused|reset|closed|timed out)|timed out|banner exchange|No route to host|unreachable|Broken pipe|not responding/i,
    code: 'host_unreachable',
    hint: (ssh) => `Is it switched on and online? \`ssh ${ssh} true\` must work.`,
  },
];

function why(ran: Ran): string {
  if (ran.ended === 'timeout') return 'no answer in time';
  if (ran.ended === 'abort') return 'it was called off';
  if (ran.ended === 'overflow') return 'it printed too much';
  const words = lastLine(ran.stderr);
  if (words !== undefined) return code(words);
  return ran.status === undefined ? 'ssh was killed' : `it ended with status ${ran.status}`;
}

function lastLine(text: string): string | undefined {
  return linesOf(text).at(-1);
}

/** Nothing of ours is longer; a host may print any amount, and none of it is looked at before it is cut. */
const TEXT_KEPT = 16 * 1024;
const LONGEST_LINE = 300;

function linesOf(text: string): string[] {
  return text
    .slice(-TEXT_KEPT)
    .split(/[\r\n]+/)
    .map(withoutBorder)
    .filter((line) => line !== '' && !isMarkLine(line))
    .map((line) => (line.length > LONGEST_LINE ? `${line.slice(0, LONGEST_LINE)}…` : line));
}

/** ssh frames its loudest warnings with "@". */
function withoutBorder(line: string): string {
  const isBorder = (at: number) => /[@\s]/.test(line.charAt(at));
  let start = 0;
  let end = line.length;
  while (start < end && isBorder(start)) start++;
  while (end > start && isBorder(end - 1)) end--;
  return line.slice(start, end);
}

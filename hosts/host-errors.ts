// Explains what went wrong on a host and what to do about it. This is the only file that interprets messages of ssh and tmux.

import { randomBytes } from 'node:crypto';
import { ThreadmuxError } from '../core/errors.ts';
import { untrustedCode } from '../core/untrusted-text.ts';
import type { OutputFrame, ProcessResult } from './process.ts';

/** The exit status of our scripts if tmux is not installed; see tmux.ts. */
export const NO_TMUX = 97;

/** The script ran to its end and failed. */
export function scriptFailed(host: string, doing: string, framed: Framed): ThreadmuxError {
  const what = `threadmux could not ${doing} on ${host}`;
  if (framed.status === NO_TMUX)
    return new ThreadmuxError('tmux_not_installed', `${what}: tmux was not found there`, {
      hint: `Install tmux 3.2 or newer on ${host}, or set its path as "tmux" of that host in config.json.`,
    });
  const words = lastLine(framed.stderr) ?? '';
  const quoted = words === '' ? `the script ended with status ${framed.status}` : untrustedCode(words);
  if (meansNoTarget(words))
    return new ThreadmuxError('session_not_found', `${what}: ${quoted}`, {
      hint: 'The session has ended or was renamed. Run `threadmux sessions` to see all sessions.',
    });
  const disk = DISK.find(({ pattern }) => pattern.test(words));
  if (disk !== undefined)
    return new ThreadmuxError('disk_failed', `${what}: the disk there is ${disk.is}`, {
      hint: `${disk.remedy} on ${host}, then try again.`,
    });
  if (/duplicate session/.test(words))
    return new ThreadmuxError('session_exists', `${what}: ${quoted}`, { hint: 'Choose another name.' });
  return new ThreadmuxError('tmux_failed', `${what}: ${quoted}`, {
    hint: `Try the same by hand on ${host}; \`tmux -V\` must print 3.2 or newer.`,
  });
}

const DISK = [
  { pattern: /No space left on device|quota exceeded/i, is: 'full', remedy: 'Make room' },
  { pattern: /Read-only file system/i, is: 'read-only', remedy: 'Mount it writable' },
] as const;

/** tmux reports that the session, window or pane does not exist, or that no server runs. */
export function meansNoTarget(words: string): boolean {
  return /can't find (session|window|pane)|no current target|no server running|error connecting to [^(]{1,300}\((?:No such file|Connection refused)|lost server|server exited/.test(
    words,
  );
}

/** A script on this machine did not run to its end. */
export function commandAborted(host: string, doing: string, ran: ProcessResult): ThreadmuxError {
  return new ThreadmuxError('tmux_failed', `threadmux could not ${doing} on ${host}: ${why(ran)}`, {
    hint: ran.ended === 'overflow' ? TOO_MUCH : 'tmux on this machine may be hanging. Try `tmux list-sessions`.',
  });
}

const TOO_MUCH = 'A very large window is not read. Make it smaller, then try again.';

/** Another call is opening the connection and has not succeeded in time. */
export function noConnection(host: string, ssh: string, doing: string): ThreadmuxError {
  const what = `threadmux could not ${doing} on ${host}: it does not answer`;
  return new ThreadmuxError('host_unreachable', what, { hint: `Try \`ssh ${ssh} true\` by hand.` });
}

/** The connection failed before the script reached its end. */
export function connectionFailed(
  host: string,
  ssh: string,
  doing: string,
  ran: ProcessResult,
  begun: boolean,
): ThreadmuxError {
  const what = `threadmux could not ${doing} on ${host}`;
  if (begun)
    return new ThreadmuxError('host_unreachable', `${what}: the connection was lost (${why(ran)})`, {
      hint: 'threadmux tries again when the host is back.',
    });
  for (const { pattern, code: kind, hint } of SSH_MESSAGES) {
    const line = linesOf(ran.stderr).find((text) => pattern.test(text));
    if (line !== undefined) return new ThreadmuxError(kind, `${what}: ${untrustedCode(line)}`, { hint: hint(ssh) });
  }
  // Without a status, ssh was killed on this machine, which says nothing about the host.
  if (ran.ended === 'itself' && ran.status !== undefined && ran.status !== 255)
    return new ThreadmuxError('host_refused', `${what}: the login shell did not run our command (${why(ran)})`, {
      hint: `\`ssh ${ssh} sh -c true\` must work and return.`,
    });
  return new ThreadmuxError('host_unreachable', `${what}: ${why(ran)}`, { hint: `Try \`ssh ${ssh} true\` by hand.` });
}

/** The order matters: after a changed key, ssh prints further messages. */
const SSH_MESSAGES: readonly {
  readonly pattern: RegExp;
  readonly code: 'host_refused' | 'host_unreachable';
  readonly hint: (ssh: string) => string;
}[] = [
  {
    pattern: /REMOTE HOST IDENTIFICATION HAS CHANGED|host key .{0,300}has changed/i,
    code: 'host_refused',
    hint: (ssh) =>
      `Find out why the key of ${ssh} has changed. If the new key is right, remove the old one with \`ssh-keygen -R\` and run \`ssh ${ssh}\` once.`,
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
      `Login must work with a key and without questions: run \`ssh-copy-id ${ssh}\`, and load a key with a passphrase into ssh-agent.`,
  },
  {
    pattern:
      /Unable to negotiate|Bad configuration option|Bad owner or permissions|invalid characters|terminating, \d+ bad/,
    code: 'host_refused',
    hint: (ssh) => `Check ~/.ssh/config: \`ssh ${ssh} true\` must work by hand.`,
  },
  {
    pattern: /Could not resolve hostname/,
    code: 'host_unreachable',
    hint: (ssh) => `Check that "${ssh}" is a name in ~/.ssh/config or in DNS, and that this machine is online.`,
  },
  {
    pattern:
      /connect to host|Connection (refused|reset|closed|timed out)|timed out|banner exchange|No route to host|unreachable|Broken pipe|not responding/i,
    code: 'host_unreachable',
    hint: (ssh) => `Check that it is running and online: \`ssh ${ssh} true\` must work.`,
  },
];

function why(ran: ProcessResult): string {
  if (ran.ended === 'timeout') return 'no answer in time';
  if (ran.ended === 'abort') return 'it was cancelled';
  if (ran.ended === 'overflow') return 'it printed too much';
  const words = lastLine(ran.stderr);
  if (words !== undefined) return untrustedCode(words);
  return ran.status === undefined ? 'ssh was killed' : `it ended with status ${ran.status}`;
}

function lastLine(text: string): string | undefined {
  return linesOf(text).at(-1);
}

/** A host may print any amount: cut it before parsing. */
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

/** ssh frames its most important warnings with "@". */
function withoutBorder(line: string): string {
  const isBorder = (at: number) => /[@\s]/.test(line.charAt(at));
  let start = 0;
  let end = line.length;
  while (start < end && isBorder(start)) start++;
  while (end > start && isBorder(end - 1)) end--;
  return line.slice(start, end);
}

// Puts marker lines around the output of a script, so that the greeting of a login shell is not mistaken for output,
// and a lost connection is not mistaken for success.

export interface Frame {
  readonly script: string;
  /** Passed before the script's own arguments. */
  readonly mark: string;
}

interface Framed {
  readonly stdout: string;
  readonly stderr: string;
  readonly status: number;
}

export function frameScript(script: string): Frame {
  return {
    mark: randomBytes(8).toString('hex'),
    script: `m=$1; shift
printf '\\n%s\\n' "threadmux-begin-$m"; printf '\\n%s\\n' "threadmux-begin-$m" >&2
(
${script}
)
s=$?; printf '\\nthreadmux-end-%s %s\\n' "$m" "$s"`,
  };
}

/** For a script that keeps running: it has a begin marker but no end marker. */
export function frameStaying(script: string): Frame & { readonly begin: string } {
  const mark = randomBytes(8).toString('hex');
  return { mark, begin: beginLine(mark), script: `printf '\\n%s\\n' "threadmux-begin-$1"; shift\n${script}` };
}

/** Tells runProcess which part of the output is ours. */
export function outputFrame(mark: string, onBegin = () => {}): OutputFrame {
  const isWhole = (stdout: string) => readFrame(stdout, '', mark) !== undefined;
  return { begin: beginLine(mark), isWhole, onBegin };
}

export function hasBegun(stdout: string, mark: string): boolean {
  return stdout.includes(beginLine(mark));
}

function isMarkLine(line: string): boolean {
  return /^threadmux-(?:begin|end)-[0-9a-f]{16}/.test(line);
}

/** The output of the script; undefined if it did not run to its end. */
export function readFrame(stdout: string, stderr: string, mark: string): Framed | undefined {
  const begin = stdout.indexOf(beginLine(mark));
  const endLine = `\nthreadmux-end-${mark} `;
  const end = stdout.lastIndexOf(endLine);
  if (begin === -1 || end === -1) return undefined;
  const status = stdout.slice(end + endLine.length).match(/^(\d+)\n/)?.[1];
  if (status === undefined) return undefined;
  return {
    stdout: stdout.slice(begin + beginLine(mark).length, end),
    stderr: stderr.slice(Math.max(0, stderr.indexOf(beginLine(mark)))).replace(beginLine(mark), ''),
    status: Number(status),
  };
}

function beginLine(mark: string): string {
  return `\nthreadmux-begin-${mark}\n`;
}

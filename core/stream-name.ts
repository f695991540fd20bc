// Names terminals and headless agents after their directory and program: easy to tell apart, and short enough to type
// after "!kill".

import { parseSessionName, type SessionName } from './session-name.ts';

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

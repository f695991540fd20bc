// What a terminal or a headless agent is called: after its directory and what it does, so that a person
// can tell them apart, and short enough to write after "!kill".

import { parseSessionName, type SessionName } from './session-name.ts';

export type StreamKind = 'terminal' | 'agent';

const TITLE: Readonly<Record<StreamKind, string>> = { terminal: 'terminal', agent: 'headless' };
const LONGEST_PART = 24;

export function streamTitle(kind: StreamKind, name: string): string {
  return `[${TITLE[kind]}] ${name}`;
}

/** A name that no other has: with a number behind it if need be. */
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

// A thread as one Markdown file: who wrote what, and when. A message cannot look like the heading of another one, cannot leave a
// code block open, and contains no HTML. Pure.

import { neutralise, untrustedText } from './untrusted-text.ts';

export interface ExportedMessage {
  readonly author: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly text: string;
  readonly files: readonly { readonly name: string; readonly url: string }[];
}

interface ExportedThread {
  readonly title: string;
  /** Oldest first. */
  readonly messages: readonly ExportedMessage[];
  /** Whether older messages are missing. */
  readonly isCut: boolean;
}

/** `most`: bytes. The oldest messages are left out if there are more. */
export function threadMarkdown(
  { title, messages, isCut }: ExportedThread,
  most = Number.POSITIVE_INFINITY,
): { readonly text: string; readonly count: number; readonly isCut: boolean } {
  const parts: string[] = [];
  let size = 1_000; // the head
  for (const part of messages.toReversed().map(messageText)) {
    size += Buffer.byteLength(part) + 1;
    if (size > most) break;
    parts.unshift(part);
  }
  const isShort = isCut || parts.length < messages.length;
  const count = `${parts.length} ${parts.length === 1 ? 'message' : 'messages'}`;
  const head = [
    `# ${untrustedText(title, 200)}`,
    '',
    isShort ? `The newest ${count}. Older ones are missing.` : count,
    '',
  ];
  return { text: [...head, ...parts].join('\n'), count: parts.length, isCut: isShort };
}

function messageText({ author, at, text, files }: ExportedMessage): string {
  const when = new Date(at).toISOString().replace('T', ' ').slice(0, 16);
  const links = files.map(
    ({ name, url }) => `📎 [${untrustedText(name, 200)}](<${url.replace(/[<>\s\\]/g, encodeURIComponent)}>)`,
  );
  const said = text.trim() === '' ? [] : [safeText(text.trim()), ''];
  return [
    `## ${untrustedText(author, 100)} · ${when} UTC`,
    '',
    ...said,
    ...(links.length > 0 ? [...links, ''] : []),
  ].join('\n');
}

function safeText(text: string): string {
  let fence = '';
  const lines = neutralise(text)
    .split('\n')
    .map((line) => {
      const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1] ?? '';
      if (fence !== '') {
        if (mark.startsWith(fence) && line.trim() === mark) fence = '';
        return line;
      }
      // Discord also ends a block in the line in which it begins.
      const isOneLine = mark !== '' && line.trim().slice(mark.length).includes(mark);
      if (mark !== '' && !isOneLine) fence = mark;
      return mark !== '' && !isOneLine ? line : safeLine(line);
    });
  return [...lines, ...(fence === '' ? [] : [fence])].join('\n');
}

/** Inline code stays as it is: a backslash would be visible there. */
function safeLine(line: string): string {
  const parts = line.split(/((?<!`)`+[^`]+`+)/);
  const safe = parts.map((part, at) => (at % 2 === 1 ? part : part.replace(/<(?=[A-Za-z/!?])/g, '\\<')));
  return safe.join('').replace(/^( {0,3})(#{1,6}(?:\s|$)|(?:=+|-+)\s*$)/, '$1\\$2');
}

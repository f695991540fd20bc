// Lines out of the chunks of a pipe. A line that is too long to be anything we show is dropped, whole, and costs no more
// memory than the limit.

import { StringDecoder } from 'node:string_decoder';

interface LineReader {
  readonly add: (chunk: Uint8Array) => void;
  /** What came after the last line feed is a line, too. */
  readonly end: () => void;
}

/** A tool's result may hold a picture; a text of Claude's is never near this. */
const LONGEST = 32 * 1024 * 1024;

export function createLineReader(onLine: (line: string) => void, longest = LONGEST): LineReader {
  const decoder = new StringDecoder('utf8');
  let pieces: string[] = [];
  let length = 0;

  function hold(piece: string): void {
    length += piece.length;
    if (length <= longest) pieces.push(piece);
    else pieces = [];
  }

  function release(): void {
    const line = pieces.join('');
    pieces = [];
    length = 0;
    if (line.trim() !== '') onLine(line);
  }

  return {
    add(chunk) {
      const [first = '', ...others] = decoder.write(chunk).split('\n');
      hold(first);
      for (const piece of others) {
        release();
        hold(piece);
      }
    },
    end() {
      hold(decoder.end());
      release();
    },
  };
}

// Parses the output of a collector; see collect-script.ts. The host may be hostile: sizes are limited, and only names that
// `drop` creates are accepted. Anything else is an error, because the rest of the output could not be trusted.

import { ThreadmuxError } from '../core/errors.ts';
import { untrustedCode } from '../core/untrusted-text.ts';
import { LARGEST_LETTER } from './collect-script.ts';

export type CollectedLine =
  | { readonly kind: 'beat' | 'replaced' }
  | { readonly kind: 'skip'; readonly what: string }
  | {
      readonly kind: 'letter';
      readonly box: string;
      readonly name: string;
      readonly letter: Buffer;
    };

const LINE = /^(letter|skip) (\d{1,20}\.\d{1,20})\/(\d{9,20}\.\d{1,20}) (\d{1,15})$/;
const LONGEST_LINE = 120;
const NEWLINE = 0x0a;

export function letterReader(): { read(chunk: Buffer): Generator<CollectedLine> } {
  let pending: Buffer[] = [];
  let bytes = 0;
  let open: { readonly box: string; readonly name: string; readonly size: number } | undefined;

  /** Copies only if there is more than one chunk. */
  const joined = () => (pending.length === 1 && pending[0]) || Buffer.concat(pending);

  /** Removes `length` bytes and the newline after them from the pending bytes. */
  function cut(length: number): Buffer {
    const all = joined();
    if (all[length] !== NEWLINE) throw invalid('a letter has the wrong size');
    pending = [all.subarray(length + 1)];
    bytes -= length + 1;
    return all.subarray(0, length);
  }

  function* next(): Generator<CollectedLine, boolean> {
    if (open !== undefined) {
      if (bytes <= open.size) return false;
      const { box, name, size } = open;
      open = undefined;
      yield { kind: 'letter', box, name, letter: cut(size) };
      return true;
    }
    const all = joined();
    pending = [all];
    const at = all.subarray(0, LONGEST_LINE + 1).indexOf(NEWLINE);
    if (at === -1 && bytes > LONGEST_LINE) throw invalid('a line is too long');
    if (at === -1) return false;
    const line = cut(at).toString('latin1');
    if (line === 'beat' || line === 'replaced') yield { kind: line };
    else {
      const [, kind, box = '', name = '', size] = line.match(LINE) ?? [];
      if (kind === undefined) throw invalid(untrustedCode(line));
      if (kind === 'skip') yield { kind, what: `${box}/${name}` };
      else if (Number(size) > LARGEST_LETTER) throw invalid('a letter is too large');
      else open = { box, name, size: Number(size) };
    }
    return true;
  }

  return {
    *read(chunk) {
      pending.push(chunk);
      bytes += chunk.length;
      while (yield* next());
    },
  };
}

function invalid(what: string): ThreadmuxError {
  return new ThreadmuxError('host_refused', `The host sent invalid data instead of a letter: ${what}.`);
}

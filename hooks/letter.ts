// A letter: what Claude Code told a hook, as `drop` wrote it down. Its id is stable for as long as
// the file lies in the outbox, so that every retry makes the same nonces.

import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { type HookInput, parseHookInput } from '../claude/hook-input.ts';

export interface Letter {
  readonly id: string;
  /** When it was written, by this machine's clock. */
  readonly writtenAt: number;
  readonly tmux: string;
  readonly pane: string;
  /** "cli" for a person's session; a nested `claude -p` is something else. */
  readonly entrypoint: string;
  readonly project: string;
  readonly input: HookInput;
}

export type Reading =
  | { readonly kind: 'letter'; readonly letter: Letter }
  /** Of an event we have no handler for: nothing to do. */
  | { readonly kind: 'nothing' }
  /** Written by a newer version of us: not ours to judge. */
  | { readonly kind: 'newer' }
  | { readonly kind: 'corrupt'; readonly why: string };

const FORMAT = 'threadmux 1';

export function readLetter(path: string): Reading {
  const { ino, mtimeNs, mtimeMs } = statSync(path, { bigint: true });
  const text = readFileSync(path, 'utf8');
  return parseLetter(text, `${ino}.${mtimeNs}`, Number(mtimeMs));
}

export function parseLetter(text: string, salt: string, writtenAt: number): Reading {
  const [format = '', tmux = '', pane = '', entrypoint = '', project = '', ...rest] =
    text.split('\n');
  if (format !== FORMAT)
    return /^threadmux \d+$/.test(format)
      ? { kind: 'newer' }
      : { kind: 'corrupt', why: 'it has no heading' };
  try {
    const input = parseHookInput(JSON.parse(rest.join('\n')));
    if (input === undefined) return { kind: 'nothing' };
    const id = createHash('sha256').update(salt).update(text).digest('base64url').slice(0, 22);
    return { kind: 'letter', letter: { id, writtenAt, tmux, pane, entrypoint, project, input } };
  } catch (error) {
    return { kind: 'corrupt', why: (error as Error).message };
  }
}

// What is typed for a message: its text, made safe for the input box of the agent, and the paths of its files.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { TypingRules } from '../agents/driver.ts';
import { isThreadmuxError } from '../core/errors.ts';
import { cleanInbound, guardForEnter, untrustedCode, untrustedReason } from '../core/untrusted-text.ts';
import { download } from '../discord/http-pool.ts';
import { writeWhole } from '../home/atomic-write.ts';
import type { ServerParts } from './bridge-options.ts';
import type { AcceptedMessage } from './inbox.ts';

export type TypedText =
  /** The agent's hook confirms it. */
  | { readonly kind: 'prompt'; readonly text: string }
  /** A slash command. Most are reported by no hook, so the screen confirms them. */
  | { readonly kind: 'slash'; readonly text: string }
  | { readonly kind: 'nothing' };

/**
 * Ends the name of a command that has no arguments. Without it, Enter would run the first entry of the agent's menu:
 * `/logou` logs out. With it, only the exact name counts.
 */
const NO_MENU = '\u00a0';

/** `as`: see slash-decision.ts. */
export function composeForAgent(
  message: string,
  paths: readonly string[],
  as: 'text' | 'command',
  { guard = (one) => one }: Pick<TypingRules, 'guard'>,
): TypedText {
  const text = cleanInbound(message).trim();
  if (as === 'command') {
    const line = [text, ...paths].join(' ');
    return { kind: 'slash', text: /\s/.test(line) ? guardForEnter(line) : `${line}${NO_MENU}` };
  }
  const whole = [text, paths.join('\n')].filter(Boolean).join('\n\n');
  return whole === '' ? { kind: 'nothing' } : { kind: 'prompt', text: guard(whole) };
}

/** For other programs: the unchanged text, and paths on the same line. */
export function composePlain(message: string, paths: readonly string[]): TypedText {
  const text = [cleanInbound(message), ...paths].filter(Boolean).join(' ');
  return text === '' ? { kind: 'nothing' } : { kind: 'prompt', text };
}

// A message's files are stored on the session's host, in files/<message id>/ of our home. Their names are not trusted
// and are reduced to characters that mean nothing to a shell, tmux or an agent.

export interface FetchedFiles {
  readonly paths: readonly string[];
  /** One sentence per file that could not be stored. */
  readonly failed: readonly string[];
}

const MAX_BYTES = 50 * 2 ** 20;
const TIMEOUT_MS = 30_000;
const WRITE = `umask 077; d=$3/files/$1; mkdir -p "$d" && cat > "$d/.$2" && mv "$d/.$2" "$d/$2" && exit
rm -f "$d/.$2"; exit 1`;

export async function fetchAttachments(
  message: AcceptedMessage,
  host: string,
  { server, home, hosts, remote }: Pick<ServerParts, 'server' | 'home' | 'hosts' | 'remote'>,
): Promise<FetchedFiles> {
  const paths: string[] = [];
  const failed: string[] = [];
  for (const [at, file] of message.attachments.entries()) {
    try {
      const data = await download(file.url, { api: server.api, maxBytes: MAX_BYTES, timeoutMs: TIMEOUT_MS });
      const name = safeName(file.filename, at);
      paths.push(await put(message.id, name, data));
    } catch (error) {
      if (isThreadmuxError(error, 'host_unreachable')) throw error; // the message waits with its files
      failed.push(untrustedReason(error));
    }
  }
  return { paths, failed };

  async function put(id: string, name: string, data: Uint8Array): Promise<string> {
    if (!hosts.isLocal(host)) {
      const there = await remote.home(host);
      const doing = `copy ${untrustedCode(name)}`;
      await hosts.get(host).sh(WRITE, [id, name, there], { input: data, doing, timeoutMs: 120_000 });
      return `${there}/files/${id}/${name}`; // never what the host says: the path is typed
    }
    const folder = join(home.folder('files'), id);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeWhole(join(folder, name), data);
    return join(folder, name);
  }
}

/** Characters of at most four bytes each, with room for the number before them. */
const NAME_LENGTH = 60;

/** Letters, digits, dot, dash and underscore; no leading dot or dash; never two of one name. */
export function safeName(filename: string, at: number): string {
  const plain = filename.normalize('NFC').replace(/[^\p{L}\p{N}._-]+/gu, '_');
  const clean =
    [...plain]
      .slice(-NAME_LENGTH)
      .join('')
      .replace(/^[._-]+/, '') || 'file';
  // A first file named "2-x" must not collide with a second one named "x".
  return at === 0 && !/^\d+-/.test(clean) ? clean : `${at + 1}-${clean}`;
}

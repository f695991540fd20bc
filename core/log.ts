// The log: one line per event, for people and for grep. Every line passes through here, so secrets are masked here.

import { harmless } from './json.ts';

type LogLevel = 'info' | 'warn' | 'error';
type LogFields = Readonly<Record<string, string | number | boolean | undefined>>;

export interface Log {
  info(event: string, fields?: LogFields): void;
  warn(event: string, fields?: LogFields): void;
  error(event: string, fields?: LogFields): void;
}

/** Patterns of known secrets, whichever program printed them. */
const SHAPES: readonly RegExp[] = [
  /\b[A-Za-z\d_-]{23,28}\.[A-Za-z\d_-]{6,7}\.[A-Za-z\d_-]{27,}/g, // Discord bot token
  /\bsk-ant-[A-Za-z\d_-]{8,}/g,
  /\b(?:ghp|gho|ghs|ghu|github_pat)_[A-Za-z\d_]{20,}/g,
  /(?<=\bBot )[A-Za-z\d_.-]{20,}/g,
  /(?<=\/(?:interactions|webhooks)\/\d{15,20}\/)[A-Za-z\d_.-]{16,}/g, // interaction tokens in paths
];

export function maskSecrets(text: string, secrets: readonly string[] = []): string {
  let masked = text;
  for (const secret of secrets) if (secret.length >= 6) masked = masked.replaceAll(secret, '[secret]');
  for (const shape of SHAPES) masked = masked.replace(shape, '[secret]');
  return masked;
}

export function createLog(
  write: (line: string) => void,
  options: { secrets?: readonly string[]; now?: () => Date } = {},
): Log {
  const now = options.now ?? (() => new Date());
  const logAt = (level: LogLevel) => (event: string, fields?: LogFields) =>
    write(maskSecrets(logLine(now(), level, event, fields), options.secrets));
  return { info: logAt('info'), warn: logAt('warn'), error: logAt('error') };
}

export const silentLog: Log = createLog(() => {});

function logLine(at: Date, level: LogLevel, event: string, fields: LogFields = {}): string {
  const pairs = Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => `${key}=${quoted(String(value))}`);
  return [at.toISOString(), level, event, ...pairs].join(' ');
}

/** Unquoted line breaks would let one event look like two. The file is read in a terminal, too. */
function quoted(value: string): string {
  return /^[\w@%+=:,./-]+$/.test(value) ? value : harmless(JSON.stringify(value));
}

// The log: one line per event, for people and for grep. Every line passes through here, so secrets are masked here.

import { harmless } from './json.ts';
import { maskSecrets } from './mask-secrets.ts';

type LogLevel = 'info' | 'warn' | 'error';
type LogFields = Readonly<Record<string, string | number | boolean | undefined>>;

export interface Log {
  info(event: string, fields?: LogFields): void;
  warn(event: string, fields?: LogFields): void;
  error(event: string, fields?: LogFields): void;
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

// Changes config.json: adds the answers and keeps everything else, even unknown keys. The previous file is kept as a backup next
// to it.

import { chmodSync, existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import * as z from 'zod';
import { ThreadmuxError } from '../../core/errors.ts';
import { parsedJson } from '../../core/json.ts';
import { lineDiff } from '../../core/line-diff.ts';
import { readText, writeWhole } from '../../home/atomic-write.ts';
import { openHome } from '../../home/home.ts';
import type { NewHost } from './hosts.ts';

export type RawConfig = Readonly<Record<string, unknown>>;

export interface ConfigText {
  readonly path: string;
  /** Undefined if the file does not exist. */
  readonly text: string | undefined;
  readonly raw: RawConfig;
}

export interface ServerAnswer {
  readonly api: string;
  /** The token. If `tokenFile` is given, config.json names that file instead. */
  readonly token: string;
  readonly tokenFile: string | undefined;
  readonly channel: string;
  readonly allow: readonly string[];
}

interface InitAnswers {
  /** Undefined for the local workspace. */
  readonly server: ServerAnswer | undefined;
  readonly hosts: readonly NewHost[];
}

export const DISCORD = 'https://discord.com/api/v10';

const objectSchema = z.record(z.string(), z.unknown());

export function readConfigText(root: string): ConfigText {
  const path = join(root, 'config.json');
  const text = existsSync(root) ? readText(path) : undefined;
  const raw = text === undefined ? {} : objectOf(text);
  if (raw !== undefined) return { path, text, raw };
  throw new ThreadmuxError('config_invalid', `${path} is not a JSON object and was not changed`, {
    hint: 'Correct or move the file, then run this again.',
  });
}

/** The server entry to change: the one with the same address, or the only one. */
export function presentServer(raw: RawConfig, api: string | undefined): RawConfig | undefined {
  const all = serversOf(raw);
  if (api === undefined) return all.find((one) => apiOf(one) === DISCORD) ?? all[0];
  return all.find((one) => apiOf(one) === api);
}

export function mergeAnswers({ raw, text }: ConfigText, { server, hosts }: InitAnswers): string {
  const servers = serversOf(raw);
  const merged = {
    ...raw,
    ...(server === undefined ? servers.length > 0 && { servers: [] } : { servers: withServer(servers, server) }),
    ...(hosts.length > 0 && { hosts: withHosts(raw.hosts, hosts) }),
  };
  return written(merged, text);
}

/** Keeps the indentation of the file. */
function written(value: RawConfig, like: string | undefined): string {
  const indent = like?.match(/^\{\r?\n([ \t]+)/)?.[1] ?? '  ';
  return `${JSON.stringify(value, null, indent)}\n`;
}

/** Compares the content, not the formatting. */
export function isSame({ text, raw }: ConfigText, after: string): boolean {
  return text !== undefined && JSON.stringify(raw) === JSON.stringify(objectOf(after));
}

export function makePrivate(path: string): void {
  chmodSync(path, 0o600);
}

/** The changes, for people. Tokens are hidden; only whether a token is new is shown. */
export function shownChange(before: ConfigText, after: string): readonly string[] {
  const { raw, text } = before;
  const was = text === undefined ? '' : written(raw, text); // formatting does not count as a change
  const old = serversOf(raw).flatMap(({ token }) => (typeof token === 'string' ? token : []));
  const next = serversOf(objectOf(after) ?? {}).flatMap(({ token }) =>
    typeof token === 'string' && !old.includes(token) ? token : [],
  );
  const masked = (shown: string) =>
    next.reduce(
      (rest, token) => rest.replaceAll(JSON.stringify(token), '"[new secret]"'),
      old.reduce((rest, token) => rest.replaceAll(JSON.stringify(token), '"[secret]"'), shown),
    );
  return lineDiff(masked(was), masked(after)).filter((line) => /[^\s+-]/.test(line));
}

/** Returns the path of the backup. */
export function saveConfig(root: string, before: ConfigText, after: string): string | undefined {
  const { path, text } = before;
  try {
    const home = openHome(root);
    const backup = text === undefined ? undefined : home.path(`${basename(path)}.${stamp(new Date())}.bak`);
    if (backup !== undefined && text !== undefined) writeWhole(backup, text);
    writeWhole(path, after);
    return backup;
  } catch (cause) {
    if (cause instanceof ThreadmuxError) throw cause;
    throw new ThreadmuxError('home_unsafe', `cannot write ${path}: ${(cause as Error).message}`, {
      cause,
      hint: 'Nothing was changed. Free some space, or set THREADMUX_HOME to a folder that you own.',
    });
  }
}

function withServer(servers: readonly RawConfig[], answer: ServerAnswer): readonly RawConfig[] {
  const { api, channel, allow, token, tokenFile } = answer;
  const at = servers.findIndex((one) => apiOf(one) === api);
  const present: RawConfig = servers[at] ?? newServer(servers, api);
  const entry = {
    ...present,
    ...(api === DISCORD ? {} : { api }),
    ...(tokenFile === undefined ? { token, tokenFile: undefined } : { tokenFile, token: undefined }),
    channel,
    allow,
  };
  return at === -1 ? [...servers, entry] : servers.with(at, entry);
}

/** Server names are unique; the first server needs no name. */
function newServer(servers: readonly RawConfig[], api: string): RawConfig {
  if (servers.length === 0) return {};
  const names = servers.map(({ name }) => name ?? 'discord');
  const host = new URL(api).hostname.replace(/[^A-Za-z0-9_-]/g, '-').slice(0, 24);
  for (let n = 1; ; n++) {
    const name = n === 1 ? host : `${host}-${n}`;
    if (!names.includes(name)) return { name };
  }
}

function withHosts(present: unknown, hosts: readonly NewHost[]): RawConfig {
  const all = { ...(objectSchema.safeParse(present).data ?? {}) };
  for (const { name, ssh } of hosts) all[name] = { ...(objectSchema.safeParse(all[name]).data ?? {}), ssh };
  return all;
}

function serversOf(raw: RawConfig): readonly RawConfig[] {
  return z.array(objectSchema).safeParse(raw.servers).data ?? [];
}

function apiOf({ api }: RawConfig): unknown {
  return api ?? DISCORD;
}

function objectOf(text: string): RawConfig | undefined {
  return objectSchema.safeParse(parsedJson(text.replace(/^\uFEFF/, ''))).data;
}

function stamp(now: Date): string {
  return now.toISOString().replace(/[:.]/g, '-');
}

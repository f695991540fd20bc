// Parses the configuration from the file and the environment; without servers, the local workspace is used.
// The result is a plain, readonly object, and `origins` says where each value came from.

import type * as z from 'zod';
import type { AgentName } from './agent-names.ts';
import { type ConfigFile, configSchema, type ServerEntry } from './config-schema.ts';
import { ThreadmuxError } from './errors.ts';
import { parseJson } from './json.ts';
import { projectProblem, unknownAgent } from './project-problem.ts';
import { shownAddress } from './webhook.ts';

export interface ServerConfig extends Readonly<Omit<ServerEntry, 'token' | 'tokenFile' | 'allow'>> {
  readonly token: string;
  readonly allow: readonly string[];
}

export interface Config extends Omit<ConfigFile, 'servers' | 'host' | 'defaultHost' | 'agents'> {
  readonly host: string;
  readonly defaultHost: string;
  /** What is configured for each agent; configured-agent.ts has the defaults. */
  readonly agents: Readonly<Record<string, ConfigFile['agents'][AgentName]>>;
  readonly tmuxSocket: string | undefined;
  /** An ssh configuration file to use instead of ~/.ssh/config. */
  readonly sshConfig: string | undefined;
  /** Empty if no Discord server is configured: the local workspace is used. */
  readonly servers: readonly ServerConfig[];
  /** Where each value came from, by key. */
  readonly origins: Readonly<Record<string, string>>;
}

export type ConfigEnvironment = Readonly<Record<string, string | undefined>>;

interface ConfigSources {
  readonly file?: { readonly path: string; readonly text: string } | undefined;
  readonly env: ConfigEnvironment;
  readonly hostname: string;
  /** Reads a token file named by the configuration. */
  readonly readToken?: (path: string) => string;
}

export function parseConfig(sources: ConfigSources): Config {
  const { env } = sources;
  const place = sources.file?.path ?? 'the environment';
  const file = parseFile(sources.file);
  const origins: Record<string, string> = {};
  for (const key of Object.keys(configSchema.shape)) origins[key] = 'default';
  for (const key of Object.keys(rawObject(sources.file))) origins[key] = place;
  const from = (key: string, name: string): string | undefined => {
    if (env[name] !== undefined && env[name] !== '') origins[key] = `environment ${name}`;
    return env[name] || undefined;
  };

  const host = from('host', 'THREADMUX_HOST') ?? file.host ?? shortName(sources.hostname);
  const sshHosts = list(from('hosts', 'SSH_HOSTS'));
  const entries = file.servers.length > 0 ? file.servers : serverOfEnv(env, origins);
  const servers = entries.map((entry, at) => withToken(entry, `servers[${at}]`, sources, place));
  const twin = servers.find((one, at) => servers.findIndex((s) => s.name === one.name) !== at);
  if (twin !== undefined) throw invalid(place, 'servers', `has two entries named "${twin.name}"`);

  const hosts: ConfigFile['hosts'] = { [host]: 'local', ...file.hosts };
  for (const ssh of sshHosts) hosts[checked('SSH_HOSTS', ssh)] ??= { ssh };
  const defaultHost = file.defaultHost ?? host;
  if (hosts[defaultHost] === undefined)
    throw invalid(place, 'defaultHost', `"${defaultHost}" is not one of the hosts (${Object.keys(hosts).join(', ')})`);
  const wrong = unknownAgent({ ...file, servers }) ?? projectProblem({ ...file, hosts, defaultHost, servers });
  if (wrong !== undefined) throw invalid(place, wrong.key, wrong.problem);
  const tmuxSocket = from('tmuxSocket', 'THREADMUX_TMUX_SOCKET');
  const sshConfig = from('sshConfig', 'THREADMUX_SSH_CONFIG');
  if (servers.length === 0) origins.servers = 'default: the local workspace';
  return {
    ...file,
    host: checked('host', host),
    defaultHost,
    hosts,
    servers,
    tmuxSocket,
    sshConfig,
    origins,
  };
}

/** For each remote host, the folders in which terminals may be started. */
export function rootsOfHosts({ hosts }: Config): Readonly<Record<string, readonly string[]>> {
  return Object.fromEntries(
    Object.entries(hosts).flatMap(([name, host]) => (host === 'local' ? [] : [[name, host.roots ?? []]])),
  );
}

/** The configuration in effect, for people: as JSON, with every token masked. */
export function maskedConfig(config: Config): Record<string, { value: unknown; from: string }> {
  const { origins, ...values } = config;
  const servers = config.servers.map((server) => ({ ...server, api: withoutPassword(server.api), token: '[secret]' }));
  const notify = config.notify.map((hook) => ({ ...hook, url: shownAddress(hook.url) }));
  return Object.fromEntries(
    Object.entries({ ...values, servers, notify }).map(([key, value]) => [
      key,
      { value: value ?? null, from: origins[key] ?? 'default' },
    ]),
  );
}

function withoutPassword(address: string): string {
  if (!URL.canParse(address)) return address;
  const url = new URL(address);
  if (url.password === '') return address;
  url.password = '[secret]';
  return decodeURI(url.href);
}

function parseFile(file: ConfigSources['file']): ConfigFile {
  const parsed = configSchema.safeParse(rawObject(file));
  if (parsed.success) return parsed.data;
  throw new ThreadmuxError(
    'config_invalid',
    parsed.error.issues.map((issue) => `${file?.path}: ${problem(issue, rawObject(file))}`).join('\n'),
    { hint: `Correct ${file?.path}. \`threadmux config --help\` lists all keys.` },
  );
}

function rawObject(file: ConfigSources['file']): Record<string, unknown> {
  if (file === undefined) return {};
  let raw: unknown;
  try {
    raw = parseJson(file.text.replace(/^\uFEFF/, ''));
  } catch (error) {
    throw invalid(file.path, 'the file', `is not JSON: ${jsonMistake(file.text, (error as Error).message)}`);
  }
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw))
    throw invalid(file.path, 'the file', 'must hold one JSON object in braces');
  return raw as Record<string, unknown>;
}

/** Messages of Node.js may quote the file, and with it a token. */
function jsonMistake(text: string, message: string): string {
  const position = /at position (\d+)/.exec(message)?.[1];
  if (position === undefined)
    return /^Unexpected (?:token '.'|end)/su.exec(message)?.[0].toLowerCase() ?? 'it is not valid';
  return `look at line ${text.slice(0, Number(position)).split('\n').length}`;
}

function problem(issue: z.core.$ZodIssue, raw: unknown): string {
  const path = issue.path.map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`)).join('');
  const key = path.replace(/^\./, '');
  if (issue.code === 'unrecognized_keys')
    return `${[key, issue.keys.join(', ')].filter(Boolean).join('.')} is not a key that threadmux knows`;
  if (issue.code === 'invalid_key')
    return `${JSON.stringify(issue.path.at(-1))} in ${issue.path.slice(0, -1).join('.')} ${issue.issues[0]?.message}`;
  if (issue.code !== 'invalid_type' || !issue.message.startsWith('Invalid')) return `${key} ${issue.message}`;
  const given = issue.path.reduce<unknown>((at, one) => (at as Record<PropertyKey, unknown> | undefined)?.[one], raw);
  if (given === undefined) return `${key} is missing`;
  return `${key} must be ${EXPECTED[issue.expected] ?? issue.expected}`;
}

const EXPECTED: Readonly<Record<string, string>> = {
  array: 'a list in brackets, such as ["a", "b"]',
  object: 'an object in braces, such as {"a": "b"}',
  record: 'an object in braces, such as {"a": "b"}',
  string: 'text in quotes',
  boolean: 'true or false',
  number: 'a number',
};

/** A server that is configured by environment variables instead of a file. */
function serverOfEnv(env: ConfigEnvironment, origins: Record<string, string>): readonly ServerEntry[] {
  const { DISCORD_BOT_TOKEN, DISCORD_CHANNEL_ID, DISCORD_ALLOWED_USERS, DISCORD_API_BASE } = env;
  if (!DISCORD_BOT_TOKEN && !DISCORD_CHANNEL_ID && !DISCORD_ALLOWED_USERS) return [];
  const raw = {
    name: 'discord',
    ...(DISCORD_API_BASE ? { api: DISCORD_API_BASE } : {}),
    ...(DISCORD_BOT_TOKEN ? { token: DISCORD_BOT_TOKEN } : {}),
    channel: DISCORD_CHANNEL_ID,
    allow: list(DISCORD_ALLOWED_USERS),
  };
  origins.servers = 'environment DISCORD_BOT_TOKEN, DISCORD_CHANNEL_ID, DISCORD_ALLOWED_USERS';
  const names: Record<string, string> = {
    channel: 'DISCORD_CHANNEL_ID',
    allow: 'DISCORD_ALLOWED_USERS',
    api: 'DISCORD_API_BASE',
    token: 'DISCORD_BOT_TOKEN',
  };
  const parsed = configSchema.shape.servers.unwrap().element.safeParse(raw);
  if (parsed.success) return [parsed.data];
  const problems = parsed.error.issues.map(
    (issue) =>
      `${names[String(issue.path[0])]} ${raw[issue.path[0] as keyof typeof raw] === undefined ? 'is missing' : issue.message}`,
  );
  throw new ThreadmuxError('config_invalid', `the environment: ${problems.join('; ')}`, {
    hint: 'Set DISCORD_BOT_TOKEN, DISCORD_CHANNEL_ID and DISCORD_ALLOWED_USERS together, or none of them.',
  });
}

function withToken(entry: ServerEntry, key: string, sources: ConfigSources, place: string): ServerConfig {
  const { tokenFile, token, ...rest } = entry;
  const found =
    token ??
    (tokenFile === undefined ? undefined : sources.readToken?.(tokenFile).trim()) ??
    sources.env.DISCORD_BOT_TOKEN;
  if (!found) throw invalid(place, `${key}.token`, 'is missing: give "token", "tokenFile" or DISCORD_BOT_TOKEN');
  if (!/^[\x21-\x7e]+$/.test(found))
    throw invalid(place, `${key}.token`, 'contains a space or another character that no token has; paste it again');
  return { ...rest, token: found.replace(/^Bot /, '') };
}

function list(text: string | undefined): readonly string[] {
  return (text ?? '')
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean);
}

function shortName(hostname: string): string {
  return (
    hostname
      .split('.')[0]
      ?.replace(/[^A-Za-z0-9_-]/g, '-')
      .replace(/^[^A-Za-z0-9]+/, '') || 'this'
  );
}

function checked(key: string, name: string): string {
  if (/^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$/.test(name)) return name;
  throw invalid('the environment', key, `${JSON.stringify(name)} is not a host name`);
}

function invalid(place: string, key: string, why: string): ThreadmuxError {
  return new ThreadmuxError('config_invalid', `${place}: ${key} ${why}`, {
    hint: `Correct it in ${place}, then run this again.`,
  });
}

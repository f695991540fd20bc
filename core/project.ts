// Projects of the configuration: a directory, a channel, and how its sessions start. Sessions without a project are the
// project with an empty path, with the keys of the top level. Pure.

import { basename } from 'node:path';
import * as z from 'zod';
import type { Config, ServerConfig } from './config.ts';
import { isSessionName } from './session-name.ts';
import {
  agentName,
  effectiveSettings,
  type SessionSettings,
  settingsSchema,
  settingsShape,
} from './session-settings.ts';

const SESSION_RULE = 'must be a session name: letters, digits, "-" and "_", beginning with a letter or digit';
const sessionName = z.string(SESSION_RULE).refine(isSessionName, SESSION_RULE);
const yesOrNo = z.boolean('must be true or false');

export const declaredSchema = z.strictObject({
  name: sessionName.describe('the name of the session'),
  start: z
    .enum(['auto', 'manual'], 'must be "auto" or "manual"')
    .default('auto')
    .describe('"auto": it always runs; "manual": when you start it'),
  directory: z.string().min(1).optional().describe("its directory; default: the project's"),
  prompt: z
    .string()
    .min(1)
    .refine((text) => !text.trimStart().startsWith('!'), 'must not begin with "!"')
    .optional()
    .describe('the first message, given at each start'),
  ...settingsShape,
});
export type DeclaredSession = Readonly<z.output<typeof declaredSchema>>;

/** The same keys in a project and on the top level. What a project does not give is as on the top level, except `sessions` and `talk`. */
export const projectShape = {
  agent: agentName.optional().describe('what !new starts: "claude", "codex", …'),
  defaults: settingsSchema.optional().describe('how sessions start: {"model": "opus", "permissionMode": "plan"}'),
  sessions: z
    .array(declaredSchema)
    .refine(haveOwnNames, 'has two sessions with one name')
    .optional()
    .describe('declared sessions: [{"name": "shop", "start": "auto"}]'),
  talk: sessionName.optional().describe('text in the channel itself goes to this session'),
  threadsStart: yesOrNo.optional().describe('a thread that you create by hand gets a session'),
  onArchive: z
    .enum(['leave', 'end'], 'must be "leave" or "end"')
    .optional()
    .describe('whether archiving a thread ends its session: "leave" or "end"'),
  onLimit: z
    .enum(['tell', 'hold', 'continue'], 'must be "tell", "hold" or "continue"')
    .optional()
    .describe('when a usage limit is reached: "tell", "hold" messages, or also "continue" the turn'),
  worktreeSetup: z.string().min(1).optional().describe('a command that runs in each new worktree, such as "npm ci"'),
  panel: yesOrNo.optional().describe('keep one message in the channel with all its sessions'),
};

export const projectSchema = z.strictObject({
  path: z.string().min(1).describe('the directory: "~/shop"'),
  channel: z.string().describe('the channel of its threads; not in the local workspace'),
  host: z.string().optional().describe('the host of its sessions; default: any, and new ones on the default host'),
  name: sessionName.optional().describe("its name; default: the folder's name"),
  ...projectShape,
});
export type ProjectEntry = Readonly<z.output<typeof projectSchema>>;

function haveOwnNames(sessions: readonly { readonly name: string }[]): boolean {
  return new Set(sessions.map(({ name }) => name)).size === sessions.length;
}

export interface Project {
  /** The name of its server in the configuration. */
  readonly server: string;
  readonly channel: string;
  /** Empty for sessions without a project. */
  readonly path: string;
  /** Empty for sessions without a project. */
  readonly name: string;
  /** Undefined if it may be on any host. Its sessions then start on the default host. */
  readonly host: string | undefined;
  /** The agent if nothing else is said. */
  readonly agent: string;
  readonly defaults: SessionSettings;
  readonly sessions: readonly DeclaredSession[];
  readonly talk: string | undefined;
  readonly threadsStart: boolean;
  readonly onArchive: 'leave' | 'end';
  readonly onLimit: 'tell' | 'hold' | 'continue';
  readonly worktreeSetup: string | undefined;
  readonly panel: boolean;
}

type TopLevel = Pick<Config, keyof typeof projectShape | 'progress'>;

/** All projects of these servers, and last the one for sessions without a project, if a server takes them. */
export function projectsOf(top: TopLevel, servers: readonly ServerConfig[]): readonly Project[] {
  const named = servers.flatMap((server) =>
    server.projects.map((entry) => ({
      ...common(top, entry),
      server: server.name,
      channel: entry.channel,
      path: entry.path,
      host: entry.host,
      name: entry.name ?? projectName(entry.path),
    })),
  );
  const open = servers.find((server) => !server.onlyProjects);
  if (open === undefined) return named;
  const none = { server: open.name, channel: open.channel, path: '', name: '', host: undefined };
  return [...named, { ...common(top, top), ...none }];
}

/** The same, but the same list as long as the configuration is the same: it is asked for very often. */
export function createProjectList(top: TopLevel, servers: () => readonly ServerConfig[]): () => readonly Project[] {
  let last: { readonly from: readonly unknown[]; readonly list: readonly Project[] } | undefined;
  return () => {
    const all = servers();
    const from = [
      ...[...Object.keys(projectShape), 'progress'].map((key) => top[key as keyof TopLevel]),
      ...all.flatMap(({ name, channel, projects, onlyProjects }) => [name, channel, projects, onlyProjects]),
    ];
    const isSame = last?.from.length === from.length && from.every((value, at) => value === last?.from[at]);
    if (last === undefined || !isSame) last = { from, list: projectsOf(top, all) };
    return last.list;
  };
}

function common(top: TopLevel, own: Partial<Pick<ProjectEntry, keyof typeof projectShape>>) {
  // An agent of its own counts more than that of the top level's defaults, whose model is for another one then.
  const agent = own === top || own.agent === undefined ? {} : { agent: own.agent };
  const isSame = agent.agent === undefined || agent.agent === (top.defaults?.agent ?? top.agent);
  const usual = isSame ? top.defaults : withoutAgent(top.defaults);
  return {
    agent: own.agent ?? top.agent,
    defaults: { progress: top.progress, ...usual, ...agent, ...own.defaults },
    sessions: own.sessions ?? [],
    talk: own.talk,
    threadsStart: own.threadsStart ?? top.threadsStart ?? false,
    onArchive: own.onArchive ?? top.onArchive ?? ('leave' as const),
    onLimit: own.onLimit ?? top.onLimit ?? ('tell' as const),
    worktreeSetup: own.worktreeSetup ?? top.worktreeSetup,
    panel: own.panel ?? top.panel ?? false,
  };
}

/**
 * The settings that count for a session, with those of its thread. `agent`: the one that runs or is started. What the project says about
 * the model, the mode and the arguments of another agent does not count.
 */
export function settingsOf(
  project: Project,
  session: string,
  thread: SessionSettings = {},
  agent?: string,
): SessionSettings {
  const declared = project.sessions.find(({ name }) => name === session);
  const usual = project.defaults.agent ?? project.agent;
  const own = declared?.agent ?? usual;
  const chosen = agent ?? thread.agent ?? own;
  return effectiveSettings(
    thread,
    chosen === own ? declared : withoutAgent(declared),
    chosen === usual ? project.defaults : withoutAgent(project.defaults),
  );
}

/** Without what is for one agent only. */
export function withoutAgent(settings: SessionSettings | undefined): SessionSettings {
  const { agent: _, model: _m, permissionMode: _p, args: _a, ...others } = settings ?? {};
  return others;
}

/** Whether any session of this name is declared. */
export function declaresName(config: Pick<Config, 'sessions' | 'projects' | 'servers'>, name: string): boolean {
  const entries = [config, ...config.projects, ...config.servers.flatMap(({ projects }) => projects)];
  return entries.some(({ sessions = [] }) => sessions.some((one) => one.name === name));
}

/** The name of a project that was given none: the folder's name, with only characters that a session name may have. */
export function projectName(path: string): string {
  const name = basename(path)
    .replace(/[^A-Za-z0-9_-]+/g, '-')
    .replace(/^[-_]+/, '');
  return name.slice(0, 64) || 'project';
}

// How a session was started, so that it can be started again there after it has ended. Pure.

import { basename } from 'node:path';
import * as z from 'zod';
import { allDrivers } from '../agents/list.ts';
import { isShell } from '../agents/shell-name.ts';
import { AGENT_NAME } from '../core/agent-names.ts';
import { parsedJson } from '../core/json.ts';
import { withoutAgent } from '../core/project.ts';
import { type SessionSettings, settingsSchema } from '../core/session-settings.ts';
import type { ThreadRecord } from './registry.ts';

const startSchema = z.object({
  directory: z.string(),
  /** As the user gave it: without our settings, and without a conversation to resume. Empty for the configured agent. */
  command: z.array(z.string()).readonly(),
  /** The agent, if it is not Claude Code. */
  agent: z.string().regex(AGENT_NAME).optional().catch(undefined),
  /** Why its agent guarantees less than usual. */
  weaker: z.string().max(500).optional().catch(undefined),
  /** What was asked for it. */
  settings: settingsSchema.optional().catch(undefined),
  /** It is declared in the configuration: tmux keeps its pane, so that its exit code can be read. */
  declared: z.enum(['new', 'continued']).optional(),
  /** The bridge that started it: another one may declare the same session. */
  by: z.string().optional(),
  /** The request of an agent that started it. */
  request: z.string().optional(),
});
type SessionStart = Readonly<z.output<typeof startSchema>>;
const LONGEST = 8_000;

/** For the option of its tmux session, from where it gets into the registry. */
export function startedText(start: SessionStart): string {
  const text = JSON.stringify(start);
  return text.length > LONGEST ? '' : text;
}

/** A session that somebody else started: the agent, in the directory of its project. */
export function startOf({ started, project, cwd }: ThreadRecord): SessionStart {
  return parseStarted(started) ?? { directory: project || cwd, command: [] };
}

/** Undefined if somebody else started the session. */
export function parseStarted(started = ''): SessionStart | undefined {
  return started.length > LONGEST ? undefined : startSchema.safeParse(parsedJson(started)).data;
}

/** The agent in a pane that no hook has reported: as we started it, or by its program. */
export function likelyAgent({ started, command }: { readonly started?: string | undefined; readonly command: string }) {
  const known = allDrivers().find(({ programs }) => programs.includes(command));
  return parseStarted(started)?.agent ?? known?.name ?? 'claude';
}

/** What its thread had set, and what is asked for now. The model and the mode of another agent do not count. */
export function settingsToStart(before: ThreadRecord | undefined, asked: SessionSettings = {}): SessionSettings {
  const isSame = asked.agent === undefined || asked.agent === before?.agent;
  return { ...(isSame ? before?.settings : withoutAgent(before?.settings)), ...asked };
}

/** Whether the bridge removes its pane when its program has exited. */
export function isDeclaredStart(started: string | undefined): boolean {
  return parseStarted(started)?.declared !== undefined;
}

/** Whether it was started as a plain shell, in which a user may have started an agent. A shell with a script is not one. */
export function isShellStart(started: string | undefined): boolean {
  const [program = '', ...options] = parseStarted(started)?.command ?? [];
  return isShell(basename(program)) && options.every((option) => option.startsWith('-'));
}

/** From the bridge that started it. A conversation that is continued has had its prompt. */
export function getsPrompt(started: string | undefined, bridge: string): boolean {
  const { declared, by } = parseStarted(started) ?? {};
  return declared === 'new' && by === bridge;
}

/** Whether we know what to start: what somebody else ran in a plain shell is not known. */
export function canStartAgain({ started, shell }: ThreadRecord): boolean {
  return (started ?? '') !== '' || shell === 'no';
}

/** The id of the conversation that can be continued; undefined if there is none. */
export function conversationOf({ claudeSession, shell }: ThreadRecord): string | undefined {
  return shell === 'no' && isConversation(claudeSession) ? claudeSession : undefined;
}

export function isConversation(id: string): boolean {
  return /^\w[\w-]{7,63}$/.test(id);
}

interface WantedName {
  readonly name: string;
  /** Undefined if the user named none. */
  readonly host: string | undefined;
  readonly defaultHost: string;
}

/** The newest session with this name on the given host, or the default one; else the newest that has ended elsewhere. */
export function rememberedSession(
  records: readonly ThreadRecord[],
  { name, host, defaultHost }: WantedName,
): ThreadRecord | undefined {
  const known = records
    .filter((one) => one.sessionName === name && one.shell !== 'terminal' && canStartAgain(one))
    .toSorted((a, b) => b.at - a.at);
  const here = known.find((one) => one.host === (host ?? defaultHost));
  return here ?? (host === undefined ? known.find((one) => one.closed) : undefined);
}

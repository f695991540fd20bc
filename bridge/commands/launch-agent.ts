// The command line of an agent on a host, and the variables that it gets.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { agentOfCommand, type ConfiguredAgent, configuredAgent } from '../../agents/configured-agent.ts';
import type { AgentDriver, ExtensionPaths, Launch, LaunchOptions } from '../../agents/driver.ts';
import type { Config } from '../../core/config.ts';
import { ThreadmuxError } from '../../core/errors.ts';
import type { Variables } from '../../core/session-environment.ts';
import type { SessionSettings } from '../../core/session-settings.ts';
import { untrustedCode } from '../../core/untrusted-text.ts';
import type { Host } from '../../hosts/host.ts';
import type { ThreadRecord } from '../../threads/registry.ts';
import { startOf } from '../../threads/remembered-session.ts';
import type { HostList } from '../../tmux/host-list.ts';
import type { CommandContext } from './command.ts';
import type { WantedSession } from './new.ts';

/** Where the program and its files are on this machine. */
export interface ProgramPlace {
  readonly node: string;
  readonly dist: string;
  /** The folder with `drop`, `ask` and the files of the drivers. */
  readonly scripts: string;
  readonly home: string;
  /** The settings file with our hooks for Claude Code. */
  readonly hookSettings: string | undefined;
}

/** A bridge in a test may have none. */
export const NO_PROGRAM = { node: 'node', dist: '', scripts: '', hookSettings: undefined };

interface LaunchContext extends Pick<CommandContext, 'hosts' | 'remote' | 'program'> {
  /** The PATH that sessions on this machine get, if any. */
  readonly path: string | undefined;
}

interface AgentStart {
  readonly host: string;
  readonly directory: string;
  readonly agent: ConfiguredAgent;
  /** As the user gave it. */
  readonly command: readonly string[] | undefined;
  readonly settings: SessionSettings;
  readonly resume: LaunchOptions['resume'];
}

/** Undefined if the agent is not installed there. */
export async function launchOn(start: AgentStart, context: LaunchContext): Promise<Launch | undefined> {
  const { host, directory, agent, settings, resume } = start;
  const { hosts, remote, program, path } = context;
  // A conversation is continued by its agent, whatever was started before.
  const isOwn = start.command?.[0] === agent.command[0];
  const command = (isOwn && start.command) || agent.command;
  const isLocal = hosts.isLocal(host);
  // Our own PATH counts only here, where the session gets it.
  const wanted = { host, program: command[0] ?? '', path: isLocal ? (path ?? '') : '' };
  const found = await findProgram({ ...wanted, asksVersion: agent.driver.asksVersion ?? false }, hosts);
  if (found === undefined) return undefined;
  const common = { command, settings, directory, resume, version: found.version };
  if (isLocal) {
    const { node, dist, scripts, home, hookSettings } = program;
    const hasExtension = await isExtended(agent, { scripts, home }, hosts.get(host));
    return agent.driver.launch({ ...common, scripts, home, hookSettings, hasExtension, local: { node, dist } });
  }
  const [home, hookSettings] = [await remote.home(host), await remote.settings(host)];
  await putDriverFiles(agent.driver, host, context);
  const scripts = `${home}/bin`;
  const hasExtension = await isExtended(agent, { scripts, home }, hosts.get(host));
  return agent.driver.launch({ ...common, host, scripts, home, hookSettings, hasExtension });
}

/** Whether our extension is installed in the agent; undefined if it needs none. */
async function isExtended(
  { driver }: ConfiguredAgent,
  paths: ExtensionPaths,
  host: Host,
): Promise<boolean | undefined> {
  const { extension } = driver;
  if (extension === undefined) return undefined;
  const files = Object.keys(extension.files(paths)).map((file) => `${extension.folder(paths)}/${file}`);
  return (await host.sh(HAS_FILES, files, { doing: 'look for the extension' })).trim() === 'yes';
}

const HAS_FILES = `for file; do [ -f "$HOME/$file" ] || exit 0; done; echo yes`;

/** Not with our scripts: a host may not take a command of this length, and most hosts do not need them. */
async function putDriverFiles({ files = [] }: AgentDriver, host: string, { remote, program }: LaunchContext) {
  const read = (file: string) => readFileSync(join(program.scripts, file), 'utf8');
  if (files.length > 0) await remote.put(host, Object.fromEntries(files.map((file) => [`bin/${file}`, read(file)])));
}

/** On this machine, the variables of a session, and the program that our PATH may be needed for. */
export function variablesFor(agent: ConfiguredAgent | undefined, own: Variables, launch: Launch | undefined) {
  const [program] = agent?.command ?? [];
  return { variables: { ...own, ...launch?.environment }, ...(program === undefined ? {} : { program }) };
}

/** On another host, the variables of a launch are on the command line. */
export function commandLine({ argv, environment }: Launch, isLocal: boolean): readonly string[] {
  const variables = Object.entries(environment).map(([name, value]) => `${name}=${value}`);
  return isLocal || variables.length === 0 ? argv : ['env', ...variables, ...argv];
}

/** What was asked for, what ran there before, what its project says, and what the configuration says, in this order. */
export function agentToStart(
  asked: string | undefined,
  before: ThreadRecord | undefined,
  inForce: SessionSettings,
  config: Config,
): ConfiguredAgent {
  const ran = before && (startOf(before).agent ?? (before.shell === 'no' ? before.agent : undefined));
  return configuredAgent(config, asked ?? ran ?? inForce.agent ?? config.agent);
}

/** Undefined if the command is another program than an agent. To continue a conversation, it must be that of its agent. */
export function agentStarted(
  { command, conversation }: Pick<WantedSession, 'command' | 'conversation'>,
  expected: ConfiguredAgent,
  config: Config,
): ConfiguredAgent | undefined {
  if (command === undefined || conversation !== undefined) return expected;
  return agentOfCommand(config, command, expected.driver.name);
}

export function resumeOf({
  conversation,
  continues,
}: Pick<WantedSession, 'conversation' | 'continues'>): LaunchOptions['resume'] {
  return conversation === undefined ? (continues ? 'newest' : undefined) : { session: conversation };
}

export function agentMissing(
  { name, host }: { readonly name: string; readonly host: string },
  { driver, command }: ConfiguredAgent,
  { hosts }: Pick<LaunchContext, 'hosts'>,
): ThreadmuxError {
  const program = untrustedCode(command[0] ?? driver.name);
  const where = hosts.isLocal(host)
    ? 'the terminal that starts threadmux or in your login shell'
    : 'your login shell there';
  return new ThreadmuxError('not_found', `${program} was not found on ${untrustedCode(host)}, so nothing was started`, {
    hint: `Install it, in the PATH of ${where}, or give its command in "agents". \`!new ${name} -- bash\` starts a shell instead.`,
  });
}

/** Arguments: the program, our PATH, and "version" if it is asked for its version. The program is passed in a variable: fish has no "$0". */
const FIND = `s=\${SHELL:-sh}; [ -z "$3" ] || ask='; "$tmx_program" --version </dev/null 2>/dev/null'
said=$(tmx_program=$1 "$s" -l -i -c "command -v \\"\\$tmx_program\\" >/dev/null && echo yes$ask" 2>/dev/null </dev/null)
case $said in yes* | *'
yes'*) printf '%s\\n' "$said" | sed -n '/^yes$/,$p'; exit;; esac
[ -n "$2" ] && PATH=$2 && command -v "$1" >/dev/null 2>&1 || exit 0
echo yes; [ -z "$3" ] || "$1" --version </dev/null 2>/dev/null
exit 0`;

interface FoundProgram {
  readonly version: string | undefined;
}

interface SoughtProgram {
  readonly host: string;
  readonly program: string;
  readonly path: string;
  readonly asksVersion?: boolean;
}

/** When a program was last found, by host and PATH: many sessions that start at once look for it once. */
const known = new WeakMap<HostList, Map<string, FoundProgram & { readonly at: number }>>();
const FOUND_MS = 5_000;

/** Undefined if it is not installed there. */
export async function findProgram(sought: SoughtProgram, hosts: HostList): Promise<FoundProgram | undefined> {
  const { host, program, path, asksVersion = false } = sought;
  const kept = known.get(hosts) ?? new Map<string, FoundProgram & { readonly at: number }>();
  known.set(hosts, kept);
  const key = JSON.stringify([host, program, path, asksVersion]);
  const last = kept.get(key);
  if (last !== undefined && Date.now() - last.at < FOUND_MS) return last;
  const args = [program, path, asksVersion ? 'version' : ''];
  const printed = await hosts.get(host).sh(FIND, args, { doing: `look for ${program}` });
  const [isThere, version] = printed.split('\n');
  kept.delete(key);
  if (isThere !== 'yes') return undefined;
  const found = {
    version: version === undefined || version === '' ? undefined : version.slice(0, 200),
    at: Date.now(),
  };
  kept.set(key, found);
  return found;
}

// !terminal, !agent, !done and !status: start, end and list terminals and headless agents.

import { type ConfiguredAgent, configuredAgent } from '../../agents/configured-agent.ts';
import type { AgentDriver } from '../../agents/driver.ts';
import { allDrivers } from '../../agents/list.ts';
import { ThreadmuxError } from '../../core/errors.ts';
import { parsedJson } from '../../core/json.ts';
import { settingFor } from '../../core/session-settings.ts';
import { cutMessage, untrustedCode } from '../../core/untrusted-text.ts';
import { archiveThread } from '../../discord/threads.ts';
import { promptState, type SessionState, stateWords, type TimedState } from '../../threads/session-state.ts';
import type { Shared } from '../../threads/shared-services.ts';
import type { SessionStates } from '../../threads/watch-panes.ts';
import type { StreamThread } from '../stream-threads.ts';
import { type Command, type CommandCall, type CommandContext, type CommandReply, replyWith } from './command.ts';
import { findProgram } from './launch-agent.ts';
import { sessionOf, sessionStatus } from './session-status.ts';
import { sessionAge } from './sessions.ts';

export const terminalCommand: Command = {
  name: 'terminal',
  usage: '!terminal <dir> <command>',
  about: 'run a command in a project (`mini:shop` on another host) and stream its output into a new thread',
  async run(order, context) {
    const { dir, rest: asked } = parseStream(order.rest, TERMINAL_HINT);
    const stream = await beginTerminal({ id: order.id, dir, asked }, context);
    return replyWith(`🖥️ ${untrustedCode(stream.record().name)} is up: <#${stream.record().thread}>`);
  },
};

export const agentCommand: Command = {
  name: 'agent',
  usage: '!agent <dir> [--agent <name>] [--skip-permissions] <prompt>',
  about: 'run an agent without a terminal, in a new thread (`mini:shop` on another host)',
  async run(order, context) {
    const { dir, rest } = parseStream(order.rest, AGENT_HINT);
    const wanted = parseAgentOptions(rest);
    if (wanted.asked === '') throw usage('`!agent` needs a prompt', AGENT_HINT);
    const stream = await beginAgent({ id: order.id, dir, ...wanted }, context);
    return replyWith(`🤖 ${untrustedCode(stream.record().name)} is at work: <#${stream.record().thread}>`);
  },
};

export const doneCommand: Command = {
  name: 'done',
  usage: '!done [name]',
  about: 'end this terminal or headless agent, post a summary and archive its thread',
  async run(order, context) {
    const name = order.rest.trim();
    const stream = name === '' ? streamOf(order, context) : context.streams.named(name);
    if (stream === undefined)
      throw usage(
        name === ''
          ? 'This is not the thread of a terminal or headless agent.'
          : `There is no terminal or headless agent ${untrustedCode(name)}.`,
        '`!status` lists them; `!kill <name>` ends a session.',
      );
    return endStream(stream, context);
  },
};

export const statusCommand: Command = {
  name: 'status',
  usage: '!status',
  about: 'what this session does; in the channel: all terminals and headless agents',
  async run(order, context) {
    const record = sessionOf(order, context);
    if (record !== undefined) return replyWith(await sessionStatus(record, order, context));
    const { streams, config, states } = context;
    const all = streams.all();
    if (all.length === 0)
      return replyWith(
        'No terminals or headless agents are running. Start one with `!terminal` or `!agent`; `!sessions` lists the sessions.',
      );
    const live = all.filter((stream) => stream.record().ended === undefined).length;
    const lines = [
      ...all.map((stream) => line(stream, states)),
      `-# ${live} of at most ${config.maxThreads} · \`!sessions\` lists the sessions`,
    ];
    return replyWith(cutMessage(lines.join('\n'), 1_990));
  },
};

/** For `!kill` and `!done`: ends it, posts the summary here and in its thread, and archives the thread. */
export async function endStream(stream: StreamThread, context: CommandContext): Promise<CommandReply> {
  const { name, thread } = stream.record();
  const summary = await context.streams.end(stream);
  const content = `⏹️ ${untrustedCode(name)}: ${summary}`;
  return {
    content,
    async after(said) {
      if (said !== thread) await context.postNotice(thread, ['ended', name], { content, silent: true });
      await archiveThread(context.rest, thread);
    },
  };
}

export function streamOf(order: CommandCall, { streams }: CommandContext): StreamThread | undefined {
  return order.thread === undefined ? undefined : streams.of(order.thread.id);
}

/** `!new` in the thread of a headless agent. */
export async function restartStream(stream: StreamThread & { kind: 'agent' }): Promise<CommandReply> {
  await stream.agent.fresh();
  return replyWith('🆕 The next prompt starts a new conversation.');
}

const TERMINAL_HINT = 'Example: `!terminal shop npm run dev`; put a name with spaces in quotes.';
const AGENT_HINT = 'Example: `!agent shop Run the tests and fix what fails`';

/** The first word, or a quoted text, is the directory. */
function parseStream(rest: string, hint: string): { dir: string; rest: string } {
  const [, quoted, word, after = ''] = rest.match(/^(?:("(?:[^"\\]|\\.)*")|(\S+))(?:\s+(.*))?$/s) ?? [];
  const dir = quoted === undefined ? (word ?? '') : unquoted(quoted);
  if (dir === '' || after.trim() === '') throw usage('A directory and a command or prompt are needed.', hint);
  return { dir, rest: after.trim() };
}

function unquoted(text: string): string {
  return String(parsedJson(text) ?? text.slice(1, -1));
}

/** Options come before the prompt, which may contain anything. */
function parseAgentOptions(text: string): Pick<AskedStream, 'asked' | 'agent' | 'skipPermissions'> {
  let rest = text;
  let agent: string | undefined;
  let skipPermissions = false;
  for (;;) {
    const [all = '', skip, name] =
      /^(?:(--(?:dangerously-)?skip-permissions)|--agent(?:\s+|=)(\S+))(?:\s+|$)/.exec(rest) ?? [];
    if (all === '') return { asked: rest, skipPermissions, ...(agent === undefined ? {} : { agent }) };
    rest = rest.slice(all.length);
    skipPermissions ||= skip !== undefined;
    agent = name ?? agent;
  }
}

interface AskedStream {
  /** The same id starts it once. */
  readonly id: string;
  readonly dir: string;
  readonly asked: string;
  readonly skipPermissions: boolean;
  /** The name of a headless agent; by default the agent of the project. */
  readonly agent?: string | undefined;
}

export function beginTerminal(
  asked: Omit<AskedStream, 'skipPermissions'>,
  context: CommandContext,
): Promise<StreamThread> {
  return begin('terminal', { ...asked, skipPermissions: false }, context);
}

/** And gives it the prompt. */
export async function beginAgent(asked: AskedStream, context: CommandContext): Promise<StreamThread> {
  const { host, isHere } = placeOf(asked, context);
  const agent = await headlessAgent(asked, context);
  const program = agent.command[0] ?? agent.driver.name;
  // Our own PATH counts only here.
  const path = isHere ? (context.environmentOf(agent).PATH ?? '') : '';
  if ((await findProgram({ host, program, path }, context.hosts)) === undefined)
    throw new ThreadmuxError('not_found', `${untrustedCode(program)} was not found on ${untrustedCode(host)}`, {
      hint: `Install ${agent.driver.title}, in the PATH of your login shell, or give its command in "agents".`,
    });
  const stream = await begin('agent', asked, context, agent.driver);
  if (stream.kind === 'agent') stream.agent.ask({ id: asked.id, text: asked.asked });
  return stream;
}

function placeOf({ dir }: AskedStream, { directories, config }: CommandContext) {
  const there = directories.elsewhere(dir);
  return {
    host: there?.host ?? config.host,
    isHere: there === undefined,
    /** Rejects if it is not allowed. */
    resolve: () => (there === undefined ? directories.resolve(dir) : directories.on(there.host).resolve(there.name)),
  };
}

/** The agent that was asked for, or that of the project. */
async function headlessAgent(asked: AskedStream, context: CommandContext): Promise<ConfiguredAgent> {
  const { config, threads } = context;
  const { agent: name } = asked;
  const names = allDrivers().map((driver) => driver.name);
  if (name !== undefined) settingFor('agent', name, names);
  const { host, resolve } = placeOf(asked, context);
  const project = name === undefined ? threads.destinationOf({ host, directory: await resolve() })?.project : undefined;
  const agent = configuredAgent(config, name ?? project?.defaults.agent ?? project?.agent ?? config.agent);
  if (agent.driver.headless !== undefined) return agent;
  const able = allDrivers().flatMap((one) => (one.headless === undefined ? [] : [`\`--agent ${one.name}\``]));
  throw usage(
    `${agent.driver.title} cannot run without a terminal.`,
    `\`!new <name> --agent ${agent.driver.name}\` starts it in a session. Without a terminal: ${able.join(', ')}.`,
  );
}

async function begin(
  kind: StreamThread['kind'],
  stream: AskedStream,
  context: CommandContext,
  agent?: AgentDriver,
): Promise<StreamThread> {
  const { id: order, asked, skipPermissions } = stream;
  const { host, isHere, resolve } = placeOf(stream, context);
  if (skipPermissions && !isHere)
    throw usage(
      `An agent may not skip permissions on ${untrustedCode(host)}.`,
      'Omit `--skip-permissions`: that is possible only on this machine.',
    );
  const dir = await resolve();
  if (skipPermissions && !(await context.directories.isWithin(dir, context.config.skipPermissions)))
    throw usage(
      `An agent may not skip permissions in ${untrustedCode(stream.dir)}.`,
      'Omit `--skip-permissions`, or add the folder to "skipPermissions" in the configuration.',
    );
  return context.streams.begin({ kind, host, dir, asked, order, skipPermissions, ...(agent && { agent }) });
}

function line(stream: StreamThread, states: SessionStates): string {
  const { name, thread, dir, asked, startedAt, far, ended } = stream.record();
  const sign = stream.kind === 'terminal' ? '🖥️ terminal' : '🤖 agent';
  const where = far === undefined ? dir : `${far.host}:${dir}`;
  const known = states.get(thread);
  const state = ended?.how ?? (known === undefined ? 'starting' : wordsOf(stream, known));
  return `${sign} ${untrustedCode(name)} <#${thread}> ${state} · ${untrustedCode(asked.split('\n', 1)[0]?.slice(0, 60) ?? '')} · ${untrustedCode(where)} · ${sessionAge(startedAt)}`;
}

function wordsOf({ kind }: StreamThread, state: TimedState): string {
  if (state.state === 'unreachable') return `host unreachable for ${sessionAge(state.since)}`;
  return kind === 'terminal' && state.state === 'shell' ? 'running' : stateWords(state);
}

/** A terminal is a shell as long as its program runs. */
export function streamState(
  stream: StreamThread,
  { remote, prompts }: Pick<Shared, 'remote' | 'prompts'>,
): SessionState {
  const { ended, far, thread } = stream.record();
  if (ended !== undefined) return { state: 'ended' };
  if (far !== undefined && remote.state(far.host).kind === 'unreachable') return { state: 'unreachable' };
  if (stream.kind === 'terminal') return { state: 'shell' };
  const [prompt] = prompts.inThread(thread);
  return prompt === undefined ? { state: stream.agent.state() } : promptState(prompt);
}

function usage(what: string, hint: string): ThreadmuxError {
  return new ThreadmuxError('bad_usage', what, { hint });
}

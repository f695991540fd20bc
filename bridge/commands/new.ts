// !new starts a session.

import { setTimeout as sleep } from 'node:timers/promises';
import { hasDialog } from '../../agents/claude/screen/screen.ts';
import { ThreadmuxError } from '../../core/errors.ts';
import { parseSessionName, type SessionName } from '../../core/session-name.ts';
import { untrustedCode } from '../../core/untrusted-text.ts';
import { screenBlock } from '../../threads/notices.ts';
import { socketOf, toSessionPane } from '../../threads/panes.ts';
import type { ThreadRecord } from '../../threads/registry.ts';
import { lookAtPane } from '../../tmux/look.ts';
import { killSession, listSessions, newSession, type Session } from '../../tmux/sessions.ts';
import { agentCommandOn, type Command, type CommandContext, type CommandReply, replyWith } from './command.ts';
import { showScreen } from './keys.ts';
import { restartStream, streamOf } from './streams.ts';

/** Before this, the screen may not be drawn completely. */
const ASKS_AFTER_MS = 1_500;
const SILENT_FOR_MS = 20_000;

export const newCommand: Command = {
  name: 'new',
  usage: '!new <name> [host] [directory] [-- command]',
  about: 'start a session: Claude, or the command after `--`',
  async run(order, tools) {
    const stream = streamOf(order, tools);
    if (order.rest === '' && stream?.kind === 'agent') return restartStream(stream);
    const wanted = parseNew(order.rest, tools);
    const tmux = tools.hosts.tmux(wanted.host);
    const agent = await agentCommandOn(wanted, tools);
    const command = agent ?? wanted.command;
    if (command === undefined || (agent === undefined && command[0] === tools.config.agent.command[0]))
      throw new ThreadmuxError(
        'not_found',
        `${untrustedCode(tools.config.agent.command[0] ?? 'claude')} was not found on ${untrustedCode(wanted.host)}, so nothing was started`,
        {
          hint: `Install it there, in the PATH of your login shell, or name it in "agent". \`!new ${wanted.name} -- bash\` starts a shell instead.`,
        },
      );
    const { session, created } = await newSession(tmux, {
      name: wanted.name,
      directory: wanted.directory,
      command,
    });
    if (!created)
      return replyWith(`Session ${untrustedCode(wanted.name)} already exists${linkOf(wanted, session, tools)}.`);
    const thread = await bind(wanted, session, tools, agent === undefined ? 'ours' : 'no');
    if (agent !== undefined) return untilItSpeaks(wanted, session, thread, tools);
    return replyWith(
      `▶️ ${untrustedCode(wanted.name)} is up (${untrustedCode(command.join(' '), 200)}): <#${thread.thread}>`,
    );
  },
};

interface Wanted {
  readonly name: SessionName;
  readonly host: string;
  readonly directory: string;
  readonly command: readonly string[] | undefined;
}

/** After the name, a path is a directory and any other word is a host, in any order. */
export function parseNew(rest: string, { config, hosts }: Pick<CommandContext, 'config' | 'hosts'>): Wanted {
  const [before = '', ...after] = rest.split(/(?:^|\s)--(?:\s|$)/);
  const command = after.join(' -- ').split(/\s+/).filter(Boolean);
  const [name = '', ...words] = before.trim().split(/\s+/).filter(Boolean);
  if (name === '') throw usage('`!new <name> [host] [directory] [-- command]` needs a name');
  const directories = words.filter((word) => /^[~/]/.test(word));
  const names = words.filter((word) => !/^[~/]/.test(word));
  const [host = config.defaultHost] = names;
  if (directories.length > 1 || names.length > 1)
    throw usage(`It is not clear what ${untrustedCode(words.join(' '))} means.`);
  hosts.get(host); // an unknown host is said at once
  return {
    name: parseSessionName(name),
    host,
    directory: directories[0] ?? '~',
    command: command.length > 0 ? command : undefined,
  };
}

function usage(what: string): ThreadmuxError {
  return new ThreadmuxError('bad_usage', what, {
    hint: 'Example: `!new shop mini ~/shop -- claude --model opus`',
  });
}

/**
 * Waits for Claude's first report. If Claude asks something first (such as whether to trust the folder) or ends, its
 * screen is shown in the thread.
 */
async function untilItSpeaks(
  wanted: Wanted,
  session: Session,
  thread: ThreadRecord,
  tools: CommandContext,
): Promise<CommandReply> {
  const began = Date.now();
  const { registry } = tools.threads;
  for (let last = ''; ; await sleep(500)) {
    if (registry.get(thread.thread)?.claudeSession !== '')
      return replyWith(`▶️ ${untrustedCode(wanted.name)} is up: <#${thread.thread}>`);
    const list = await listSessions(tools.hosts.tmux(wanted.host));
    const mine = list.find(({ id, serverPid }) => id === session.id && serverPid === session.serverPid);
    if (mine === undefined || mine.pane.dead) {
      await tools.threads.archive(thread.thread, { closed: true });
      throw endedAtOnce(wanted, last);
    }
    const seen = await lookAt(wanted, mine, tools);
    last = seen === '' ? last : seen;
    const waitedMs = Date.now() - began;
    if ((waitedMs > ASKS_AFTER_MS && hasDialog(seen)) || waitedMs > SILENT_FOR_MS)
      return whatItShows(wanted, thread, tools, hasDialog(seen));
  }
}

async function lookAt({ host }: Wanted, { serverPid, pane }: Session, tools: CommandContext) {
  const ref = { serverPid, paneId: pane.id, panePid: pane.pid };
  const seen = await lookAtPane(tools.hosts.tmux(host), ref);
  return seen.kind === 'pane' ? seen.text.trimEnd() : '';
}

async function whatItShows(
  wanted: Wanted,
  { thread: id, title, channel, panePid }: ThreadRecord,
  tools: CommandContext,
  asks: boolean,
): Promise<CommandReply> {
  const pane = await tools.panes.find({ id, title, parentId: channel });
  const shown = pane === undefined ? replyWith('') : await showScreen(pane);
  const words = asks
    ? 'Claude asks something before it starts. Answer with the buttons.'
    : 'Claude has not reported yet. This is what its pane shows.';
  await tools.say(id, [id, 'starts', panePid], {
    ...shown,
    content: `🔔 ${words}\n${pane === undefined ? '' : shown.content}`.slice(0, 2_000),
  });
  return replyWith(`🔔 ${untrustedCode(wanted.name)} ${asks ? 'waits for you' : 'has not reported yet'}: <#${id}>`);
}

function endedAtOnce({ name, host }: Wanted, last: string): ThreadmuxError {
  return new ThreadmuxError(
    'session_not_found',
    `${untrustedCode(name)} ended on ${untrustedCode(host)} right after it was started. ${last === '' ? 'It printed nothing.' : `Its last output:\n${screenBlock(last)}`}`,
    { hint: 'Run the same command in a terminal on that host to see why.' },
  );
}

/** Creates the thread before the first report; messages there wait. */
async function bind(
  { name, host, directory }: Wanted,
  session: Session,
  tools: CommandContext,
  shell: 'no' | 'ours',
): Promise<ThreadRecord> {
  const socket = (await socketOf(tools.hosts, host)) ?? '';
  const pane = toSessionPane(host, socket, session);
  const isOurs = tools.threads.destinationOf(pane.path)?.server.name === tools.server.name;
  const thread = isOurs && (await tools.threads.ensure(pane, { directory: pane.path, shell }));
  if (thread) return thread;
  await killSession(tools.hosts.tmux(host), session);
  throw new ThreadmuxError(
    'bad_usage',
    `${untrustedCode(name)} was not started, because no channel of this server is for sessions in ${untrustedCode(directory)}.`,
    {
      hint: 'Start it in the directory of a project, or add one to "projects" in the configuration.',
    },
  );
}

function linkOf({ host }: Wanted, session: Session, tools: CommandContext): string {
  const pane = toSessionPane(host, '', session);
  const record = tools.threads.registry.ofSession(host, pane);
  return record?.server === tools.server.name ? `: <#${record.thread}>` : '';
}

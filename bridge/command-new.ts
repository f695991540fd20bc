// !new and !kill: sessions made and ended from the thread list. Names are exact; what is started
// reports itself, so nobody has to guess when it is ready.

import { setTimeout as sleep } from 'node:timers/promises';
import { ThreadmuxError } from '../core/errors.ts';
import { parseSessionName, type SessionName, threadTitle } from '../core/session-name.ts';
import { welcomeText } from '../core/welcome.ts';
import { archiveThread, ensureThread } from '../discord/threads.ts';
import { killSession, newSession, type Session } from '../tmux/sessions.ts';
import { agentOn } from './agent.ts';
import { type Command, code, say, type Tools } from './command.ts';
import { findSessions } from './command-sessions.ts';
import { endStream, startAfresh, streamOf } from './command-streams.ts';

const STARTS_WITHIN_MS = 45_000;

export const create: Command = {
  name: 'new',
  usage: '!new <name> [host] [directory] [-- command]',
  about:
    'start a session: Claude, or the command after `--`; alone, a headless agent starts afresh',
  async run(order, tools) {
    const stream = streamOf(order, tools);
    if (order.rest === '' && stream?.kind === 'agent') return startAfresh(stream);
    const wanted = parseNew(order.rest, tools);
    const tmux = tools.hosts.tmux(wanted.host);
    const agent = await agentOn(wanted, tools);
    const command = agent ?? wanted.command;
    const { session, created } = await newSession(tmux, {
      name: wanted.name,
      directory: wanted.directory,
      ...(command === undefined ? {} : { command }),
    });
    if (!created)
      return say(
        `Session ${code(wanted.name)} is there already${await linkOf(wanted, session, tools)}.`,
      );
    if (agent !== undefined) {
      const thread = await untilReported(wanted, session, tools);
      if (thread !== undefined) return say(`▶️ ${code(wanted.name)} is up: <#${thread}>`);
    }
    const thread = await bind(wanted, session, tools);
    const what =
      command === undefined ? 'a shell; `claude` was not found there' : command.join(' ');
    return say(`▶️ ${code(wanted.name)} is up (${what.slice(0, 200)}): <#${thread}>`);
  },
};

export const kill: Command = {
  name: 'kill',
  usage: '!kill <name>',
  about:
    'end a session, a terminal or a headless agent (its exact name, `name@host` on another host)',
  async run(order, tools) {
    const [name = '', host = tools.config.defaultHost] = order.rest.trim().split('@');
    if (name === '') throw usage('`!kill <name>` needs the exact name of a session');
    const stream = order.rest.includes('@') ? undefined : tools.streams.named(name);
    if (stream !== undefined) return endStream(stream, tools);
    const found = (await findSessions(host, tools)).find(({ session }) => session.name === name);
    if (found === undefined)
      throw new ThreadmuxError(
        'session_not_found',
        `there is no session ${code(name)} on ${code(host)}`,
        {
          hint: '`!sessions` lists them; the name has to be exact.',
        },
      );
    await killSession(tools.hosts.tmux(host), found.session);
    const thread = found.record?.thread;
    if (thread !== undefined && order.thread?.id !== thread)
      await archiveThread(tools.place.rest, thread).catch((error: Error) =>
        tools.log.info('archiving a thread', { because: error.message }),
      );
    return say(`⏹️ ${code(name)} on ${code(host)} was ended.`);
  },
};

interface Wanted {
  readonly name: SessionName;
  readonly host: string;
  readonly directory: string;
  readonly command: readonly string[] | undefined;
}

/** Order does not matter after the name: a path is a directory, anything else is a host. */
export function parseNew(rest: string, { config, hosts }: Pick<Tools, 'config' | 'hosts'>): Wanted {
  const [before = '', ...after] = rest.split(/(?:^|\s)--(?:\s|$)/);
  const command = after.join(' -- ').split(/\s+/).filter(Boolean);
  const [name = '', ...words] = before.trim().split(/\s+/).filter(Boolean);
  if (name === '') throw usage('`!new <name> [host] [directory] [-- command]` needs a name');
  const directories = words.filter((word) => /^[~/]/.test(word));
  const names = words.filter((word) => !/^[~/]/.test(word));
  const [host = config.defaultHost] = names;
  if (directories.length > 1 || names.length > 1)
    throw usage(`I cannot tell what ${code(words.join(' '))} means`);
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

/** Claude's own SessionStart makes the thread; no timer guesses it. */
async function untilReported(
  { host }: Wanted,
  session: Session,
  tools: Tools,
): Promise<string | undefined> {
  const deadline = Date.now() + STARTS_WITHIN_MS;
  while (Date.now() < deadline) {
    const found = await findSessions(host, tools);
    const mine = found.find(
      (one) => one.session.id === session.id && one.session.serverPid === session.serverPid,
    );
    if (mine?.record?.shell === 'no') return mine.record.thread;
    if (mine === undefined || mine.session.pane.dead) return undefined;
    await sleep(500);
  }
  return undefined;
}

/** A session that will not report by itself gets its thread from us. */
async function bind({ name, host }: Wanted, session: Session, tools: Tools): Promise<string> {
  const { config, place } = tools;
  const title = threadTitle(
    host === config.defaultHost ? { session: name } : { session: name, host },
  );
  const welcome = welcomeText({ session: name, host, cwd: session.pane.path });
  const thread = await ensureThread(place, title, welcome, tools.members);
  tools.threads.learn(thread);
  await tools.panes.save(await tools.panes.found(host, thread.id, session, 'ours'));
  return thread.id;
}

async function linkOf({ host }: Wanted, session: Session, tools: Tools): Promise<string> {
  const found = (await findSessions(host, tools)).find((one) => one.session.id === session.id);
  return found?.record === undefined ? '' : `: <#${found.record.thread}>`;
}

// !new and !kill: sessions made and ended from the thread list. Names are exact; what is started
// reports itself, so nobody has to guess when it is ready.

import { setTimeout as sleep } from 'node:timers/promises';
import { hasDialog } from '../claude/dialog-line.ts';
import { ThreadmuxError } from '../core/errors.ts';
import { parseSessionName, type SessionName, threadTitle } from '../core/session-name.ts';
import { welcomeText } from '../core/welcome.ts';
import { archiveThread, ensureThread, type ThreadRef } from '../discord/threads.ts';
import { look } from '../tmux/look.ts';
import { killSession, newSession, type Session } from '../tmux/sessions.ts';
import { agentOn } from './agent.ts';
import { type Answer, type Command, code, say, type Tools } from './command.ts';
import { showScreen } from './command-keys.ts';
import { findSessions } from './command-sessions.ts';
import { endStream, startAfresh, streamOf } from './command-streams.ts';
import { screenBlock } from './say.ts';

/** Until then it may only be drawing. */
const ASKS_AFTER_MS = 1_500;
const SILENT_FOR_MS = 20_000;

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
    if (
      command === undefined ||
      (agent === undefined && command[0] === tools.config.agent.command[0])
    )
      throw new ThreadmuxError(
        'not_found',
        `${code(tools.config.agent.command[0] ?? 'claude')} was not found on ${code(wanted.host)}, so nothing was started`,
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
      return say(
        `Session ${code(wanted.name)} is there already${await linkOf(wanted, session, tools)}.`,
      );
    if (agent !== undefined) return untilItSpeaks(wanted, session, tools);
    const thread = await bind(wanted, session, tools, 'ours');
    return say(`▶️ ${code(wanted.name)} is up (${code(command.join(' '), 200)}): <#${thread.id}>`);
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

/**
 * Claude's own SessionStart makes the thread; no timer guesses it. Before that it may ask something (is this folder to be
 * trusted?), or end: then its screen tells, in the thread. It is Claude all the same, and never typed into as a shell.
 */
async function untilItSpeaks(wanted: Wanted, session: Session, tools: Tools): Promise<Answer> {
  const began = Date.now();
  for (let last = ''; ; await sleep(500)) {
    const found = await findSessions(wanted.host, tools);
    const mine = found.find(
      (one) => one.session.id === session.id && one.session.serverPid === session.serverPid,
    );
    if (mine?.record?.shell === 'no')
      return say(`▶️ ${code(wanted.name)} is up: <#${mine.record.thread}>`);
    if (mine === undefined || mine.session.pane.dead) throw endedAtOnce(wanted, last);
    const seen = await lookAt(wanted, mine.session, tools);
    last = seen === '' ? last : seen;
    const waitedMs = Date.now() - began;
    if ((waitedMs > ASKS_AFTER_MS && hasDialog(seen)) || waitedMs > SILENT_FOR_MS)
      return whatItShows(wanted, mine.session, tools, hasDialog(seen));
  }
}

async function lookAt({ host }: Wanted, { serverPid, pane }: Session, tools: Tools) {
  const ref = { serverPid, paneId: pane.id, panePid: pane.pid };
  const seen = await look(tools.hosts.tmux(host), ref);
  return seen.kind === 'pane' ? seen.text.trimEnd() : '';
}

async function whatItShows(
  wanted: Wanted,
  session: Session,
  tools: Tools,
  asks: boolean,
): Promise<Answer> {
  const thread = await bind(wanted, session, tools, 'no');
  const pane = await tools.panes.find(thread, true);
  const shown = pane === undefined ? say('') : await showScreen(pane);
  const words = asks
    ? 'Claude asks something before it starts. The buttons press keys.'
    : 'Claude has not reported yet. This is what its pane shows.';
  await tools.say(thread.id, [thread.id, 'starts', session.id, session.serverPid], {
    ...shown,
    content: `🔔 ${words}\n${pane === undefined ? '' : shown.content}`.slice(0, 2_000),
  });
  return say(
    `🔔 ${code(wanted.name)} ${asks ? 'waits for you' : 'has not reported yet'}: <#${thread.id}>`,
  );
}

function endedAtOnce({ name, host }: Wanted, last: string): ThreadmuxError {
  return new ThreadmuxError(
    'session_not_found',
    `${code(name)} ended on ${code(host)} as soon as it was started. ${last === '' ? 'It said nothing.' : `Its last words:\n${screenBlock(last)}`}`,
    { hint: 'Try the same in a terminal of that host.' },
  );
}

/** A session that will not report by itself gets its thread from us. */
async function bind(
  { name, host }: Wanted,
  session: Session,
  tools: Tools,
  shell: 'no' | 'ours',
): Promise<ThreadRef> {
  const { config, place } = tools;
  const title = threadTitle(
    host === config.defaultHost ? { session: name } : { session: name, host },
  );
  const welcome = welcomeText({ session: name, host, cwd: session.pane.path });
  const thread = await ensureThread(place, title, welcome, tools.members);
  tools.threads.learn(thread);
  await tools.panes.save(await tools.panes.found(host, thread.id, session, shell));
  return thread;
}

async function linkOf({ host }: Wanted, session: Session, tools: Tools): Promise<string> {
  const found = (await findSessions(host, tools)).find((one) => one.session.id === session.id);
  return found?.record === undefined ? '' : `: <#${found.record.thread}>`;
}

// !sh runs a shell command where the session works, and says where that was.

import { ThreadmuxError } from '../../core/errors.ts';
import { untrustedCode } from '../../core/untrusted-text.ts';
import { screenBlock } from '../../threads/notices.ts';
import { lookAtPane } from '../../tmux/look.ts';
import { isFresh } from '../inbox.ts';
import { type Command, type CommandCall, type CommandContext, replyWith } from './command.ts';
import { projectHere } from './project-here.ts';

const TIMEOUT_MS = 30_000;
/** Only the end is shown. */
const MOST_BYTES = 32 * 2 ** 20;
/** The argument is the directory. The command is data on stdin, never part of a command line. */
const SCRIPT = `case $1 in '' | '~') set -- "$HOME" ;; '~/'*) set -- "$HOME/\${1#'~/'}" ;; esac
cd -- "$1" && pwd && { sh 2>&1 || echo "[exit code $?]"; }`;

export const shCommand: Command = {
  name: 'sh',
  usage: '!sh <command>',
  about: 'run a command in the session’s directory (needs "allowShell")',
  async run(order, context) {
    if (!context.config.allowShell)
      throw new ThreadmuxError('bad_usage', '`!sh` is turned off.', {
        hint: 'Set "allowShell": true in config.json to allow it. No restart is needed.',
      });
    if (order.rest === '') throw new ThreadmuxError('bad_usage', '`!sh` needs a command, such as `!sh git status`.');
    // What was written before a restart may be wrong by now, and may have run already.
    if (!isFresh(order.liveAt, performance.now()))
      return replyWith(
        '⚠️ Not run: the command is too old, or came while threadmux was not running. It may have run before a restart. Send it again if you still want it.',
      );
    const { host, directory } = await placeOf(order, context);
    const printed = await context.hosts.get(host).sh(SCRIPT, [directory], {
      input: order.rest,
      timeoutMs: TIMEOUT_MS,
      doing: `run the command in ${untrustedCode(directory)}`,
      maxBytes: MOST_BYTES,
    });
    const end = printed.indexOf('\n');
    const where = `-# In ${untrustedCode(printed.slice(0, end))} on ${untrustedCode(host)}:`;
    return replyWith(`${where}\n${screenBlock(printed.slice(end + 1))}`);
  },
};

/** Where the session's pane is now; in a channel, the directory of its project. An empty directory is the home directory. */
async function placeOf(order: CommandCall, context: CommandContext): Promise<{ host: string; directory: string }> {
  const { thread } = order;
  const { config, panes, streams, threads } = context;
  if (thread === undefined) {
    const project = projectHere(order, context);
    return { host: project?.host ?? config.defaultHost, directory: project?.path ?? '' };
  }
  const stream = streams.of(thread.id);
  if (stream?.kind === 'agent') {
    const { far, dir } = stream.record();
    return { host: far?.host ?? config.host, directory: dir };
  }
  const pane = await panes.find(thread);
  const seen = pane && (await lookAtPane(pane.tmux, pane.record));
  const path = seen?.kind === 'pane' && seen.panePid === pane?.record.panePid ? seen.path : '';
  return {
    host: panes.hostOf(thread),
    directory: path || (pane?.record ?? threads.registry.get(thread.id))?.cwd || '',
  };
}

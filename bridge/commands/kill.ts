// !kill ends a session, a terminal or a headless agent, by its exact name.

import { ThreadmuxError } from '../../core/errors.ts';
import { parseLabel } from '../../core/session-name.ts';
import { snowflakeTime, stableNonce } from '../../core/snowflake.ts';
import { untrustedCode } from '../../core/untrusted-text.ts';
import { endedNotice, startButtons } from '../../threads/ended-notice.ts';
import type { SessionIds } from '../../threads/live-index.ts';
import { sessionKey } from '../../threads/registry.ts';
import { killSession } from '../../tmux/sessions.ts';
import { runOf } from '../declared/decide-start.ts';
import { type Command, replyWith } from './command.ts';
import { findOurSessions } from './sessions.ts';
import { endStream } from './streams.ts';

export const killCommand: Command = {
  name: 'kill',
  usage: '!kill <name>',
  about: 'end a session, terminal or headless agent by its exact name (`name@host` on another host)',
  async run(order, context) {
    const { name, host } = parseLabel(order.rest.trim(), context.config);
    if (name === '')
      throw new ThreadmuxError('bad_usage', '`!kill` needs the exact name of a session.', {
        hint: 'Example: `!kill shop`',
      });
    const stream = context.streams.named(order.rest.trim());
    if (stream !== undefined) return endStream(stream, context);
    const found = (await findOurSessions(host, context)).find(({ session }) => session.name === name);
    if (found === undefined)
      throw new ThreadmuxError(
        'session_not_found',
        `There is no session ${untrustedCode(name)} on ${untrustedCode(host)}.`,
        { hint: '`!sessions` lists them. Use the exact name.' },
      );
    if (
      order.session !== undefined &&
      order.session !== sessionPrint(host, { ...found.session, sessionId: found.session.id })
    )
      return replyWith(
        `⚠️ Not ended: ${untrustedCode(name)} is another session now; this button was for an earlier one. Tap again when the panel shows the new one.`,
      );
    // It was written for the session that ran then.
    if (order.liveAt === undefined && found.session.createdAt > snowflakeTime(order.id))
      return replyWith(
        `⚠️ Not ended: ${untrustedCode(name)} was started after you wrote this. Send it again to end it.`,
      );
    const { record } = found;
    // Before its agent reports its exit, and before the end is noticed: both would say the same again.
    if (record !== undefined) context.threads.registry.change(record.thread, { closed: true, ending: true });
    const undo = context.declared.ending({ host, name, run: runOf(found.session) });
    await killSession(context.hosts.tmux(host), found.session).catch((error: unknown) => {
      undo();
      if (record !== undefined) context.threads.registry.change(record.thread, { closed: false, ending: false });
      throw error;
    });
    const ended = `${untrustedCode(name)}${host === context.config.defaultHost ? '' : ` on ${untrustedCode(host)}`} was ended`;
    if (record === undefined) return replyWith(`⏹️ ${ended}.`);
    const isHere = order.thread?.id === record.thread;
    const notice = endedNotice(record, order.by);
    return {
      ...(isHere ? notice : { content: `⏹️ ${ended}: <#${record.thread}>`, components: startButtons(record) }),
      async after() {
        const tell = async () => {
          if (!isHere) await context.postNotice(record.thread, [order.id, 'ended'], notice);
          await context.threads.archive(record.thread, { ended: record });
        };
        await tell().catch((error: Error) => context.log.info('archiving a thread', { because: error.message }));
      },
    };
  },
};

/** For buttons: which session is meant, whatever has its name now. Short, because Discord allows 100 characters beside the name. */
export function sessionPrint(host: string, session: SessionIds): string {
  return stableNonce('session', host, sessionKey(session)).slice(0, 12);
}

// !kill ends a session, a terminal or a headless agent, by its exact name.

import { ThreadmuxError } from '../../core/errors.ts';
import { untrustedCode } from '../../core/untrusted-text.ts';
import { killSession } from '../../tmux/sessions.ts';
import type { Command } from './command.ts';
import { findOurSessions } from './sessions.ts';
import { endStream } from './streams.ts';

export const killCommand: Command = {
  name: 'kill',
  usage: '!kill <name>',
  about: 'end a session, a terminal or a headless agent (its exact name, `name@host` on another host)',
  async run(order, tools) {
    const [name = '', host = tools.config.defaultHost] = order.rest.trim().split('@');
    if (name === '')
      throw new ThreadmuxError('bad_usage', '`!kill` needs the exact name of a session.', {
        hint: 'Example: `!kill shop`',
      });
    const stream = tools.streams.named(order.rest.trim());
    if (stream !== undefined) return endStream(stream, tools);
    const found = (await findOurSessions(host, tools)).find(({ session }) => session.name === name);
    if (found === undefined)
      throw new ThreadmuxError(
        'session_not_found',
        `There is no session ${untrustedCode(name)} on ${untrustedCode(host)}.`,
        {
          hint: '`!sessions` lists them. Use the exact name.',
        },
      );
    await killSession(tools.hosts.tmux(host), found.session);
    const thread = found.record?.thread;
    if (thread !== undefined) tools.threads.registry.change(thread, { closed: true });
    return {
      content: `⏹️ ${untrustedCode(name)} on ${untrustedCode(host)} was ended.`,
      async after() {
        if (thread !== undefined)
          await tools.threads
            .archive(thread, { closed: true })
            .catch((error: Error) => tools.log.info('archiving a thread', { because: error.message }));
      },
    };
  },
};

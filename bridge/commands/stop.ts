// !stop: whatever runs in this thread is interrupted, each kind in its own way.

import { type Command, replyWith } from './command.ts';
import { pressAsked } from './keys.ts';
import { streamOf } from './streams.ts';

export const stopCommand: Command = {
  name: 'stop',
  usage: '!stop',
  about: 'interrupt Claude (Esc, once), a terminal (Ctrl-C), or end what a headless agent does',
  async run(order, tools) {
    const stream = streamOf(order, tools);
    if (stream?.kind !== 'agent') return pressAsked(order, [stream?.kind === 'terminal' ? 'C-c' : 'Escape'], tools);
    return replyWith((await stream.agent.stop()) ? 'Stopping it.' : 'Nothing runs.');
  },
};

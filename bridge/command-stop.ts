// !stop: whatever runs in this thread is interrupted, each kind in its own way.

import { type Command, say } from './command.ts';
import { pressAsked } from './command-keys.ts';
import { streamOf } from './command-streams.ts';

export const stop: Command = {
  name: 'stop',
  usage: '!stop',
  about: 'interrupt Claude (Esc, once), a terminal (Ctrl-C), or end what a headless agent does',
  async run(order, tools) {
    const stream = streamOf(order, tools);
    if (stream?.kind !== 'agent')
      return pressAsked(order, [stream?.kind === 'terminal' ? 'C-c' : 'Escape'], tools);
    return say((await stream.agent.stop()) ? 'Stopping it.' : 'Nothing runs.');
  },
};

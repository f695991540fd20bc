// Our client receiving messages: reports when it is ready, and how long it took to handle them.

import { openClient } from './client.mjs';

const COUNT = Number(process.argv[2]);
let begun;
let done = 0;

process.on('disconnect', () => process.exit());
await openClient({
  env: process.env,
  handling(name) {
    if (name === 'MESSAGE_CREATE') begun ??= performance.now();
  },
  handled(name) {
    if (name === 'GUILD_CREATE') process.send('ready');
    if (name === 'MESSAGE_CREATE' && ++done === COUNT) process.send({ seconds: (performance.now() - begun) / 1000 });
  },
});

// Connections whose owner has not shown who it is. There are only a few at a time: the newest takes the place of the oldest, so
// that somebody who holds many open can use up neither our file descriptors nor the places of others.

import type { Server } from 'node:http';
import type { Socket } from 'node:net';

export interface Strangers {
  /** It counts no longer. */
  admit(socket: Socket): void;
}

export function limitStrangers(server: Server, most: number): Strangers {
  const strangers = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    strangers.add(socket);
    socket.once('close', () => strangers.delete(socket));
    const [oldest] = strangers;
    if (strangers.size > most) oldest?.destroy();
  });
  return { admit: (socket) => void strangers.delete(socket) };
}

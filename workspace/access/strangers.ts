// Connections whose owner has not shown who it is. There are only a few at a time: the newest takes the place of the oldest, so
// that somebody who holds many open can use up neither our file descriptors nor the places of others. Each gets one answer at a
// time: answers that are not read would fill our memory.

import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

export interface Strangers {
  /** It counts no longer. */
  admit(socket: Socket): void;
  /** False, and the connection is cut, for a request that did not wait for the answer to the one before. */
  mayAsk(request: IncomingMessage, response: ServerResponse): boolean;
}

export function limitStrangers(server: Server, most: number): Strangers {
  const strangers = new Set<Socket>();
  const answering = new WeakSet<Socket>();
  server.on('connection', (socket: Socket) => {
    strangers.add(socket);
    socket.once('close', () => strangers.delete(socket));
    const [oldest] = strangers;
    if (oldest === undefined || strangers.size <= most) return;
    strangers.delete(oldest); // now: its "close" is told later, and until then the next would not find another to cut
    oldest.destroy();
  });
  return {
    admit: (socket) => void strangers.delete(socket),
    mayAsk({ socket }, response) {
      if (socket.destroyed) return false; // the rest of what came with the request that was too many
      if (!strangers.has(socket)) return true;
      if (answering.has(socket)) {
        socket.destroy();
        return false;
      }
      answering.add(socket);
      response.once('close', () => answering.delete(socket));
      return true;
    },
  };
}

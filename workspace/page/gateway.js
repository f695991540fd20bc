// The live line to the workspace. It comes back by itself, resumes where it was if it can, and says how it is.

import { call } from './api.js';

const LONGEST_WAIT_MS = 15_000;

/**
 * @typedef {{ kind: 'connecting' } | { kind: 'online' } | { kind: 'offline', retryAt: number } | { kind: 'stranger' }} Line
 * @param {{ onEvent(type: string, data: any): void, onLine(line: Line): void }} listener
 */
export function connectGateway({ onEvent, onLine }) {
  let session;
  let seq = null;
  let attempt = 0;
  let retry;
  /** @type {WebSocket | undefined} */
  let socket;

  const open = () => {
    clearTimeout(retry);
    retry = undefined;
    const scheme = location.protocol === 'https:' ? 'wss' : 'ws';
    const mine = new WebSocket(`${scheme}://${location.host}/gateway?v=10&encoding=json`);
    socket = mine;
    let beating;
    let acked = true;
    const send = (op, d) => {
      if (mine.readyState === WebSocket.OPEN) mine.send(JSON.stringify({ op, d }));
    };
    const beat = () => {
      if (!acked) return mine.close(4000);
      acked = false;
      send(1, seq);
    };
    mine.addEventListener('message', ({ data }) => {
      const frame = JSON.parse(data);
      if (frame.s !== null) seq = frame.s;
      switch (frame.op) {
        case 10:
          beating = setInterval(beat, frame.d.heartbeat_interval);
          if (session === undefined) send(2, { token: '', intents: 0, properties: {} });
          else send(6, { token: '', session_id: session, seq });
          return;
        case 11:
          acked = true;
          return;
        case 9:
          session = undefined;
          seq = null;
          mine.close(4000);
          return;
        case 0:
          if (frame.t === 'READY') session = frame.d.session_id;
          if (frame.t === 'READY' || frame.t === 'RESUMED') {
            attempt = 0;
            onLine({ kind: 'online' });
          }
          onEvent(frame.t, frame.d);
      }
    });
    mine.addEventListener('close', () => {
      clearInterval(beating);
      if (socket === mine) void lost();
    });
  };

  const lost = async () => {
    socket = undefined;
    const wait = Math.min(LONGEST_WAIT_MS, 300 * 2 ** attempt++) * (0.7 + Math.random() * 0.3);
    retry = setTimeout(open, wait);
    onLine({ kind: 'offline', retryAt: Date.now() + wait });
    const me = await call('GET', '/users/@me');
    if (!me.ok && me.status === 401 && socket === undefined) onLine({ kind: 'stranger' });
  };

  const now = () => {
    if (retry === undefined) return;
    attempt = 0;
    open();
  };
  addEventListener('online', now);
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'visible') now();
  });
  onLine({ kind: 'connecting' });
  open();
  return { retryNow: now };
}

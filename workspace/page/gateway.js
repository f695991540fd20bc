// The live connection to the workspace. It reconnects by itself, resumes if possible, and reports its state.

import { forgetToken, signIn } from './api.js';

const LONGEST_WAIT_MS = 15_000;

/**
 * @typedef {{ kind: 'connecting' } | { kind: 'online' } | { kind: 'offline', retryAt: number } | { kind: 'stranger' } | { kind: 'insecure' }} Line
 * @param {{ onEvent(type: string, data: any): void, onLine(line: Line): void }} listener
 */
export function connectGateway({ onEvent, onLine }) {
  let session;
  let seq = null;
  let attempt = 0;
  let retry;
  /** @type {WebSocket | undefined} */
  let socket;

  const open = async () => {
    clearTimeout(retry);
    retry = undefined;
    const me = await signIn();
    if (me.kind !== 'in') return lost(me.kind);
    const { token } = me;
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
          if (session === undefined) send(2, { token, intents: 0, properties: {} });
          else send(6, { token, session_id: session, seq });
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
      if (socket === mine) lost('unreachable');
    });
  };

  /** Another program may answer next: nothing that was used before is sent again. */
  const lost = (why) => {
    socket = undefined;
    forgetToken();
    const wait = Math.min(LONGEST_WAIT_MS, 300 * 2 ** attempt++) * (0.7 + Math.random() * 0.3);
    retry = setTimeout(open, wait);
    if (why === 'unreachable') onLine({ kind: 'offline', retryAt: Date.now() + wait });
    else onLine({ kind: why });
  };

  const now = () => {
    if (retry === undefined) return;
    attempt = 0;
    void open();
  };
  addEventListener('online', now);
  addEventListener('hashchange', now); // it may be a link that signs in
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'visible') now();
  });
  onLine({ kind: 'connecting' });
  void open();
  return { retryNow: now };
}

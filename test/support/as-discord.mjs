// Makes a workspace as strict and unreliable as Discord: rate limits, session limits, lost answers, cut connections.
// Plain JavaScript, because the measurements in bench/ use it with the built program.

import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

const GENEROUS = { perBucket: 100, windowMs: 1_000, globalPerSecond: 500 };

/** `inspection` is an option of startWorkspace, `gateway` injects faults while it runs. */
export function asDiscord({ rateLimits = GENEROUS, identifyLimit, faults, refuse } = {}) {
  const limits = countRequests(rateLimits);
  const controls = controlGateway(identifyLimit);
  let count = 0;
  let changes = 0;
  const request = async (asked, answer) => {
    const fault = faults?.onRequest?.({ ...asked, count: count++ });
    if (fault?.kind === 'delay') await sleep(fault.ms);
    if (fault?.kind === 'apply-late') await fault.over;
    const early = fault && beforeApplying(fault);
    if (early !== undefined) return early;
    const verdict = limits.count(asked);
    if (verdict.refused !== undefined) return limited(verdict, 'user');
    const { headers, ...given } = refuse?.(asked) ?? answer();
    if (asked.method !== 'GET') changes++;
    if (asked.path === '/gateway/bot' && given.status === 200)
      given.body = { ...given.body, session_start_limit: controls.sessionStarts() };
    const said = { ...given, headers: { ...headers, ...verdict.headers } };
    if (fault?.kind === 'answer-late') await fault.over;
    return fault ? afterApplying(fault, said) : said;
  };
  return { inspection: { request, connection: controls.begin }, gateway: controls.gateway, changes: () => changes };
}

function beforeApplying(fault) {
  switch (fault.kind) {
    case 'answer':
      return ordered(fault);
    case 'reset':
    case 'silence':
      return fault.kind;
    case 'limited': {
      const refused = { retryAfterMs: fault.retryAfterMs, global: fault.scope === 'global' };
      return limited({ headers: {}, refused }, fault.scope);
    }
    case 'banned': {
      const message = 'You are being blocked from accessing our API temporarily.';
      const page = '<!doctype html><title>Access denied</title>';
      return fault.as === 'html'
        ? { status: 429, body: page, headers: { 'Content-Type': 'text/html' } }
        : { status: 429, body: { code: 0, message } };
    }
    default:
      return undefined;
  }
}

function afterApplying(fault, answer) {
  if (fault.kind === 'apply-then-reset') return 'reset';
  if (fault.kind === 'apply-then-silence') return 'silence';
  return fault.kind === 'apply-then-answer' ? ordered(fault) : answer;
}

function ordered({ status, body = { message: `${status}: ordered`, code: 0 } }) {
  return { status, body };
}

function limited({ headers, refused: { retryAfterMs, global } }, scope) {
  const seconds = Math.max(retryAfterMs, 1) / 1000;
  return {
    status: 429,
    body: {
      message: global ? 'You are being rate limited globally.' : 'You are being rate limited.',
      retry_after: Number(seconds.toFixed(3)),
      global,
      code: 0,
    },
    headers: {
      ...headers,
      'Retry-After': String(Math.ceil(seconds)),
      'X-RateLimit-Scope': global ? 'global' : scope,
      ...(global && { 'X-RateLimit-Global': 'true' }),
    },
  };
}

/** Counts the requests of the bot like Discord: by kind of request and channel or guild, and all together. */
function countRequests(options) {
  const windows = new Map();
  const all = { resetsAt: 0, used: 0 };
  return {
    count({ method, path, actor }) {
      const now = Date.now();
      if (actor !== 'bot' || /^\/(?:interactions|webhooks)\//.test(path)) return { headers: {} };
      if (!take(all, now, 1_000, options.globalPerSecond))
        return { headers: {}, refused: { retryAfterMs: all.resetsAt - now, global: true } };
      const kind = path.includes('/reactions/') ? 'reactions' : `${method} ${path.replace(/\d{15,20}/g, ':id')}`;
      const bucket = createHash('md5').update(kind).digest('hex');
      const key = `${bucket}:${/^\/(?:channels|guilds)\/(\d+)/.exec(path)?.[1] ?? ''}`;
      const window = windows.get(key) ?? { resetsAt: 0, used: 0 };
      windows.set(key, window);
      const taken = take(window, now, options.windowMs, options.perBucket);
      const headers = {
        'X-RateLimit-Limit': String(options.perBucket),
        'X-RateLimit-Remaining': String(options.perBucket - window.used),
        'X-RateLimit-Reset': (window.resetsAt / 1000).toFixed(3),
        'X-RateLimit-Reset-After': ((window.resetsAt - now) / 1000).toFixed(3),
        'X-RateLimit-Bucket': bucket,
      };
      const refused = { retryAfterMs: window.resetsAt - now, global: false };
      return taken ? { headers } : { headers, refused };
    },
  };
}

function take(window, now, lengthMs, limit) {
  if (now >= window.resetsAt) Object.assign(window, { resetsAt: now + lengthMs, used: 0 });
  if (window.used >= limit) return false;
  window.used++;
  return true;
}

function controlGateway({ total = 1_000 } = {}) {
  const connections = new Set();
  const sessions = new Set();
  const received = [];
  let used = 0;
  let isAcking = true;
  let kept;
  const say = ({ socket }, op, d = null) => socket.send(JSON.stringify({ t: null, s: null, op, d }));
  const identifying = (connection) => {
    if (used < total) return void used++;
    say(connection, 9, false);
    connection.socket.close(4000);
  };
  const toAll = (act) => () => {
    for (const connection of [...connections]) act(connection);
  };
  return {
    sessionStarts: () => ({
      total,
      remaining: total - used,
      max_concurrency: 16,
      reset_after: used === 0 ? 0 : 86_400_000,
    }),
    begin(connection, ofWorkspace) {
      if (connection.caller.actor !== 'bot') return;
      kept = ofWorkspace;
      connections.add(connection);
      const { socket } = connection;
      socket.on('close', () => connections.delete(connection));
      socket.prependListener('message', (data) => {
        const op = Number(/"op":\s*(\d+)/.exec(String(data))?.[1]);
        received.push(op);
        if (op === 2 && connection.session === undefined) identifying(connection);
      });
      const send = socket.send.bind(socket);
      socket.send = (text) => {
        if (connection.session) sessions.add(connection.session);
        if (isAcking || JSON.parse(text).op !== 11) send(text);
      };
    },
    gateway: {
      received,
      get connected() {
        return [...connections].filter(({ session }) => session !== undefined).length;
      },
      cutAll: toAll(({ socket }) => socket.terminate()),
      stopAcking(isStopped) {
        isAcking = !isStopped;
      },
      sendReconnect: toAll((connection) => say(connection, 7)),
      requestHeartbeat: toAll((connection) => say(connection, 1)),
      invalidateSession: (isResumable) =>
        toAll((connection) => {
          const { session } = connection;
          connection.session = undefined;
          if (session) kept.leave(session, !isResumable);
          say(connection, 9, isResumable);
        })(),
      closeAll: (code) =>
        toAll(({ socket, session }) => {
          if (code === 4009 && session) kept.end(session.id);
          socket.close(code);
        })(),
      dropSessions() {
        for (const { id } of sessions) kept.end(id);
      },
    },
  };
}

// Who may come in. Nothing a web page elsewhere can make a browser send gets through: Host, Origin and cookie are all checked.

import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';
import type { Identity } from './identity.ts';
import type { Actor } from './wire-guild.ts';

export type Access =
  | { readonly kind: 'actor'; readonly actor: Actor }
  | { readonly kind: 'nobody' }
  | { readonly kind: 'wrong-token' }
  | { readonly kind: 'refused'; readonly because: 'host' | 'origin' };

export interface Door {
  readonly listen: string;
  readonly port: number;
}

/** Decides for one request or one WebSocket handshake. */
export function admit(
  identity: Identity,
  door: Door,
  headers: IncomingHttpHeaders,
  method: string,
): Access {
  if (!isOurHost(door, headers.host)) return { kind: 'refused', because: 'host' };
  // A page of another site may send anything but a true Origin: a foreign one is refused whoever asks.
  const origin = headers.origin;
  if (origin !== undefined && origin !== `http://${headers.host}`)
    return { kind: 'refused', because: 'origin' };
  const fetchSite = headers['sec-fetch-site'];
  if (fetchSite === 'cross-site' || fetchSite === 'same-site')
    return { kind: 'refused', because: 'origin' };

  const token = /^Bot (.+)$/.exec(headers.authorization ?? '')?.[1];
  if (headers.authorization !== undefined) {
    const right = token !== undefined && sameSecret(token, identity.token);
    return right ? { kind: 'actor', actor: 'bot' } : { kind: 'wrong-token' };
  }
  const cookie = cookieValue(headers.cookie, cookieName(identity));
  if (cookie === undefined || !sameSecret(cookie, identity.cookieSecret)) return { kind: 'nobody' };
  const safe = method === 'GET' || method === 'HEAD';
  if (!safe && origin === undefined) return { kind: 'refused', because: 'origin' };
  return { kind: 'actor', actor: 'person' };
}

/** A name that resolves to this machine is not enough: DNS rebinding makes any name do so. */
export function isOurHost(door: Door, host: string | undefined): boolean {
  const parts = /^(\[[^\]]+\]|[^:]+)(?::(\d+))?$/.exec(host ?? '');
  const name = parts?.[1]?.toLowerCase().replace(/^\[|\]$/g, '');
  if (name === undefined || Number(parts?.[2] ?? 80) !== door.port) return false;
  if (['127.0.0.1', 'localhost', '::1', door.listen.toLowerCase()].includes(name)) return true;
  const everywhere = door.listen === '0.0.0.0' || door.listen === '::';
  return everywhere && isIP(name) !== 0;
}

/** Named after the workspace, because cookies of all ports of one host share a jar. */
export function cookieName(identity: Identity): string {
  return `threadmux_${identity.guildId}`;
}

export function cookieHeader(identity: Identity): string {
  const year = 365 * 24 * 3600;
  return `${cookieName(identity)}=${identity.cookieSecret}; Path=/; Max-Age=${year}; HttpOnly; SameSite=Strict`;
}

function cookieValue(header: string | undefined, name: string): string | undefined {
  for (const pair of (header ?? '').split(';')) {
    const [key, value] = pair.trim().split('=', 2);
    if (key === name) return value;
  }
  return undefined;
}

/** Takes the same time whatever the guess; hashed first, so that the length tells nothing either. */
export function sameSecret(guess: string, secret: string): boolean {
  const [a, b] = [guess, secret].map((text) => createHash('sha256').update(text).digest()) as [
    Buffer,
    Buffer,
  ];
  return timingSafeEqual(a, b);
}

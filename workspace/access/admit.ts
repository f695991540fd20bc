// Who has access, decided from the headers alone. The Unix socket is for the bot, the port is for the user; neither accepts
// the credentials of the other.

import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';
import type { Actor } from '../wire/guild.ts';

export type Access =
  | { readonly kind: 'actor'; readonly actor: Actor }
  | { readonly kind: 'nobody' }
  | { readonly kind: 'wrong-token' }
  | { readonly kind: 'refused'; readonly because: 'host' | 'origin' };

export interface AdmittedCaller {
  readonly listen: string;
  readonly port: number;
  /** The system has chosen it: only at the address for which it was chosen, nobody else can have prepared it. */
  readonly isChosen: boolean;
}

/** The socket or the port: whose it is, and who is admitted. */
export interface WorkspaceEntrance {
  readonly actor: Actor;
  admit(headers: IncomingHttpHeaders): Access;
}

/** Only our own user can open the socket. Without a token, a caller reaches only what an interaction's token protects. */
export function admitBot(token: string, headers: IncomingHttpHeaders): Access {
  if (headers.authorization === undefined) return { kind: 'nobody' };
  const given = /^Bot (.+)$/.exec(headers.authorization)?.[1];
  const isRight = given !== undefined && sameSecret(given, token);
  return isRight ? { kind: 'actor', actor: 'bot' } : { kind: 'wrong-token' };
}

/** No cookies are used, so another site cannot make a browser send valid credentials. */
export function admitPerson(
  door: AdmittedCaller,
  isSession: (token: string) => boolean,
  headers: IncomingHttpHeaders,
): Access {
  const because = foreign(door, headers);
  if (because !== undefined) return { kind: 'refused', because };
  const token = /^Session (.+)$/.exec(headers.authorization ?? '')?.[1];
  if (token === undefined || !isSession(token)) return { kind: 'wrong-token' };
  return { kind: 'actor', actor: 'person' };
}

/** Why a request does not belong to this workspace. A page of another site can forge anything but Origin. */
export function foreign(door: AdmittedCaller, headers: IncomingHttpHeaders): 'host' | 'origin' | undefined {
  if (!isOurHost(door, headers.host)) return 'host';
  if (headers.origin !== undefined && headers.origin !== `http://${headers.host}`) return 'origin';
  const site = headers['sec-fetch-site'];
  return site === 'cross-site' || site === 'same-site' ? 'origin' : undefined;
}

/** A name that resolves to this machine is not enough: DNS rebinding can do that with any name. */
export function isOurHost(door: AdmittedCaller, host: string | undefined): boolean {
  const parts = /^(\[[^\]]+\]|[^:]+)(?::(\d+))?$/.exec(host ?? '');
  const name = parts?.[1]?.toLowerCase().replace(/^\[|\]$/g, '');
  if (name === undefined || Number(parts?.[2] ?? 80) !== door.port) return false;
  const others = door.isChosen ? [] : ['127.0.0.1', 'localhost', '::1'];
  if ([...others, door.listen.toLowerCase()].includes(name)) return true;
  const kind = isIP(name);
  return kind !== 0 && (door.listen === '::' || (door.listen === '0.0.0.0' && (kind === 4 || !door.isChosen)));
}

/** Takes the same time for every guess; hashed first, so that the length leaks nothing either. */
export function sameSecret(guess: string, secret: string): boolean {
  const [a, b] = [guess, secret].map((text) => createHash('sha256').update(text).digest()) as [Buffer, Buffer];
  return timingSafeEqual(a, b);
}

// Whether other people use this machine. On Linux, one of them could prepare a port that is the same at each start (SECURITY.md).

import { readdirSync, readFileSync } from 'node:fs';

/** Accounts below are for programs; the last one is "nobody". */
const FIRST_PERSON = 1_000;
const NOBODY = 65_534;

/** `accounts`: /etc/passwd. `loggedIn`: a folder with one entry per user, also for accounts that a server keeps. */
export function hasOtherUsers(
  user = process.getuid?.() ?? 0,
  { accounts = '/etc/passwd', loggedIn = '/run/user' }: { readonly accounts?: string; readonly loggedIn?: string } = {},
): boolean {
  const fromAccounts = linesOf(accounts).flatMap((line) => {
    const [name = '', , id = '', , , , shell = ''] = line.split(':');
    return name === '' || /\/(?:nologin|false)$/.test(shell) ? [] : [Number(id)];
  });
  const isPerson = (id: number) => id >= FIRST_PERSON && id !== NOBODY && id !== user;
  return [...fromAccounts, ...namesIn(loggedIn).map(Number)].some(isPerson);
}

function linesOf(path: string): readonly string[] {
  try {
    return readFileSync(path, 'utf8').split('\n');
  } catch {
    return []; // another system
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // no such service
  }
}

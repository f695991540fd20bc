// The session of a thread that a user created by hand: its project and its name. Pure.

import type { Project } from '../core/project.ts';
import { parseSessionName, type SessionName } from '../core/session-name.ts';
import type { ThreadRecord } from '../threads/registry.ts';

/** Its session starts with a message: its agent never ran, or quit at once. */
export function isNeverStarted({ adopted, claudeSession, deleted }: ThreadRecord): boolean {
  return adopted !== 'no' && claudeSession === '' && !deleted;
}

/** The title of the thread also has to hold "[agent] " and the host. */
const LONGEST = 32;

/** The name of the project in front of the title chooses the project: "shop: fix the login". */
const PREFIX = /^\s*([A-Za-z0-9][\w-]*)\s*:\s*(?=\S)/;

/** The project of a channel in which threads start sessions; several may share the channel. */
export function projectFor(
  { channel, title }: { readonly channel: string; readonly title: string },
  projects: readonly Project[],
): Project | undefined {
  const ours = projects.filter((one) => one.channel === channel && one.threadsStart);
  const [, named] = PREFIX.exec(title) ?? [];
  return ours.find(({ name }) => name === named) ?? ours[0];
}

/** The names of sessions that the configuration gives another place. */
export function configuredNames(
  projects: readonly { readonly sessions: readonly { readonly name: string }[]; readonly talk: string | undefined }[],
): readonly string[] {
  return projects.flatMap(({ sessions, talk }) => [
    ...sessions.map(({ name }) => name),
    ...(talk === undefined ? [] : [talk]),
  ]);
}

/** Only characters that a session name may have; a number is added if the name is taken on that host. */
export function newName(
  title: string,
  host: string,
  records: readonly Pick<ThreadRecord, 'sessionName' | 'host'>[],
  alsoTaken: readonly string[] = [],
): SessionName {
  const plain = title
    .replace(/^\[agent\] /, '')
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .replace(/[^A-Za-z0-9_-]+/g, '-')
    .replace(/^[-_]+/, '')
    .slice(0, LONGEST)
    .replace(/(?<![-_])[-_]+$/, '');
  const base = plain || 'thread';
  const taken = new Set([...records.filter((one) => one.host === host).map((one) => one.sessionName), ...alsoTaken]);
  for (let number = 1; ; number++) {
    const name = number === 1 ? base : `${base}-${number}`;
    if (!taken.has(name)) return parseSessionName(name);
  }
}

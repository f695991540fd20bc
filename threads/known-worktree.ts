// What we know of the worktrees of sessions, in one file. A host keeps the records of its own (see hosts/worktree-shell.ts); this
// is what we need to know while it is away. The process with the courier's lock writes the file; the command line leaves notes for it.

import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { readJson, removeBestEffort, writeJson } from '../home/atomic-write.ts';
import type { Home } from '../home/home.ts';
import type { Session } from '../tmux/sessions.ts';

const knownSchema = z.object({
  host: z.string(),
  project: z.string(),
  /** Empty until the host has told it. */
  name: z.string(),
  path: z.string(),
  /** Where its session starts: the same subfolder as in the repository. */
  start: z.string(),
  branch: z.string(),
  session: z.string(),
  /** The directory that the session would have had without a worktree. */
  directory: z.string(),
  thread: z.string(),
  /** Kept: its session has ended, and a user decides what happens. */
  state: z.enum(['making', 'open', 'kept']),
  /** Its set-up runs, and its session waits for that. */
  isSettingUp: z.boolean().default(false),
});
export type KnownWorktree = Readonly<z.output<typeof knownSchema>>;

/** A worktree that no thread uses yet. `made`: what its host has told of it. */
export function newWorktree(
  of: Pick<KnownWorktree, 'host' | 'project' | 'session' | 'directory' | 'state'>,
  made: Pick<KnownWorktree, 'name' | 'path' | 'start' | 'branch'> = { name: '', path: '', start: '', branch: '' },
): KnownWorktree {
  const { host, project, session, directory, state } = of;
  const { name, path, start, branch } = made;
  return { host, project, name, path, start, branch, session, directory, thread: '', state, isSettingUp: false };
}

export function loadWorktrees(home: Home): readonly KnownWorktree[] {
  return readJson(home.path('state', 'worktrees.json'), z.array(knownSchema)) ?? [];
}

/** A command has made this worktree, and its session is about to start. */
export function noteWorktree(home: Home, one: KnownWorktree): void {
  const folder = join(home.folder('state'), NOTES);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeJson(join(folder, `${randomBytes(8).toString('hex')}.json`), one);
}

/** A note is removed when it is stored elsewhere. */
export function takeWorktreeNotes(home: Home, take: (one: KnownWorktree) => void): void {
  for (const { path, one } of notesIn(home)) {
    take(one);
    removeBestEffort(path);
  }
}

const NOTES = 'new-worktrees';

function notesIn(home: Home): readonly { readonly path: string; readonly one: KnownWorktree }[] {
  const folder = home.path('state', NOTES);
  return filesIn(folder).flatMap((name) => {
    const one = readJson(join(folder, name), knownSchema);
    return one === undefined ? [] : [{ path: join(folder, name), one }];
  });
}

function filesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).filter((name) => name.endsWith('.json'));
  } catch {
    return []; // no note was ever left
  }
}

/** Whether one of these sessions is in the worktree. */
export function usesWorktree(
  sessions: readonly Pick<Session, 'name' | 'pane'>[],
  { path, session }: Pick<KnownWorktree, 'path' | 'session'>,
): boolean {
  return sessions.some(
    ({ name, pane }) => !pane.dead && (name === session || (path !== '' && isWithin(pane.path, path))),
  );
}

/** Without a new string: it is asked for each session and worktree, and a host may have thousands of sessions. */
export function isWithin(directory: string, path: string): boolean {
  return directory.startsWith(path) && (directory.length === path.length || directory[path.length] === '/');
}

export function isSameWorktree(a: KnownWorktree, b: KnownWorktree): boolean {
  const isNamed = a.name === b.name || (a.name === '' && a.session === b.session);
  return a.host === b.host && a.project === b.project && isNamed;
}

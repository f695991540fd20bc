// The worktrees of sessions: which there are, to which directory each belongs, and which session uses it. A host keeps the records
// (see hosts/worktree-shell.ts); this is what we need to know while it is away.

import * as z from 'zod';
import type { Config } from '../core/config.ts';
import { createKeyedQueue } from '../core/keyed-queue.ts';
import { type Project, projectName } from '../core/project.ts';
import type { SessionName } from '../core/session-name.ts';
import { readJson, writeBestEffort } from '../home/atomic-write.ts';
import type { Home } from '../home/home.ts';
import {
  endWorktree,
  type FoundWorktree,
  findWorktrees,
  type MadeWorktree,
  makeWorktree,
  type WorktreeEnd,
  type WorktreeHost,
  worktreeDiff,
  worktreeReady,
} from '../hosts/run-worktree.ts';
import type { HostList } from '../tmux/host-list.ts';
import type { Session } from '../tmux/sessions.ts';
import type { SessionPlace } from './destination.ts';
import type { ThreadRecord } from './registry.ts';

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

/** A worktree that a session is about to start in. Nothing removes it before `release`. */
export interface PreparedWorktree extends MadeWorktree {
  /** The file that says when its set-up has run. */
  readonly record: string;
  readonly directory: string;
  ready(): Promise<void>;
  usedBy(thread: string, isSettingUp: boolean): void;
  release(): void;
}

export interface Worktrees {
  /** A session in one of our worktrees belongs to the directory from which the worktree was made. */
  originOf(place: SessionPlace): SessionPlace;
  /** Whether the directory is in the folder of worktrees, also if the worktree no longer exists. */
  isInside(place: SessionPlace): boolean;
  prepare(
    wanted: SessionPlace & { readonly session: SessionName; readonly project: Project | undefined },
  ): Promise<PreparedWorktree>;
  known(): readonly KnownWorktree[];
  ofThread(thread: string): KnownWorktree | undefined;
  /** The worktree that the session of this record is in, also if the session has another thread now. */
  ofRecord(record: ThreadRecord): KnownWorktree | undefined;
  /** Removes it if nothing would get lost, or if the user has seen what would (`anyway` is its print). */
  end(
    one: KnownWorktree,
    isUsed: () => Promise<boolean>,
    anyway?: string,
  ): Promise<WorktreeEnd | { readonly is: 'used' }>;
  /** Its session need not wait any longer. */
  ready(one: KnownWorktree): Promise<void>;
  diff(one: KnownWorktree): Promise<string | undefined>;
  /** For the panel and the command line: all worktrees on a host, with what is in them. Rejects if the host cannot be reached. */
  listWorktrees(host: string, look?: boolean): Promise<readonly FoundWorktree[]>;
}

interface WorktreesOptions {
  readonly home: Home;
  readonly config: Pick<Config, 'host'>;
  readonly hosts: HostList;
  /** The user's home directory on a host; undefined if the host was never reached. */
  readonly userHome: (host: string) => string | undefined;
}

const sameOne = (a: KnownWorktree, b: KnownWorktree) =>
  a.host === b.host && a.project === b.project && (a.name === b.name || (a.name === '' && a.session === b.session));

/** For a command that starts a session again while no bridge runs. */
export function loadWorktrees(home: Home): readonly KnownWorktree[] {
  return readJson(home.path('state', 'worktrees.json'), z.array(knownSchema)) ?? [];
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

const isWithin = (directory: string, path: string) => directory === path || directory.startsWith(`${path}/`);

export function openWorktrees({ home, config, hosts, userHome }: WorktreesOptions): Worktrees {
  const path = home.path('state', 'worktrees.json');
  let all = loadWorktrees(home);
  const inTurn = createKeyedQueue();
  const keyOf = (one: Pick<KnownWorktree, 'host' | 'project' | 'session'>) =>
    `${one.host} ${one.project} ${one.session}`;
  const on = (host: string): WorktreeHost => ({
    ...{ host: hosts.get(host), bridge: config.host },
    root: hosts.isLocal(host) ? home.root : '',
  });

  function keep(changed: readonly KnownWorktree[]): void {
    all = changed;
    home.folder('state');
    writeBestEffort(path, all);
  }
  const put = (one: KnownWorktree) =>
    keep([...all.filter((other) => !sameOne(other, one) && !sameOne(one, other)), one]);
  const forget = (one: KnownWorktree) => keep(all.filter((other) => !sameOne(one, other)));
  const find = ({ host, directory }: SessionPlace) =>
    all.find((one) => one.host === host && one.path !== '' && isWithin(directory, one.path));

  const ofThread = (thread: string) => all.findLast((one) => one.thread === thread);

  /** After a crash while it was made, only the host knows its name. */
  async function named(one: KnownWorktree): Promise<KnownWorktree | undefined> {
    if (one.name !== '') return one;
    const there = await findWorktrees(on(one.host), false);
    const found = there.findLast(({ project, session }) => project === one.project && session === one.session);
    if (found === undefined) {
      forget(one);
      return undefined;
    }
    const complete: KnownWorktree = {
      ...one,
      name: found.name,
      path: found.path,
      start: found.path,
      branch: found.branch,
    };
    put(complete);
    return complete;
  }

  async function ready(one: KnownWorktree): Promise<void> {
    await worktreeReady(on(one.host), one);
    const now = all.find((other) => sameOne(one, other));
    if (now?.isSettingUp) put({ ...now, isSettingUp: false });
  }

  async function make(wanted: Parameters<Worktrees['prepare']>[0], release: () => void): Promise<PreparedWorktree> {
    const { host, session, directory } = wanted;
    const project = wanted.project?.name || projectName(directory);
    const began: KnownWorktree = {
      ...{ host, project, session, directory },
      name: '',
      path: '',
      start: '',
      branch: '',
      thread: '',
      state: 'making',
      isSettingUp: false,
    };
    const before = all.find((one) => one.session === session && one.project === project && one.host === host);
    if (before === undefined) put(began);
    const made = await makeWorktree(on(host), { project, session, directory }).catch((error: unknown) => {
      if (before === undefined) forget(began);
      throw error;
    });
    const { name, path, start, branch } = made;
    let one: KnownWorktree = { ...began, name, path, start, branch, thread: before?.thread ?? '', state: 'open' };
    put(one);
    return {
      ...{ ...made, record: `${path}.record`, directory, release },
      ready: () => ready(one),
      usedBy(thread, isSettingUp) {
        one = { ...one, thread, isSettingUp };
        put(one);
      },
    };
  }

  return {
    originOf(place) {
      const one = find(place);
      return one === undefined ? place : { host: place.host, directory: one.directory };
    },
    isInside({ host, directory }) {
      const root = hosts.isLocal(host) ? home.root : `${userHome(host) ?? '~'}/.threadmux`;
      return find({ host, directory }) !== undefined || isWithin(directory, `${root}/worktrees`);
    },
    prepare(wanted) {
      const project = wanted.project?.name || projectName(wanted.directory);
      return new Promise((resolve, reject) => {
        // The turn ends when the session runs: the end of the one before waits until then.
        void inTurn(keyOf({ ...wanted, project }), () => {
          return new Promise<void>((release) => {
            make(wanted, release).then(resolve, (error: Error) => {
              release();
              reject(error);
            });
          });
        });
      });
    },
    known: () => all,
    ofThread,
    ofRecord({ thread, host, cwd }) {
      const one = ofThread(thread) ?? find({ host, directory: cwd });
      if (one === undefined || one.thread === thread) return one;
      put({ ...one, thread });
      return { ...one, thread };
    },
    end: (given, isUsed, anyway) =>
      inTurn(keyOf(given), async () => {
        const one = await named(all.find((other) => sameOne(given, other)) ?? given);
        if (one === undefined) return { is: 'gone' };
        if (await isUsed()) return { is: 'used' };
        const ended = await endWorktree(on(one.host), one, anyway);
        if (ended.is === 'kept' || ended.is === 'busy') put({ ...one, state: 'kept' });
        if (ended.is !== 'busy' && !(ended.is === 'kept' && ended.path !== '')) forget(one);
        return ended;
      }),
    ready,
    diff: (one) => worktreeDiff(on(one.host), one),
    listWorktrees: (host, look = true) => findWorktrees(on(host), look),
  };
}

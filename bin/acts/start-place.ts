// Where a session of the command line starts: in its directory, or in a worktree of its own. The set-up of a new worktree runs before
// the session starts, with its output on stderr.

import { stripVTControlCharacters } from 'node:util';
import { type Project, projectName } from '../../core/project.ts';
import type { SessionName } from '../../core/session-name.ts';
import { neutralise } from '../../core/untrusted-text.ts';
import { type MadeWorktree, makeWorktree, type WorktreeHost, worktreeReady } from '../../hosts/run-worktree.ts';
import { WORKTREE_SETUP } from '../../hosts/worktree-scripts.ts';
import { type KnownWorktree, loadWorktrees, newWorktree, noteWorktree } from '../../threads/known-worktree.ts';
import { listSessions } from '../../tmux/sessions.ts';
import type { SessionFinder } from '../find-session.ts';
import { printable, printNote, withProgress } from '../print.ts';

interface WantedPlace {
  readonly name: SessionName;
  readonly host: string;
  readonly directory: string | undefined;
  readonly project: Project | undefined;
  /** Whether it gets a worktree, if anything says so. */
  readonly worktree: boolean | undefined;
}

export async function takeStartPlace(wanted: WantedPlace, finder: SessionFinder): Promise<string | undefined> {
  const { name, host, directory = '~', project } = wanted;
  const isKept = ({ host, session, directory }: KnownWorktree) =>
    host === wanted.host && session === name && directory === wanted.directory;
  // One that was kept when the session ended is used again.
  if (!(wanted.worktree ?? loadWorktrees(finder.home).some(isKept))) return wanted.directory;
  const running = await withProgress(`connecting to ${host}`, listSessions(finder.hosts.tmux(host)));
  if (running.some((one) => one.name === name && !one.pane.dead)) return wanted.directory; // it is said, and gets no worktree
  const on = worktreeHostOf(host, finder);
  const of = project?.name || projectName(directory);
  const made = await withProgress(
    `making a worktree on ${host}`,
    makeWorktree(on, { project: of, session: name, directory }),
  );
  if (made.needsSetup) {
    if (project?.worktreeSetup !== undefined) await runSetup(made, project.worktreeSetup, on);
    await worktreeReady(on, made);
  }
  const { path, start, branch } = made;
  noteWorktree(finder.home, newWorktree({ host, project: of, session: name, directory, state: 'open' }, made));
  printNote(`${made.isNew ? 'Made' : 'Using'} the worktree ${printable(path)}, branch ${printable(branch)}.`);
  return start;
}

export function worktreeHostOf(host: string, { hosts, config, home }: SessionFinder): WorktreeHost {
  return { host: hosts.get(host), bridge: config.host, root: hosts.isLocal(host) ? home.root : '' };
}

/** The session starts also if it fails. */
async function runSetup({ start }: MadeWorktree, setup: string, { host }: WorktreeHost): Promise<void> {
  const run = host.start(WORKTREE_SETUP, [start, setup]);
  let end = '';
  run.stdout.on('data', (chunk: Buffer) => {
    const text = chunk.toString('utf8');
    end = (end + text).slice(-40);
    // The host is not trusted with the terminal.
    process.stderr.write(neutralise(stripVTControlCharacters(text.replace(/\0exit \d{1,3}\n$/, ''))));
  });
  const why = await run.ended;
  const code = /\0exit (\d{1,3})\n$/.exec(end)?.[1];
  if (code === '0') return;
  const how = code === undefined ? `was not completed: ${why}` : `failed with exit code ${code}`;
  printNote(`The set-up of the worktree ${how}. The session starts anyway.`);
}

// When a session ends, its worktree is removed if nothing would get lost. Otherwise it is kept, and the thread says what is in it,
// with buttons.

import { setTimeout as sleep } from 'node:timers/promises';
import { cutMessage, insideFence, neutralise, untrustedCode, untrustedText } from '../core/untrusted-text.ts';
import { button, type ComponentRow, type MessageDraft, row } from '../discord/messages.ts';
import type { WorktreeEnd, WorktreeWork } from '../hosts/run-worktree.ts';
import { type KnownWorktree, usesWorktree } from '../threads/known-worktree.ts';
import { postNotice } from '../threads/notices.ts';
import type { Shared } from '../threads/shared-services.ts';
import { listSessions } from '../tmux/sessions.ts';

const AGAIN_MS = 5 * 60_000;
/** A session that is being ended is still there for a moment. */
const PAUSES_MS = [1_000, 2_000, 5_000];

type EndTools = Pick<Shared, 'config' | 'hosts' | 'threads' | 'worktrees' | 'connections' | 'log' | 'remote'>;

/** Also finds those whose end was not noticed, after a crash or while a host was away. */
export function startWorktreeEnds(shared: EndTools): { close(): void } {
  const { threads, worktrees, log } = shared;
  const closing = new AbortController();
  const hasEnded = ({ thread }: KnownWorktree) => threads.registry.get(thread)?.closed !== false;

  async function ended(one: KnownWorktree): Promise<void> {
    const result = await endWhenUnused(one);
    log.info('a worktree', { host: one.host, project: one.project, session: one.session, is: result.is });
    const draft = endDraft(one, result);
    const rest = shared.connections.named(threads.registry.get(one.thread)?.server ?? '')?.rest;
    if (draft === undefined || rest === undefined) return;
    const print = result.is === 'kept' ? result.work.print : '';
    await postNotice(rest, one.thread, ['worktree', result.is, print, hour()], draft);
  }

  async function endWhenUnused(one: KnownWorktree) {
    for (const pause of PAUSES_MS) {
      await sleep(pause, undefined, { signal: closing.signal });
      const result = await worktrees.end(one, () => isUsed(one, shared));
      const isWaiting = result.is === 'used' || result.is === 'busy';
      if (!isWaiting || !hasEnded(one) || pause === PAUSES_MS.at(-1)) return result;
    }
    return { is: 'used' } as const;
  }

  /** A bridge was killed while the set-up ran: nobody would tell the session to start. */
  async function startInterrupted(one: KnownWorktree): Promise<void> {
    await worktrees.ready(one);
    const rest = shared.connections.named(threads.registry.get(one.thread)?.server ?? '')?.rest;
    if (rest === undefined) return;
    const content = '🌿 ⚠️ threadmux was restarted while the set-up of the worktree ran. The session starts anyway.';
    await postNotice(rest, one.thread, ['set-up interrupted', one.path], { content, silent: true });
  }

  const look = (one: KnownWorktree) =>
    void ended(one).catch((error: Error) => log.info('a worktree', { session: one.session, because: error.message }));
  const sweep = () => {
    for (const one of worktrees.known()) if (one.state !== 'kept' && hasEnded(one)) look(one);
  };
  /** Finds those that nobody knows any more, and those whose folder a user has removed. */
  const compare = (host: string) =>
    worktrees.compare(host).then(
      (gone) => gone.forEach(look),
      (error: Error) => log.info('the worktrees', { host, because: error.message }),
    );
  threads.registry.onChange((now, before) => {
    if (!now.closed && (before?.closed ?? true) && worktrees.known().some(({ thread }) => thread === ''))
      worktrees.ofRecord(now); // the command line made it, and did not know the thread
    const one = now.closed && before?.closed === false ? worktrees.ofRecord(now) : undefined;
    if (one !== undefined) look(one);
  });
  shared.remote.onNews((host, news) => void (news === 'reachable' && compare(host)));
  for (const host of shared.hosts.names()) void compare(host);
  const every = setInterval(sweep, AGAIN_MS);
  for (const one of worktrees.known().filter(({ isSettingUp }) => isSettingUp))
    startInterrupted(one).catch((error: Error) => log.warn('a worktree', { because: error.message }));
  sweep();
  return {
    close() {
      closing.abort();
      clearInterval(every);
    },
  };
}

/** Whether a session is in it; rejects if the host cannot be asked. */
export async function isUsed(one: KnownWorktree, { hosts }: Pick<Shared, 'hosts'>): Promise<boolean> {
  return usesWorktree(await listSessions(hosts.tmux(one.host)), one);
}

function hour(): number {
  return Math.floor(Date.now() / 3_600_000);
}

// What the thread says. Pure.

export const WORKTREE_TAP = 'tree';

const FILES_SHOWN = 10;

/** Undefined if there is nothing to say. */
export function endDraft(one: KnownWorktree, end: WorktreeEnd | { readonly is: 'used' }): MessageDraft | undefined {
  const where = `${untrustedCode(one.path)} on ${untrustedCode(one.host)}`;
  if (end.is === 'busy')
    return {
      content: `🌿 The worktree is kept, because ${untrustedCode(end.program)} still runs in it: ${where}`,
      components: [row(tap('Keep', 'keep', one.thread), tap('Remove it', 'end', one.thread))],
      silent: true,
    };
  if (end.is !== 'kept') return undefined;
  if (end.path === '')
    return {
      content: cutMessage(
        `🌿 The folder of the worktree is gone. The branch ${untrustedCode(end.branch)} is kept: it has ${workWords(end.work)}.`,
        2_000,
      ),
      silent: true,
    };
  const files = end.files === '' ? '' : `\n${fileList(end)}`;
  return {
    content: cutMessage(
      `🌿 The worktree is kept: it has ${workWords(end.work)}. It is in ${where}, branch ${untrustedCode(end.branch)}.${files}`,
      2_000,
    ),
    components: keptButtons(one.thread, end.work.print),
    silent: true,
  };
}

function fileList({ files, work }: Extract<WorktreeEnd, { is: 'kept' }>): string {
  const lines = files.split('\n').filter(Boolean);
  const more = work.changed - Math.min(lines.length, FILES_SHOWN);
  const shown = lines.slice(0, FILES_SHOWN).map((line) => neutralise(line.slice(0, 100)).slice(0, 100));
  return insideFence([...shown, ...(more > 0 ? [`… and ${more} more`] : [])].join('\n'));
}

function keptButtons(thread: string, print: string): readonly ComponentRow[] {
  const anyway = tap('Remove anyway', 'ask', thread, print, 'bad');
  return [row(tap('Keep', 'keep', thread), tap('Show the diff', 'diff', thread), ...(print === '' ? [] : [anyway]))];
}

export function reallyDraft(one: KnownWorktree, print: string): MessageDraft {
  return {
    content: `🌿 Remove ${untrustedCode(one.path)} with everything that is only there? This cannot be undone.`,
    components: [row(tap('Keep', 'keep', one.thread), tap('Remove it for good', 'anyway', one.thread, print, 'bad'))],
  };
}

function tap(label: string, act: string, thread: string, print = '', style?: 'bad') {
  const id = [WORKTREE_TAP, act, thread, ...(print === '' ? [] : [print])].join(':');
  return style === undefined ? button(label, id) : button(label, id, style);
}

const MOST_DOUBTS = 6;

/** Such as "3 changed files and 1 stash". */
export function workWords(
  { changed, commits, dropped, stashes, doubts }: WorktreeWork,
  quote: (text: string) => string = (text) => untrustedText(text, 100),
): string {
  const count = (n: number, one: string, many: string) => (n === 0 ? [] : [`${n} ${n === 1 ? one : many}`]);
  const parts = [
    ...count(changed, 'changed file', 'changed files'),
    ...count(commits, 'commit that is on no other branch', 'commits that are on no other branch'),
    ...count(dropped, 'commit that is on no branch', 'commits that are on no branch'),
    ...count(stashes, 'stash', 'stashes'),
  ];
  const last = parts.at(-1) ?? '';
  const counted = parts.length < 2 ? last : `${parts.slice(0, -1).join(', ')} and ${last}`;
  const why = doubts.slice(0, MOST_DOUBTS).map(quote).join('; ');
  if (counted === '') return `something that threadmux cannot judge (${why || 'it has just changed'})`;
  return why === '' ? counted : `${counted} (${why})`;
}

// Says in the thread of a declared session that it has ended without anybody wanting it, and what happens now.

import { formatDuration } from '../../core/duration.ts';
import { cutMessage, untrustedCode, untrustedHint } from '../../core/untrusted-text.ts';
import { button, type ComponentRow, row } from '../../discord/messages.ts';
import { screenBlock } from '../../threads/notices.ts';
import type { Registry } from '../../threads/registry.ts';
import { lookForExit, QUIT_HISTORY, quitReport } from '../../tmux/last-output.ts';
import { tmuxOn } from '../../tmux/tmux.ts';
import type { ServerParts } from '../bridge-options.ts';
import type { SessionRun, StartDecision } from './decide-start.ts';
import type { DeclaredPlace } from './declared-list.ts';
import type { DeclaredOptions } from './declared-parts.ts';
import type { HostPane } from './find-run.ts';

interface Ended {
  readonly place: DeclaredPlace;
  readonly next: StartDecision;
  readonly crashes: readonly number[];
}

export async function tellEnd(
  { place, pane, run, ...ended }: Ended & { readonly pane: HostPane | undefined; readonly run: SessionRun | undefined },
  parts: DeclaredOptions,
): Promise<void> {
  const session = pane ?? run;
  if (session !== undefined) closeQuietly(place, session, parts.threads.registry);
  const tmux = pane && tmuxOn(parts.hosts.get(pane.host), pane.socket);
  const seen = tmux && (await lookForExit(tmux, pane, QUIT_HISTORY).catch(() => undefined));
  const { lines } = seen === undefined ? { lines: '' } : quitReport(seen);
  const code = pane?.exitStatus;
  const how = pane === undefined ? ': its tmux session was closed' : code === undefined ? '' : ` (exit code ${code})`;
  const printed = lines === '' ? '' : `\n${screenBlock(lines)}`;
  say(`${untrustedCode(place.label)} ended unexpectedly${how}.`, printed, { place, ...ended }, parts);
}

/** Before the end is noticed elsewhere: it would be said twice, or although the session starts again. */
export function closeQuietly(
  { host }: DeclaredPlace,
  session: Parameters<Registry['ofSession']>[1],
  registry: Registry,
): void {
  const record = registry.ofSession(host, session);
  if (record !== undefined) registry.change(record.thread, { closed: true, state: 'ended' });
}

export function tellFailedStart(
  { error, ...ended }: Ended & { readonly error: unknown },
  parts: DeclaredOptions,
): void {
  say(`${untrustedCode(ended.place.label)} could not be started.`, `\n${untrustedHint(error)}`, ended, parts);
}

/** In its thread; if it never had one, in its channel. Nothing waits for it. */
function say(what: string, more: string, { place, next, crashes }: Ended, parts: DeclaredOptions): void {
  const content = cutMessage(`⚠️ ${what} ${outlook(place, next, crashes.length)}${more}`, 1_950);
  const components = next.do === 'give up' || next.do === 'nothing' ? [startButton(place)] : [];
  const said = { content, components, silent: next.do !== 'give up' };
  const where = lastThread(place, parts) ?? place.project.channel;
  parts
    .postNotice(where, ['crash', place.label, crashes.at(-1) ?? 0], said)
    .catch((error: Error) => parts.log.info('saying that a session has ended', { because: error.message }));
}

/** The newest one that it had. */
export function lastThread({ host, name }: DeclaredPlace, { threads, server }: ServerParts): string | undefined {
  return threads.registry
    .all()
    .filter((one) => one.server === server.name && one.host === host && one.sessionName === name && !one.deleted)
    .toSorted((a, b) => b.at - a.at)[0]?.thread;
}

function outlook({ label }: DeclaredPlace, next: StartDecision, count: number): string {
  switch (next.do) {
    case 'wait':
      return `It starts again in ${formatDuration(Math.max(1_000, next.until - Date.now()), 1)}.`;
    case 'start':
      return 'It starts again now.';
    case 'give up':
      return `That was the ${count}th time within an hour, so it stays ended. \`!start ${label}\` starts it.`;
    case 'nothing':
      return `\`!start ${label}\` starts it again.`;
  }
}

const START_DECLARED = 'start';

function startButton({ label }: Pick<DeclaredPlace, 'label'>): ComponentRow {
  return row(button(`Start ${label}`, `${START_DECLARED}:${label}`, 'good'));
}

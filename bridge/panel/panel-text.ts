// What a panel looks like as a message of Discord. Pure. The same rows are always the same message, so that nothing is edited without a reason.

import { untrustedCode, untrustedLine } from '../../core/untrusted-text.ts';
import type { ComponentRow, MessageDraft } from '../../discord/messages.ts';
import { button, shownLabel } from '../../discord/messages.ts';
import { stateInMessage } from '../../threads/session-state.ts';
import { bounded, STATE_SIGNS, WHY_NOT } from '../commands/sessions.ts';
import type { PanelRow, PanelView } from './panel-rows.ts';

/** Five rows of five. */
const MOST_BUTTONS = 25;
const MOST_OPTIONS = 25;
/** Discord allows 100 characters for the id of a button, and 100 for the value of an option; both also name the session. */
const LONGEST_LABEL = 80;

/** `linkOf`: the address of a thread. */
export function panelDraft({ rows, worktrees }: PanelView, linkOf: (thread: string) => string): MessageDraft {
  return { content: content(rows, worktrees.map(worktreeLine)), components: components(rows, linkOf), silent: true };
}

function content(rows: readonly PanelRow[], kept: readonly string[]): string {
  const lines = ['**Sessions**', ...rows.map(line)];
  if (rows.length === 0) lines.push('None yet. “New session” starts one.');
  if (kept.length > 0) lines.push('**Worktrees without a session**', ...kept);
  return bounded(lines, ': `!sessions`');
}

function line(row: PanelRow): string {
  const { label, thread, state, because, branch, context, at } = row;
  const tree = row.isWorktree ? ' (worktree)' : '';
  const what =
    state === undefined ? WHY_NOT[because ?? 'starting'] : `${stateInMessage(state, 80)} ${when(state.since)}`;
  const link = thread === undefined ? '' : ` <#${thread}>`;
  const parts = [
    `${STATE_SIGNS[state?.state ?? 'ended']} ${untrustedCode(label, 80)}${link} ${what}`,
    // The label names any other host.
    label.includes('@') ? undefined : untrustedLine(row.host, 60),
    row.agent,
    branch === undefined ? undefined : `⎇ ${untrustedCode(branch, 60)}${tree}`,
    row.model && untrustedLine(row.model, 60),
    context === undefined ? undefined : `${context}% context`,
    state === undefined || at === undefined ? undefined : `active ${when(at)}`,
  ];
  return parts.filter(Boolean).join(' · ');
}

function worktreeLine({ project, name, branch, host, thread }: PanelView['worktrees'][number]): string {
  const link = thread === '' ? '' : ` <#${thread}>`;
  return `🌿 ${untrustedCode(`${project}/${name}`, 80)}${link} · ⎇ ${untrustedCode(branch, 60)} · ${untrustedLine(host, 60)}`;
}

const when = (ms: number) => `<t:${Math.floor(ms / 1_000)}:R>`;

function components(rows: readonly PanelRow[], linkOf: (thread: string) => string): readonly ComponentRow[] {
  // Two tmux servers may have a session of one name, and Discord refuses a message with the same button twice.
  const firsts = new Map(rows.toReversed().map((one) => [one.label, one]));
  const named = rows.filter((one) => one.label.length <= LONGEST_LABEL && firsts.get(one.label) === one);
  const isStopped = ({ state, because }: PanelRow) => state === undefined && because !== 'starting';
  const stopped = named.filter(isStopped);
  const running = named.filter(({ state }) => state !== undefined);
  const general = [
    ...(stopped.length > 1 ? [button('Start all', 'start-all:', 'good')] : []),
    button('New session', 'new-session:', 'primary'),
  ];
  const each = named.flatMap((one) => {
    const open = one.thread === undefined ? [] : [openButton(one.thread)];
    if (isStopped(one)) return [button(`Start ${one.label}`, `start:${one.label}`, 'good'), ...open];
    return one.state !== undefined ? [button(`Stop ${one.label}`, `end:${stopValue(one)}`, 'bad'), ...open] : open;
  });
  if (each.length + general.length <= MOST_BUTTONS) return inRows([...each, ...general]);
  return [
    ...menu('start:', 'Start a session', stopped, ({ label }) => label),
    ...menu('end:', 'Stop a session', running, stopValue),
    ...inRows(general),
  ];

  function openButton(thread: string) {
    return { type: 2 as const, style: 5 as const, label: 'Open', url: linkOf(thread) };
  }
}

function stopValue({ session, label }: PanelRow): string {
  return `${session}:${label}`;
}

function inRows(
  buttons: readonly (ReturnType<typeof button> | { type: 2; style: 5; label: string; url: string })[],
): readonly ComponentRow[] {
  return Array.from({ length: Math.ceil(buttons.length / 5) }, (_, at) => ({
    type: 1 as const,
    components: buttons.slice(5 * at, 5 * at + 5),
  }));
}

/** If there are more than Discord shows, `!start` and `!kill` still work for the others. */
function menu(
  id: string,
  placeholder: string,
  rows: readonly PanelRow[],
  valueFor: (row: PanelRow) => string,
): readonly ComponentRow[] {
  if (rows.length === 0) return [];
  const options = rows.slice(0, MOST_OPTIONS).map((one) => ({ label: shownLabel(one.label), value: valueFor(one) }));
  return [{ type: 1, components: [{ type: 3, custom_id: id, placeholder, options }] }];
}

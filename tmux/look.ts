// Reads a pane's program, state and screen, all at the same moment.

import { randomBytes } from 'node:crypto';
import { ThreadmuxError } from '../core/errors.ts';
import { untrustedCode } from '../core/untrusted-text.ts';
import type { ShOptions } from '../hosts/host.ts';
import { isPaneId, type PaneRef } from './pane.ts';
import { asScript, readRow, rowFormat, type Tmux, unlessGone } from './tmux.ts';

export type LookResult = PaneLook | { readonly kind: 'gone' };

export interface PaneLook {
  readonly kind: 'pane';
  readonly serverPid: number;
  readonly panePid: number;
  readonly sessionName: string;
  readonly command: string;
  readonly path: string;
  readonly title: string;
  readonly dead: boolean;
  readonly exitStatus: number | undefined;
  /** The tmux mode, such as "copy-mode"; undefined if none. */
  readonly mode: string | undefined;
  readonly inputOff: boolean;
  readonly synchronized: boolean;
  readonly width: number;
  readonly height: number;
  readonly cursor: { readonly x: number; readonly y: number };
  /** Programs that draw their own cursor hide the terminal's. */
  readonly cursorShown: boolean;
  readonly historyLines: number;
  /** The ids of the last message whose text, and whose Enter, deliver.ts typed here. */
  readonly typed: { readonly text: string | undefined; readonly enter: string | undefined };
  /** When a key was pressed here last that was no part of a message (`Date.now`, to the second). */
  readonly pressedAt?: number | undefined;
  /** The lines of the screen, with `history` older ones first if requested. */
  readonly text: string;
  /** The same text with colours and other attributes as escape sequences. */
  readonly ansi: string;
}

const VARIABLES = [
  ...(['pane_id', 'pid', 'pane_pid', 'session_name', 'pane_current_command'] as const),
  ...(['pane_current_path', 'pane_title', 'pane_dead', 'pane_dead_status', 'pane_mode'] as const),
  ...(['pane_input_off', 'pane_synchronized', 'pane_width', 'pane_height'] as const),
  ...(['cursor_x', 'cursor_y', 'cursor_flag', 'history_size'] as const),
  ...(['@threadmux_text', '@threadmux_enter', '@threadmux_pressed'] as const),
];

interface LookOptions extends ShOptions {
  readonly history?: number;
  /** Keeps the spaces at the end of the coloured lines, which may have a background colour. */
  readonly wholeRows?: boolean;
}

export async function lookAtPane(tmux: Tmux, pane: PaneRef, options: LookOptions = {}): Promise<LookResult> {
  if (!isPaneId(pane.paneId)) return { kind: 'gone' };
  const { history = 0, wholeRows = false, ...call } = options;
  const mark = randomBytes(8).toString('hex'); // random, so that nothing on the screen can imitate it
  const printed = await tmux
    .script(
      LOOK,
      [
        pane.paneId,
        rowFormat(VARIABLES),
        mark,
        history > 0 ? `-${Math.trunc(history)}` : '0',
        wholeRows ? '-eN' : '-e',
      ],
      { doing: `look at pane ${pane.paneId}`, maxBytes: history > 0 ? HISTORY_BYTES : SCREEN_BYTES, ...call },
    )
    .catch(unlessGone(undefined));
  if (printed === undefined) return { kind: 'gone' };
  const seen = readLook(printed, mark, pane);
  return seen.kind === 'gone' || history > 0 ? seen : withinScreen(seen);
}

const MOST_CHARACTERS = 256 * 1024;
const MOST_ROWS = 1_000;

/** A hostile host may send megabytes as the text, and something else with colours. What reads the text is not meant for so much. */
function withinScreen(seen: PaneLook): PaneLook {
  const rows = seen.text
    .slice(-MOST_CHARACTERS)
    .split('\n')
    .slice(-MOST_ROWS - 1);
  return { ...seen, text: rows.join('\n') };
}

function readLook(printed: string, mark: string, pane: Pick<PaneRef, 'paneId' | 'serverPid'>): LookResult {
  const [line = '', text = '', ansi = ''] = printed.split(`\n${mark}\n`);
  const row = readRow(VARIABLES, line);
  if (row === undefined)
    throw new ThreadmuxError('tmux_failed', `tmux said of pane ${pane.paneId}: ${untrustedCode(line)}`);
  if (row.pane_id !== pane.paneId || Number(row.pid) !== pane.serverPid) return { kind: 'gone' };
  return { ...toFacts(row), text, ansi };
}

/** A large screen that has another colour in each cell has less. */
const SCREEN_BYTES = 8 * 2 ** 20;
const HISTORY_BYTES = 32 * 2 ** 20;

const LOOK = `t display-message -p -t "$1" "$2" \\; display-message -p "$3" \\; capture-pane -p -S "$4" -t "$1" \\; \\
  display-message -p "$3" \\; capture-pane -p "$5" -S "$4" -t "$1" \\; display-message -p "$3"`;

function toFacts(row: Readonly<Record<(typeof VARIABLES)[number], string>>): Omit<PaneLook, 'text' | 'ansi'> {
  return {
    kind: 'pane',
    serverPid: Number(row.pid),
    panePid: Number(row.pane_pid),
    sessionName: row.session_name,
    command: row.pane_current_command,
    path: row.pane_current_path,
    title: row.pane_title,
    dead: row.pane_dead === '1',
    exitStatus: row.pane_dead_status === '' ? undefined : Number(row.pane_dead_status),
    mode: row.pane_mode || undefined,
    inputOff: row.pane_input_off === '1',
    synchronized: row.pane_synchronized === '1',
    width: Number(row.pane_width),
    height: Number(row.pane_height),
    cursor: { x: Number(row.cursor_x), y: Number(row.cursor_y) },
    cursorShown: row.cursor_flag === '1',
    historyLines: Number(row.history_size),
    typed: { text: row['@threadmux_text'] || undefined, enter: row['@threadmux_enter'] || undefined },
    pressedAt: Number(row['@threadmux_pressed']) * 1_000 || undefined,
  };
}

// Looks at many panes at once: one list of all panes that costs little, and the screens of those that may have changed.

export interface ListedPane extends PaneRef {
  readonly sessionId: string;
  readonly group: string | undefined;
  readonly sessionName: string;
  /** The pane that the session shows. */
  readonly isActive: boolean;
  readonly dead: boolean;
  readonly command: string;
  /** Differs if the screen has changed, except for output within the second of `activityAt`. */
  readonly print: string;
  /** When the window last printed something; tmux counts in whole seconds. */
  readonly activityAt: number;
}

const LISTED = [
  ...(['pane_id', 'pid', 'pane_pid', 'session_id', 'session_group', 'session_name', 'window_active'] as const),
  ...(['pane_active', 'pane_dead', 'pane_current_command', 'window_activity', 'pane_in_mode', 'cursor_x'] as const),
  ...(['cursor_y', 'history_size', 'pane_width', 'pane_height'] as const),
];

/** A text for `readPaneList`. Without a running server it is empty. */
export function printPaneList(tmux: Tmux, options: ShOptions = {}): Promise<string> {
  return tmux
    .run(['list-panes', '-a', '-F', rowFormat(LISTED)], { doing: 'list the panes', ...options })
    .catch(unlessGone(''));
}

export function readPaneList(printed: string): readonly ListedPane[] {
  return printed.split('\n').flatMap((line) => {
    const row = readRow(LISTED, line);
    return row === undefined ? [] : [toListed(row)];
  });
}

/** A script that prints something else when a pane may show something else. It exits with 0 while somebody is attached. */
export function panesPrint(tmux: Pick<Tmux, 'host' | 'socket'>): [script: string, ...args: string[]] {
  return asScript(tmux, PRINT, `#{session_attached}\t${rowFormat(LISTED)}`);
}

const PRINT = `all=$(t list-panes -a -F "$1" 2>/dev/null)
printf '%s\\n' "$all"
case "
$all" in *'
'[1-9]*) ;; *) exit 1 ;; esac`;

function toListed(row: Readonly<Record<(typeof LISTED)[number], string>>): ListedPane {
  return {
    paneId: row.pane_id,
    serverPid: Number(row.pid),
    panePid: Number(row.pane_pid),
    sessionId: row.session_id,
    group: row.session_group || undefined,
    sessionName: row.session_name,
    isActive: row.window_active === '1' && row.pane_active === '1',
    dead: row.pane_dead === '1',
    command: row.pane_current_command,
    print: Object.values(row).join('\t'),
    activityAt: Number(row.window_activity) * 1_000,
  };
}

/** All with one script. The result has the same order. */
export async function lookAtPanes(
  tmux: Tmux,
  panes: readonly Pick<PaneRef, 'paneId' | 'serverPid'>[],
  options: ShOptions = {},
): Promise<readonly LookResult[]> {
  const mark = randomBytes(8).toString('hex');
  const wanted = panes.filter(({ paneId }) => isPaneId(paneId));
  const printed = await tmux
    .script(LOOK_AT_ALL, [mark, rowFormat(VARIABLES), ...wanted.map(({ paneId }) => paneId)], {
      doing: 'look at the panes',
      maxBytes: SCREEN_BYTES,
      ...options,
    })
    .catch(unlessGone(''));
  const blocks = printed.split(`${mark}next\n`);
  const seen = new Map(wanted.map((pane, at) => [pane, blocks[at] ?? '']));
  return panes.map((pane) => {
    const block = seen.get(pane) ?? '';
    const look = block === '' ? undefined : readLook(block, mark, pane);
    return look?.kind === 'pane' ? withinScreen(look) : { kind: 'gone' };
  });
}

/**
 * A pane that is gone prints nothing; if no server answers, the script fails. A program can fill its screen with millions of bytes of
 * attributes: such a screen is left out, because together they would be too much, and no pane would be seen.
 */
const LOOK_AT_ALL = `mark=$1; format=$2; shift 2
most=$((6000000 / ($# + 1))); [ $most -gt 100000 ] || most=100000
for pane do
  seen=$(t display-message -p -t "$pane" "$format" \\; display-message -p "$mark" \\; capture-pane -p -t "$pane" \\; \\
    display-message -p "$mark" \\; capture-pane -pe -t "$pane" \\; display-message -p "$mark" 2>/dev/null) &&
    { [ \${#seen} -le $most ] || seen=$(t display-message -p -t "$pane" "$format" \\; display-message -p "$mark" \\; display-message -p ' ' \\; \\
      display-message -p "$mark" \\; display-message -p ' ' \\; display-message -p "$mark" 2>/dev/null); } &&
    printf '%s\\n' "$seen" || t list-sessions >/dev/null || exit
  echo "\${mark}next"
done`;

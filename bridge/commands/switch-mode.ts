// Changes the permission mode of a running Claude with Shift-Tab, one press at a time: each press is followed by a look at
// the mode that the footer shows. Nothing is pressed while a dialog is open.

import { setTimeout as sleep } from 'node:timers/promises';
import type { PermissionMode } from '../../agents/claude/screen/box.ts';
import { describeScreen } from '../../agents/claude/screen/describe.ts';
import { type ClaudeScreen, DIALOG } from '../../agents/claude/screen/screen.ts';
import type { SessionSettings } from '../../core/session-settings.ts';
import type { FoundPane } from '../../threads/panes.ts';
import { readPane } from '../../threads/read-pane.ts';
import { pressKeys } from '../../tmux/keys.ts';
import { lookAtPane } from '../../tmux/look.ts';

type ModeName = NonNullable<SessionSettings['permissionMode']>;

/** The names of Claude Code's options for what its footer shows. */
const NAMES: Readonly<Record<PermissionMode, ModeName>> = {
  ...{ normal: 'default', plan: 'plan', acceptEdits: 'acceptEdits', auto: 'auto', dontAsk: 'dontAsk' },
  bypass: 'bypassPermissions',
};

/** Newer versions of Claude Code call the mode that asks for everything "manual". */
export const modeName = (mode: PermissionMode): string => (mode === 'normal' ? 'manual' : NAMES[mode]);

export type ModeSwitch =
  | { readonly is: 'done' }
  /** Shift-Tab does not lead to it; `now` is the mode after a full round. */
  | { readonly is: 'not-offered'; readonly now: PermissionMode }
  /** The footer cannot be read now; `because` is a sentence. */
  | { readonly is: 'hidden'; readonly because: string };

const MOST_PRESSES = 6;

/** What to do after these modes were seen, the first one before any press. */
export function modeStep(wanted: ModeName, seen: readonly PermissionMode[]): 'done' | 'press' | 'not-offered' {
  const now = seen.at(-1);
  if (now !== undefined && NAMES[now] === wanted) return 'done';
  const isRound = now !== undefined && seen.indexOf(now) < seen.length - 1;
  return isRound || seen.length > MOST_PRESSES ? 'not-offered' : 'press';
}

/** `order`: the id of the command. The keys get the ids that follow it. */
export async function switchMode(pane: FoundPane, wanted: ModeName, order: string): Promise<ModeSwitch> {
  const seen: PermissionMode[] = [];
  for (;;) {
    const shown = await shownMode(pane, seen.at(-1));
    if (shown.kind !== 'empty') return { is: 'hidden', because: describeScreen(shown) };
    seen.push(shown.mode);
    const step = modeStep(wanted, seen);
    if (step === 'done') return { is: 'done' };
    if (step === 'not-offered') return { is: 'not-offered', now: shown.mode };
    const guard = { pane: pane.record, command: undefined, dialog: DIALOG };
    const pressed = await pressKeys(pane.tmux, guard, String(BigInt(order) + BigInt(seen.length)), ['BTab']);
    if (pressed.kind === 'refused') return { is: 'hidden', because: 'Claude shows something else now.' };
  }
}

const LOOK_MS = 150;
const CHANGES_WITHIN_MS = 5_000;

/** Waits until two looks agree on a mode other than `before`. One look may catch a footer that is half drawn. */
async function shownMode({ tmux, record }: FoundPane, before: PermissionMode | undefined): Promise<ClaudeScreen> {
  const deadline = Date.now() + CHANGES_WITHIN_MS;
  for (let last: ClaudeScreen | undefined; ; await sleep(LOOK_MS)) {
    const { screen } = readPane(await lookAtPane(tmux, record), record);
    const isSame = screen.kind === last?.kind && modeOn(screen) === modeOn(last);
    const isNews = screen.kind !== 'empty' || screen.mode !== before;
    if ((isSame && isNews) || Date.now() > deadline) return screen;
    last = screen;
  }
}

const modeOn = (screen: ClaudeScreen): PermissionMode | undefined =>
  screen.kind === 'empty' ? screen.mode : undefined;

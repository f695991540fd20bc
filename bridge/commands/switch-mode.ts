// Changes the permission mode of a running agent with a key, one press at a time: each press is followed by a look at the mode
// that the screen shows. Nothing is pressed while a dialog is open.

import { setTimeout as sleep } from 'node:timers/promises';
import { describeScreen } from '../../agents/describe-screen.ts';
import type { AgentDriver, ModeKeys } from '../../agents/driver.ts';
import type { AgentScreen } from '../../agents/screen.ts';
import { screenFingerprint } from '../../agents/screen-fingerprint.ts';
import type { SessionSettings } from '../../core/session-settings.ts';
import type { FoundPane } from '../../threads/panes.ts';
import { readPane, stillNoDialog } from '../../threads/read-pane.ts';
import { pressKeys } from '../../tmux/keys.ts';
import { type LookResult, lookAtPane } from '../../tmux/look.ts';
import type { ShownScreens } from '../shown-screens.ts';

type ModeName = NonNullable<SessionSettings['permissionMode']>;

/** For people. The mode that asks for everything is called "manual". */
export function modeName(mode: string, { modes }: Pick<AgentDriver, 'modes'>): string {
  const name = modes?.names[mode] ?? mode;
  return name === 'default' ? 'manual' : name;
}

type ModeSwitch =
  | { readonly is: 'done' }
  /** The key does not lead to it; `now` is the mode after a full round. */
  | { readonly is: 'not-offered'; readonly now: string }
  /** The agent has not reacted to the last key, and may still take it, in a dialog that opens then. */
  | { readonly is: 'not-taken' }
  /** The mode cannot be read now; `because` is a sentence. `hasPressed`: the key was pressed before, so it is another one than it was. */
  | { readonly is: 'hidden'; readonly because: string; readonly hasPressed: boolean };

const MOST_PRESSES = 6;

/** What to do after these modes were seen, the first one before any press. */
export function modeStep(
  wanted: ModeName,
  seen: readonly string[],
  names: ModeKeys['names'],
): 'done' | 'press' | 'not-offered' | 'not-taken' {
  const now = seen.at(-1);
  if (now !== undefined && names[now] === wanted) return 'done';
  if (now !== undefined && now === seen.at(-2)) return 'not-taken';
  const isRound = now !== undefined && seen.indexOf(now) < seen.length - 1;
  return isRound || seen.length > MOST_PRESSES ? 'not-offered' : 'press';
}

interface WantedMode {
  readonly wanted: ModeName;
  /** The id of the command. The keys get the ids that follow it. */
  readonly order: string;
  readonly driver: AgentDriver;
  readonly keys: ModeKeys;
}

export async function switchMode(
  pane: FoundPane,
  { wanted, order, driver, keys }: WantedMode,
  screens: ShownScreens,
): Promise<ModeSwitch> {
  const { thread, paneId } = pane.record;
  const seen: string[] = [];
  for (;;) {
    const { screen: shown, look } = await shownMode(pane, seen.at(-1));
    if (shown.kind !== 'empty')
      return { is: 'hidden', because: describeScreen(shown, driver.title), hasPressed: seen.length > 0 };
    const print = look.kind === 'gone' ? '' : screenFingerprint(paneId, look, driver.screen);
    if (look.kind !== 'gone' && screens.isPending(thread, print, look.pressedAt) && seen.length === 0)
      return { is: 'not-taken' };
    seen.push(shown.mode);
    const step = modeStep(wanted, seen, keys.names);
    if (step === 'done') return { is: 'done' };
    if (step === 'not-taken') {
      screens.pressed(thread, { print, message: undefined });
      return { is: 'not-taken' };
    }
    if (step === 'not-offered') return { is: 'not-offered', now: shown.mode };
    // Once a key was pressed, it is in a mode between, and must not stay there.
    const works = shown.busy || (look.kind === 'pane' && keys.background.test(look.text));
    if (works && seen.length === 1)
      return { is: 'hidden', because: `${driver.title} is working, and ${BETWEEN}`, hasPressed: false };
    const still = look.kind === 'gone' ? {} : stillNoDialog(look, pane.record);
    const guard = { pane: pane.record, command: undefined, ...still };
    screens.pressed(thread, { print: undefined, message: undefined }); // a message waits: it would be answered in a mode between
    const pressed = await pressKeys(pane.tmux, guard, String(BigInt(order) + BigInt(seen.length)), [keys.key]);
    if (pressed.kind === 'refused')
      return { is: 'hidden', because: `${driver.title} shows something else now.`, hasPressed: seen.length > 1 };
  }
}

const BETWEEN =
  'the key leads through modes in which edits need no permission. Interrupt it with `!stop`, or wait until it is done.';

const LOOK_MS = 150;
const CHANGES_WITHIN_MS = 5_000;

interface ShownMode {
  readonly screen: AgentScreen;
  readonly look: LookResult;
}

/** Waits until two looks agree on a mode other than `before`. One look may catch a footer that is half drawn. */
async function shownMode({ tmux, record }: FoundPane, before: string | undefined): Promise<ShownMode> {
  const deadline = Date.now() + CHANGES_WITHIN_MS;
  for (let last: AgentScreen | undefined; ; await sleep(LOOK_MS)) {
    const look = await lookAtPane(tmux, record);
    const { screen } = readPane(look, record);
    const isSame = screen.kind === last?.kind && modeOn(screen) === modeOn(last);
    const isNews = screen.kind !== 'empty' || screen.mode !== before;
    if ((isSame && isNews) || Date.now() > deadline) return { screen, look };
    last = screen;
  }
}

const modeOn = (screen: AgentScreen): string | undefined => (screen.kind === 'empty' ? screen.mode : undefined);

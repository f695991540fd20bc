// Reads what the pane of a thread shows, with the driver of its agent.

import type { AgentDriver } from '../agents/driver.ts';
import { allDrivers, driverOf } from '../agents/list.ts';
import { isAtPrompt, isBelowAll } from '../agents/prompt-line.ts';
import type { AgentScreen } from '../agents/screen.ts';
import { hasDialog, readView } from '../agents/screen-fingerprint.ts';
import { screenParts } from '../agents/screen-parts.ts';
import { isShell } from '../agents/shell-name.ts';
import type { LookResult, PaneLook } from '../tmux/look.ts';
import type { PaneGuard } from '../tmux/pane.ts';
import type { ThreadRecord } from './registry.ts';

interface ReadPane {
  readonly screen: AgentScreen;
  /** Whether an agent runs there. */
  readonly isAgent: boolean;
  /** Of the agent that runs there; of the one that is expected if none does. */
  readonly driver: AgentDriver;
}

type KnownAgent = Pick<ThreadRecord, 'command' | 'shell' | 'claudeSession' | 'agent'>;

/** An agent without hooks is recognised by its screen, in any program but a shell. */
export function readPane(seen: LookResult, record: KnownAgent): ReadPane {
  const isAgent = record.shell === 'no';
  const expected = driverOf(record.agent);
  if (seen.kind === 'gone') return { screen: { kind: 'unknown' }, isAgent, driver: expected };
  if (record.claudeSession !== '' || record.shell === 'terminal')
    return { screen: screenOf(seen, record, expected), isAgent, driver: expected };
  // A shell shows whatever is printed in it, also the box of an agent around its own prompt: a message would run as a command.
  const possible = isShell(seen.command) ? [] : candidates(seen.command, expected);
  const recognised = possible
    .map((driver) => ({ screen: screenOf(seen, seen, driver), isAgent: true, driver }))
    .filter(({ screen }) => AGENT_SCREENS.includes(screen.kind) && !isElsewhere(seen, screen));
  // One agent takes the box of another for a dialog that it does not know.
  const sure = recognised.find(({ screen }) => screen.kind !== 'dialog' || screen.which !== 'unknown');
  return sure ?? recognised[0] ?? { screen: screenOf(seen, { command: '' }, expected), isAgent, driver: expected };
}

const AGENT_SCREENS: readonly AgentScreen['kind'][] = [
  ...(['empty', 'draft', 'menu', 'shellMode', 'dialog', 'agents', 'subagent', 'transcript', 'aside'] as const),
];

/** The prompt of a shell before a command looks like the arrow at an option, and more may look like the rest of a dialog. */
function isElsewhere(seen: PaneLook, screen: AgentScreen): boolean {
  if (screen.kind !== 'dialog' || allDrivers().some(({ programs }) => programs.includes(seen.command))) return false;
  return isAtPrompt(seen) || (screen.which === 'unknown' && isBelowAll(seen));
}

/** The one whose program runs alone knows its screen; otherwise the expected one is asked first. */
function candidates(command: string, expected: AgentDriver): readonly AgentDriver[] {
  const named = allDrivers().filter(({ programs }) => programs.includes(command));
  if (named.length > 0) return named;
  return [expected, ...allDrivers().filter((driver) => driver !== expected)];
}

export function screenOf(
  seen: LookResult & { kind: 'pane' },
  { command: agentCommand }: Pick<ThreadRecord, 'command'>,
  { screen }: Pick<AgentDriver, 'screen'>,
): AgentScreen {
  // tmux ends the last line with a newline, too.
  return screen.read(`${seen.ansi}\n`, {
    cursorX: seen.cursor.x,
    cursorY: seen.cursor.y,
    cursorShown: seen.cursorShown,
    width: seen.width,
    height: seen.height,
    paneDead: seen.dead,
    inMode: seen.mode !== undefined,
    title: seen.title,
    currentCommand: seen.command,
    agentCommand,
  });
}

const BOXES: readonly AgentScreen['kind'][] = ['empty', 'draft', 'menu', 'shellMode'];

/**
 * The agent whose box or dialog is shown, whatever program runs there: an agent may run inside a script, or in a terminal. One agent takes the
 * box of another for a dialog that it does not know.
 */
export function shownAgent(seen: PaneLook): Omit<ReadPane, 'isAgent'> | undefined {
  if (isAtPrompt(seen)) return undefined;
  const read = (view: PaneLook) => allDrivers().map((driver) => ({ driver, screen: readView(view, driver.screen) }));
  const isDialog = ({ screen }: { readonly screen: AgentScreen }) =>
    screen.kind === 'dialog' && screen.which !== 'unknown';
  const whole = read(seen).find((one) => isDialog(one) || BOXES.includes(one.screen.kind));
  return (
    whole ??
    screenParts(seen.text)
      .flatMap((part) => read(partOf(seen, part)))
      .find(isDialog)
  );
}

/** A program shows it beside something else. Only its words are known. */
function partOf(seen: PaneLook, text: string): PaneLook {
  const rows = text.split('\n');
  const width = Math.max(...rows.map((row) => row.length));
  return { ...seen, text, ansi: text, width, height: rows.length, cursor: { x: 0, y: 0 }, cursorShown: false };
}

/** What a key would reach. Ignores copy mode, because a key leaves it first. */
export function readForKeys(seen: PaneLook, record: KnownAgent): ReadPane {
  const read = readPane({ ...seen, mode: undefined }, record);
  const shown = read.isAgent ? undefined : shownAgent(seen);
  return shown === undefined ? read : { ...shown, isAgent: true };
}

type NoDialog = Required<Pick<PaneGuard, 'dialog' | 'shows'>>;

/**
 * What tmux checks at the moment of a key that is meant for a screen without a dialog: one may appear after the look. Not every dialog has
 * the line of `dialogLine`, but none shows the box.
 */
export function stillNoDialog(seen: PaneLook, record: KnownAgent): NoDialog {
  const read = readForKeys(seen, record);
  const still = noDialogOf(read, seen, '');
  // A document or log in another program may contain that line.
  return read.isAgent || !hasDialog(seen.text, read.driver.screen) ? still : { ...still, dialog: undefined };
}

/** `text`: what is typed. */
export function noDialogOf({ screen, driver }: Omit<ReadPane, 'isAgent'>, seen: PaneLook, text: string): NoDialog {
  const shows = BOXES.includes(screen.kind) ? driver.typing.boxLines(seen.text, text, seen) : [];
  return { dialog: driver.screen.dialogLine, shows };
}

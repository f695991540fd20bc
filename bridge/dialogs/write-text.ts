// Writes a text into the field of a dialog: only while exactly that dialog is open with its empty field in focus. The text comes
// first; Enter is a second step, after the field shows something and the dialog was checked again.

import type { AgentDialog } from '../../agents/screen.ts';
import { ThreadmuxError } from '../../core/errors.ts';
import { cleanInbound, guardForEnter } from '../../core/untrusted-text.ts';
import type { FoundPane } from '../../threads/panes.ts';
import { pasteInDialog } from '../../tmux/type-message.ts';
import type { FieldName } from './card-text.ts';
import {
  type Chosen,
  guardFor,
  highlight,
  highlighted,
  keyId,
  press,
  type SeenDialog,
  seeDialog,
  seeUntil,
} from './choose-option.ts';

export async function writeText(pane: FoundPane, print: string, into: FieldName, words: string): Promise<Chosen> {
  const text = fitting(words, into);
  if (text === '') throw new ThreadmuxError('bad_usage', 'the text is empty');
  const first = await seeDialog(pane);
  if (first?.print !== print) return { kind: 'changed' };
  const seen = typeof into === 'number' ? await highlight(pane, first, into) : first;
  if ('kind' in seen) return seen;
  if (fieldOf(seen, into) !== 'empty') return { kind: 'full' };
  const label = typeof into === 'number' ? seen.dialog.options[into]?.label : undefined;
  const guard = guardFor(pane.record, seen, label === undefined ? [] : [highlighted(label)]);
  const pasted = await pasteInDialog(pane.tmux, guard, keyId(), text);
  if (pasted.kind === 'refused') return { kind: 'changed' };
  const shown = await untilShown(pane, seen, into, text);
  if (shown === undefined) return { kind: 'written' };
  const done = into === 'login' ? 'The code was entered.' : text.slice(0, 200);
  const entered = await press(pane, shown, ['Enter'], done);
  return entered.kind === 'changed' ? { kind: 'written' } : entered;
}

/**
 * A code and a path are one line. In other fields, Enter after a backslash or `@name` would not submit, and an empty line would
 * look like the end of the option.
 */
function fitting(words: string, into: FieldName): string {
  const text = cleanInbound(words).trim();
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  if (into === 'login') return text.replace(/\s+/g, '');
  return into === 'add' ? text.replace(/\s+/g, ' ') : guardForEnter(lines.join('\n'));
}

function fieldOf({ dialog }: SeenDialog, into: FieldName) {
  return typeof into === 'number' ? dialog.options.find(({ selected }) => selected)?.field : dialog.field;
}

/** Undefined if the field shows nothing after a second, or the dialog is another one. */
async function untilShown(
  pane: FoundPane,
  { dialog: before }: SeenDialog,
  into: FieldName,
  text: string,
): Promise<SeenDialog | undefined> {
  const isSame = (seen: SeenDialog | undefined) => seen?.dialog.which === before.which;
  const isShown = (seen: SeenDialog | undefined) =>
    typeof into === 'number'
      ? seen !== undefined && hasText(seen.dialog, before, into, text)
      : seen?.dialog.field === 'full';
  const seen = await seeUntil(pane, (now) => !isSame(now) || isShown(now));
  return isSame(seen) && isShown(seen) ? seen : undefined;
}

/**
 * The same dialog, with something in the field: another one of its kind may have opened in the meantime, and Enter would answer that. A
 * long text may push the beginning off the screen; then the field must show ours.
 */
function hasText(dialog: AgentDialog, before: AgentDialog, into: number, text: string): boolean {
  const chosen = dialog.options.find(({ selected }) => selected);
  if (chosen === undefined || chosen.field === 'empty') return false;
  if (dialog.title === '' && before.title !== '')
    return chosen.field === 'full' && squashed(chosen.label).startsWith(squashed(text).slice(0, BEGINNING));
  // The lines of a long text may look like more options, below it.
  const above = ({ title, text, options }: AgentDialog) =>
    JSON.stringify([title, text, options.slice(0, into).map(({ label, about }) => [label, about])]);
  return above(dialog) === above(before) && dialog.options[into] === chosen;
}

const BEGINNING = 20;
const squashed = (text: string) => text.replace(/\s+/g, '');

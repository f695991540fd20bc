// threadmux outbox: what Claude said and nobody has read yet: letters that wait, and those that were set aside because
// the server refused them for good.

import { basename } from 'node:path';
import { ThreadmuxError } from '../../core/errors.ts';
import { neutralise } from '../../core/untrusted-text.ts';
import { readText } from '../../home/whole-file.ts';
import { readLetter } from '../../hooks/letter.ts';
import { type Outbox, openOutbox } from '../../hooks/outbox.ts';
import { openContext } from '../command-context.ts';
import { printJson, printNote, printText, table } from '../print.ts';
import { startCourier } from '../running.ts';

interface Flags {
  readonly json?: boolean;
}

interface Item {
  readonly id: string;
  readonly state: 'waiting' | 'aside';
  readonly event: string;
  readonly directory: string;
  readonly writtenAt: string;
  readonly path: string;
}

export function listOutbox(flags: Flags): void {
  const items = itemsOf(open());
  if (flags.json) return printJson({ letters: items });
  if (items.length === 0) return printNote('Nothing waits: every letter was delivered.');
  const rows = items.map(({ id, state, event, directory, writtenAt }) => [...[id, state, event, directory, writtenAt]]);
  printText(table(['LETTER', 'STATE', 'EVENT', 'DIRECTORY', 'WRITTEN'], rows));
}

export function showLetter(id: string, flags: Flags): void {
  const item = find(itemsOf(open()), id);
  const text = readText(item.path) ?? '';
  if (flags.json) printJson({ ...item, text });
  else printText(neutralise(text));
}

/** Without an id: all of them. What only waits is tried at once. */
export function retryLetters(id: string | undefined, flags: Flags): void {
  const outbox = open();
  const items = itemsOf(outbox);
  const chosen = id === undefined ? items : [find(items, id)];
  const back = chosen.filter(({ state, path }) => state === 'aside' && outbox.putBack(path));
  startCourier();
  if (flags.json) printJson({ putBack: back.map((item) => item.id), waiting: chosen.length });
  else if (chosen.length === 0) printNote('Nothing waits: every letter was delivered.');
  else
    printNote(
      `${chosen.length} to deliver, ${back.length} of them set aside before. \`threadmux logs -f\` tells what becomes of them.`,
    );
}

function open(): Outbox {
  return openOutbox(openContext('cli').home.folder('outbox'));
}

function itemsOf(outbox: Outbox): readonly Item[] {
  const waiting = outbox
    .boxes()
    .flatMap((box) =>
      outbox.letters(box).map((path) => ({ path, id: `${box}-${basename(path)}`, state: 'waiting' as const })),
    );
  const aside = outbox.aside().map((path) => ({ path, id: basename(path), state: 'aside' as const }));
  return [...waiting, ...aside].flatMap((one) => {
    const told = tryRead(one.path);
    return told === undefined ? [] : [{ ...one, ...told }];
  });
}

/** Undefined: delivered while we looked. */
function tryRead(path: string): Pick<Item, 'event' | 'directory' | 'writtenAt'> | undefined {
  try {
    const reading = readLetter(path);
    if (reading.kind !== 'letter') return { event: reading.kind, directory: '', writtenAt: '' };
    const { input, writtenAt } = reading.letter;
    return {
      event: input.hook_event_name,
      directory: input.cwd,
      writtenAt: new Date(writtenAt).toISOString(),
    };
  } catch {
    return undefined;
  }
}

function find(items: readonly Item[], id: string): Item {
  const item = items.find((one) => one.id === id);
  if (item !== undefined) return item;
  throw new ThreadmuxError('not_found', `there is no letter ${JSON.stringify(id)}`, {
    hint: '`threadmux outbox list` lists those there are.',
  });
}

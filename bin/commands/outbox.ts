// threadmux outbox: replies that are not delivered yet. A letter is waiting, or set aside because the server rejected it.

import { basename } from 'node:path';
import { ThreadmuxError } from '../../core/errors.ts';
import { neutralise } from '../../core/untrusted-text.ts';
import { readText } from '../../home/atomic-write.ts';
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
  if (items.length === 0) return printNote('The outbox is empty.');
  const rows = items.map(({ id, state, event, directory, writtenAt }) => [...[id, state, event, directory, writtenAt]]);
  printText(table(['LETTER', 'STATE', 'EVENT', 'DIRECTORY', 'WRITTEN'], rows));
}

export function showLetter(id: string, flags: Flags): void {
  const item = find(itemsOf(open()), id);
  const text = readText(item.path) ?? '';
  if (flags.json) printJson({ ...item, text });
  else printText(neutralise(text));
}

/** Without an id, all letters. Waiting letters are tried at once. */
export function retryLetters(id: string | undefined, flags: Flags): void {
  const outbox = open();
  const items = itemsOf(outbox);
  const chosen = id === undefined ? items : [find(items, id)];
  const back = chosen.filter(({ state, path }) => state === 'aside' && outbox.putBack(path));
  startCourier();
  if (flags.json) printJson({ putBack: back.map((item) => item.id), waiting: chosen.length });
  else if (chosen.length === 0) printNote('The outbox is empty.');
  else
    printNote(
      `Delivering ${chosen.length} letters, ${back.length} of them set aside before. Run \`threadmux logs -f\` to see the result.`,
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

/** Undefined if the letter was delivered in the meantime. */
function tryRead(path: string): Pick<Item, 'event' | 'directory' | 'writtenAt'> | undefined {
  try {
    const reading = readLetter(path);
    if (reading.kind !== 'letter') return { event: reading.kind, directory: '', writtenAt: '' };
    const { event, agent, writtenAt } = reading.letter;
    return {
      event: agent === 'claude' ? event.event : `${agent}: ${event.event}`,
      directory: event.cwd,
      writtenAt: new Date(writtenAt).toISOString(),
    };
  } catch {
    return undefined;
  }
}

function find(items: readonly Item[], id: string): Item {
  const item = items.find((one) => one.id === id);
  if (item !== undefined) return item;
  throw new ThreadmuxError('not_found', `no letter ${JSON.stringify(id)}`, {
    hint: 'Run `threadmux outbox list` to list the letters.',
  });
}

// Where a terminal's thread stands, on disk. Written only after everything it says was posted: whoever goes on from it
// repeats some work, but loses nothing.

import { open, rename } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import { readJson } from '../../home/whole-file.ts';
import { emulatorScreenSchema } from '../emulator/screen-state.ts';
import { positionSchema } from './log.ts';
import { storedTextSchema } from './text-store.ts';

const floodSchema = z.object({
  /** Of all that is not shown line by line. */
  lines: z.number(),
  /** Of those that were attached or, being too many, dropped. */
  before: z.number(),
  files: z.number(),
});
/** Lines that come too fast are counted, and attached in the end. */

const terminalStateSchema = z.object({
  position: positionSchema,
  emulator: z.object({
    size: z.object({ width: z.number(), height: z.number() }),
    screen: emulatorScreenSchema,
    inside: z.enum(['nothing', 'title', 'string', 'sequence']),
    marks: z.number().default(0),
    carry: z.string(),
    inLine: z.boolean(),
  }),
  text: storedTextSchema,
  /** Lines of the text so far. */
  lines: z.number(),
  /** Where in the text the first message that may still change begins. */
  from: z.number(),
  /** Messages that may still change. */
  open: z.array(z.object({ id: z.string(), content: z.string() })),
  /** How far from there messages end because somebody wrote between them, in characters. */
  cuts: z.array(z.number()).default([]),
  /** The newest message of ours; empty before the first. */
  last: z.string(),
  /** How many messages were posted. */
  posted: z.number(),
  flood: floodSchema.optional(),
  flooded: z.boolean(),
  /** All output is posted; only its end is to be told. */
  finished: z.boolean(),
});
export type TerminalState = Readonly<z.output<typeof terminalStateSchema>>;

export function loadTerminalState(folder: string): TerminalState | undefined {
  return readJson(join(folder, 'state.json'), terminalStateSchema);
}

/** Never blocks: with many terminals a disk that is slow would hold up everything else. */
export async function saveTerminalState(folder: string, state: TerminalState): Promise<void> {
  const temp = join(folder, '.state.tmp');
  const file = await open(temp, 'w', 0o600);
  try {
    await file.writeFile(`${JSON.stringify(state)}\n`);
    await file.datasync();
  } finally {
    await file.close();
  }
  await rename(temp, join(folder, 'state.json'));
}

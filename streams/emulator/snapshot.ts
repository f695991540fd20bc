// Everything an emulator needs to continue, as it is kept in the state of a terminal and passed between the processes.

import * as z from 'zod';

const sizeSchema = z.object({ width: z.number(), height: z.number() });
export type EmulatorSize = Readonly<z.output<typeof sizeSchema>>;

const gridSchema = z.object({
  /** One string per row; an empty cell is a NUL, the second half of a wide character is left out. */
  rows: z.array(z.string()),
  /** Rows that continue the line of the row above. */
  wrapped: z.array(z.number()),
  cursor: z.tuple([z.number(), z.number()]),
  /** The character that ends left of the cursor, and its width: the next character may join it. */
  before: z.tuple([z.string(), z.number()]),
});
export type Grid = z.output<typeof gridSchema>;

const byBuffer = z.object({
  normal: z.tuple([z.number(), z.number()]).optional(),
  alternate: z.tuple([z.number(), z.number()]).optional(),
});

const hiddenSchema = z.object({
  /** First and last row of the scroll region, counted from 1. */
  region: byBuffer,
  /** The cursor that the program saved. */
  saved: byBuffer,
  sets: z.tuple([z.string(), z.string()]),
  shifted: z.boolean(),
});
export type HiddenState = z.output<typeof hiddenSchema>;

const screenSchema = z.object({
  normal: gridSchema,
  alternate: gridSchema.optional(),
  modes: z.object({ insert: z.boolean(), origin: z.boolean(), wraparound: z.boolean() }),
  hidden: hiddenSchema,
});
export type EmulatorScreen = Readonly<z.output<typeof screenSchema>>;

export const snapshotSchema = z.object({
  size: sizeSchema,
  screen: screenSchema,
  /** What the filter is dropping up to its end: a title (a bell also ends it), another string, a sequence that is too long. */
  inside: z.enum(['nothing', 'title', 'string', 'sequence']),
  /** How many zero-width characters are at the end of what was fed. */
  marks: z.number().default(0),
  /** Bytes that were fed and are not shown yet: an incomplete character or sequence. Base64. */
  carry: z.string(),
  /** The text that left the screen ends within a line. */
  inLine: z.boolean(),
});
export type Snapshot = Readonly<z.output<typeof snapshotSchema>>;

// The last turn of a transcript of 1 MB, 100 MB and 1 GB: the cost must depend on the turn, not
// on the file.

import { closeSync, openSync, readFileSync, rmSync, statSync, writeSync } from 'node:fs';
import { readTurn } from '../dist/agents/claude/transcript/transcript.js';
import { conclude, measure, median, printTable, whole } from './support.mjs';

const ROUNDS = 60;
const LIMIT = 1.2;
const SIZES = [1, 100, 1_000].map((megabytes) => megabytes * 1_000_000);
/** A recorded turn with two tools and three texts. */
const LINES = readFileSync(new URL('../test/fixtures/claude/transcript.jsonl', import.meta.url), 'utf8')
  .split('\n')
  .slice(7, 18);

await measure(async ({ folder }) => {
  const files = SIZES.map((bytes) => ({ path: `${folder}/${bytes}.jsonl`, ms: [] }));
  try {
    for (const [at, { path }] of files.entries()) write(path, SIZES[at]);
    for (let round = -10; round < ROUNDS; round++)
      for (const { path, ms } of files) {
        const start = performance.now();
        const turn = await readTurn(path);
        const took = performance.now() - start;
        if (turn?.tools.length !== 2 || !turn.whole) throw new Error('this is not the last turn');
        if (round >= 0) ms.push(took); // the first rounds warm the caches
      }
    const [small] = files;
    printTable(`Reading the last turn, median of ${ROUNDS}, interleaved`, [
      ['', 'ms', 'of the smallest'],
      ...files.map(({ path, ms }) => [
        `${whole(statSync(path).size / 1_000_000)} MB`,
        median(ms).toFixed(2),
        `${(median(ms) / median(small.ms)).toFixed(2)} x`,
      ]),
    ]);
    conclude(
      `the last turn of a large transcript is read in ${LIMIT} times the time of a small one's`,
      files.every(({ ms }) => median(ms) <= LIMIT * median(small.ms)),
    );
  } finally {
    for (const { path } of files) rmSync(path, { force: true });
  }
});

/** Earlier turns up to the size, each with its own ids, then the last one. */
function write(path, bytes) {
  const turn = LINES.join('\n');
  const last = `${turn}\n`;
  const earlier = Array.from(
    { length: 20 },
    (_, n) => `${turn.replaceAll('c246dd8e', n.toString(16).padStart(8, '0'))}\n`,
  ).join('');
  const chunk = Buffer.from(earlier);
  const file = openSync(path, 'w');
  try {
    for (let written = 0; written < bytes; ) written += writeSync(file, chunk);
    writeSync(file, last);
  } finally {
    closeSync(file);
  }
}

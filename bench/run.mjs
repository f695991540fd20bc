// npm run bench: runs every measurement in this folder, one after the other, so that none disturbs
// another. Fails if one of them fails.

import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';

const NOT_MEASUREMENTS = ['run.mjs', 'support.mjs', 'pane-setup.mjs', 'program-setup.mjs', 'reply-setup.mjs'];

const folder = fileURLToPath(new URL('.', import.meta.url));
const measurements = readdirSync(folder)
  .filter((name) => name.endsWith('.mjs') && !NOT_MEASUREMENTS.includes(name))
  .sort();

console.log(`Node.js ${process.version}, ${process.platform} ${process.arch}, ${cpus().length} CPUs`);
const outcomes = measurements.map((name) => {
  const { status } = spawnSync(process.execPath, [`${folder}${name}`], { stdio: 'inherit' });
  return { name, failed: status !== 0 };
});

console.log('\nSummary');
for (const { name, failed } of outcomes) console.log(`  ${failed ? 'NOT OK' : 'ok'}  ${name}`);
process.exitCode = outcomes.some(({ failed }) => failed) ? 1 : 0;

// A program for a pane: records the exact bytes it receives in a file.
// usage: node raw-program.mjs <file> [what to show] [what to show once C-s was pressed]

import { appendFileSync, writeFileSync } from 'node:fs';

const [file, shows = '', stashed = ''] = process.argv.slice(2);
process.stdin.setRawMode(true);
process.stdin.on('data', (bytes) => {
  appendFileSync(file, bytes);
  if (stashed !== '' && bytes.includes(0x13)) process.stdout.write(`\r\n${stashed}\r\n`);
});
process.stdout.write(`\x1b[?2004h${shows}\r\nready\r\n`, () => writeFileSync(file, ''));

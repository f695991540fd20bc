// Runs the compiled wizard as the command line does: its flags as JSON, an error as a sentence and an exit code.

import { runInit } from '../../dist/bin/init.js';
import { explain } from '../../dist/core/errors.js';
import { exitCodeOf } from '../../dist/core/exit-codes.js';

runInit(JSON.parse(process.argv[2] ?? '{}')).catch((error) => {
  process.stderr.write(`threadmux: ${explain(error)}\n`);
  process.exit(exitCodeOf(error));
});

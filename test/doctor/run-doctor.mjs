// Runs the compiled doctor as the command line does: its flags as JSON.

import { runDoctor } from '../../dist/bin/doctor.js';

await runDoctor(JSON.parse(process.argv[2] ?? '{}'));

// Nearly every file is synced when it is written, and tests would mostly wait for the disk. What a killed process has
// written stays without that; only a power cut needs it.

import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

fs.fsyncSync = () => {};
for (const name of ['fsync', 'fdatasync']) fs[name] = (_, done) => setImmediate(done, null);
syncBuiltinESMExports();

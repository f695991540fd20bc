// Nearly every written file is synced, and tests would mostly wait for the disk. Files of a killed process survive
// without a sync; only a power failure needs it.

import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

fs.fsyncSync = () => {};
for (const name of ['fsync', 'fdatasync']) fs[name] = (_, done) => setImmediate(done, null);
syncBuiltinESMExports();

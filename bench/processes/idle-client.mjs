// Our client, connected and idle.

import { openClient } from './client.mjs';

await openClient({ env: process.env });

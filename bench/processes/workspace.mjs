// A workspace in a process of its own, so that its memory and its work are nobody else's.

import { startWorkspace } from '../../dist/workspace/server.js';
import { asDiscord } from '../../test/support/as-discord.mjs';
import { openBotPort } from '../../test/support/outside.mjs';

const { inspection, gateway } = asDiscord();
const workspace = await startWorkspace({ dir: process.argv[2], inspection });
process.on('message', () => process.send({ connected: gateway.connected }));
process.on('disconnect', () => process.exit());
const { api } = await openBotPort(workspace.api); // discord.js, which we are compared with, knows only TCP
const { token, channelId, userId } = workspace;
process.send({ api, token, channelId, userId });

// A workspace in its own process, so that its memory and its work are measured separately.

import { startWorkspace } from '../../dist/workspace/server.js';
import { asDiscord } from '../../test/support/as-discord.mjs';
import { openBotPort } from '../../test/support/workspace-access.mjs';

const { inspection, gateway } = asDiscord();
const workspace = await startWorkspace({ dir: process.argv[2], inspection });
process.on('message', () => process.send({ connected: gateway.connected }));
process.on('disconnect', () => process.exit());
const { api } = await openBotPort(workspace.api); // discord.js, which we compare with, only supports TCP
const { token, channelId, userId } = workspace;
process.send({ api, token, channelId, userId });

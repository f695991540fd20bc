// A discord.js client that is logged in with the intents of the bridge, and does nothing.

import { Client, GatewayIntentBits } from 'discord.js';

const { DISCORD_API_BASE, DISCORD_BOT_TOKEN } = process.env;

const client = new Client({
  intents: [
    GatewayIntentBits.Guilds,
    GatewayIntentBits.GuildMessages,
    GatewayIntentBits.GuildMessageReactions,
    GatewayIntentBits.MessageContent,
  ],
  rest: { api: DISCORD_API_BASE.replace(/\/v10$/, ''), version: '10' },
});
await client.login(DISCORD_BOT_TOKEN);

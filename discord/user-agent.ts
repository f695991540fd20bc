// Discord's edge refuses clients that do not name themselves in this form.

import { VERSION } from '../core/version.ts';

export const USER_AGENT = `DiscordBot (https://www.npmjs.com/package/threadmux, ${VERSION})`;

// The first message of a session's thread: what this is, how to talk, where it runs.

import { neutralise } from './neutralise.ts';

export interface WelcomeFacts {
  readonly session: string;
  readonly host: string;
  readonly cwd: string;
}

export function welcomeText({ session, host, cwd }: WelcomeFacts): string {
  return [
    `**${code(session)}** on ${code(host)}, in ${code(cwd)}`,
    'Write here and it is typed into the session: 👀 typed, ✅ submitted, 📨 waiting, ⚠️ failed.',
    'Commands: `!screen` what it shows · `!stop` interrupt · `!sessions` all sessions · `!help` the rest.',
  ].join('\n');
}

/** As code, and with nothing in it that could end the code. */
function code(text: string): string {
  return `\`${neutralise(text).replaceAll('`', "'").slice(0, 200)}\``;
}

// The first message of a thread: what it is connected to, where that runs, and how to use it. It is shown in the channel, too, so
// it never says "here".

import { untrustedCode } from './untrusted-text.ts';

interface WelcomeFacts {
  readonly session: string;
  readonly host: string;
  readonly cwd: string;
}

export function welcomeText({ session, host, cwd }: WelcomeFacts): string {
  return [
    `**${untrustedCode(session)}** on ${untrustedCode(host)}, in ${untrustedCode(cwd)}`,
    'What you write in its thread is typed into the session: 👀 typed, ✅ submitted, 📨 waiting, ⚠️ failed.',
    'Commands: `!screen` shows its screen · `!stop` interrupts it · `!sessions` lists all sessions · `!help` shows the rest.',
  ].join('\n');
}

interface StreamFacts {
  readonly kind: 'terminal' | 'agent';
  readonly name: string;
  readonly host: string;
  readonly dir: string;
  readonly asked: string;
}

export function streamWelcome({ kind, name, host, dir, asked }: StreamFacts): string {
  const where = `**${untrustedCode(name)}** on ${untrustedCode(host)}, in ${untrustedCode(dir)}`;
  if (kind === 'terminal')
    return [
      `${where}: ${untrustedCode(asked)}`,
      'Its output appears in its thread, and what you write there goes to its input. `!c` presses Ctrl-C, `!key` other keys.',
      'Commands: `!screen` shows its screen · `!done` ends it and archives this thread · `!status` lists all · `!help` shows the rest.',
    ].join('\n');
  return [
    `${where}: Claude, without a terminal`,
    'What you write in its thread is its next prompt, in the same conversation. Prompts run one at a time; later ones wait.',
    'Commands: `!stop` ends the running prompt · `!new` starts a new conversation · `!done` ends it and archives this thread · `!status` lists all · `!help` shows the rest.',
  ].join('\n');
}

// The first message of a session's thread: what this is, how to talk, where it runs.

import { code } from './outside-words.ts';

interface WelcomeFacts {
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

interface StreamFacts {
  readonly kind: 'terminal' | 'agent';
  readonly name: string;
  readonly host: string;
  readonly dir: string;
  readonly asked: string;
}

export function streamWelcome({ kind, name, host, dir, asked }: StreamFacts): string {
  const where = `**${code(name)}** on ${code(host)}, in ${code(dir)}`;
  if (kind === 'terminal')
    return [
      `${where}: ${code(asked)}`,
      'What it prints appears here; what you write goes to its input. `!c` presses Ctrl-C, `!key` other keys.',
      'Commands: `!screen` what it shows · `!done` end it and archive · `!status` all of them · `!help` the rest.',
    ].join('\n');
  return [
    `${where}: Claude, without a terminal`,
    'What you write is its next prompt, and it remembers the earlier ones; one at a time, later ones wait.',
    'Commands: `!stop` end what runs · `!new` forget and start afresh · `!done` end it and archive · `!status` all of them · `!help` the rest.',
  ].join('\n');
}

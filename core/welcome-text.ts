// The first message of a thread: what it is connected to, where that runs, and how to use it. Discord shows it in the
// channel, too, so it never says "here".

import type { SessionSettings } from './session-settings.ts';
import { untrustedCode } from './untrusted-text.ts';

export interface WelcomeFacts {
  readonly session: string;
  readonly host: string;
  readonly cwd: string;
  readonly repository?: { readonly name: string; readonly branch: string } | undefined;
  readonly settings?: SessionSettings;
  /** The agent that runs there, what it cannot do, and what it cannot do in this start only; undefined if it is not known. */
  readonly agent?: { readonly title: string; readonly notes: readonly string[]; readonly weaker?: string } | undefined;
}

export function welcomeText({ session, host, cwd, repository, settings = {}, agent }: WelcomeFacts): string {
  const { model, permissionMode: mode } = settings;
  const more = [
    ...(agent === undefined ? [] : [agent.title]),
    ...(repository === undefined ? [] : [repositoryText(repository)]),
    ...(model === undefined ? [] : [`model ${untrustedCode(model)}`]),
    ...(mode === undefined ? [] : [`${mode === 'default' ? 'manual' : mode} mode`]),
  ];
  return [
    [`${untrustedCode(session)} on ${untrustedCode(host)}, in ${untrustedCode(cwd)}`, ...more].join(' · '),
    'What you write in its thread is typed into the session: 👀 typed, ✅ submitted, 📨 waiting, ⚠️ failed.',
    ...noteLines(agent),
    'Commands: `!screen` shows its screen · `!stop` interrupts it · `!sessions` lists all sessions · `!help` shows the rest.',
  ].join('\n');
}

function noteLines(agent: WelcomeFacts['agent']): readonly string[] {
  const { title = '', notes = [], weaker = '' } = agent ?? {};
  return [
    ...(notes.length === 0 ? [] : [`-# ${title}: ${notes.join('; ')}.`]),
    ...(weaker === '' ? [] : [`-# ${weaker}`]),
  ];
}

export function repositoryText({ name, branch }: NonNullable<WelcomeFacts['repository']>): string {
  return `${untrustedCode(name, 100)}, branch ${untrustedCode(branch, 100)}`;
}

interface StreamFacts {
  readonly kind: 'terminal' | 'agent';
  readonly name: string;
  readonly host: string;
  readonly dir: string;
  readonly asked: string;
  /** The headless agent, and what it cannot do. */
  readonly agent?: WelcomeFacts['agent'];
}

export function streamWelcome({ kind, name, host, dir, asked, agent }: StreamFacts): string {
  const where = `${untrustedCode(name)} on ${untrustedCode(host)}, in ${untrustedCode(dir)}`;
  if (kind === 'terminal')
    return [
      `${where}: ${untrustedCode(asked)}`,
      'Its output appears in its thread, and what you write there goes to its input. `!c` presses Ctrl-C, `!key` other keys.',
      'Commands: `!screen` shows its screen · `!done` ends it and archives its thread · `!status` lists all · `!help` shows the rest.',
    ].join('\n');
  return [
    `${where}: ${agent?.title ?? 'an agent'}, without a terminal`,
    'What you write in its thread is its next prompt, in the same conversation. Prompts run one at a time; later ones wait.',
    ...noteLines(agent),
    'Commands: `!stop` ends the running prompt · `!new` starts a new conversation · `!done` ends it and archives its thread · `!status` lists all · `!help` shows the rest.',
  ].join('\n');
}

// The same commands as slash commands, with autocomplete, and /claude for the commands of Claude Code.

import { setTimeout as sleep } from 'node:timers/promises';
import { driverOf } from '../../agents/list.ts';
import type { SlashCommand } from '../../agents/slash-command.ts';
import { labelOf } from '../../core/session-name.ts';
import { SETTING_KEYS } from '../../core/session-settings.ts';
import { neutralise } from '../../core/untrusted-text.ts';
import type { Interaction, SlashCommandList, Suggestion } from '../../discord/interactions.ts';
import type { CommandContext } from './command.ts';
import { COMMANDS } from './commands.ts';
import { findOurSessions } from './sessions.ts';
import { settingWords, THREAD_SETTINGS } from './set.ts';

const STRING = 3 as const;
const BOOLEAN = 5 as const;

type Option =
  | {
      readonly name: string;
      readonly description: string;
      readonly required?: boolean;
      readonly autocomplete?: boolean;
    }
  | { readonly type: typeof BOOLEAN; readonly name: string; readonly description: string };

const OPTIONS: Readonly<Record<string, readonly Option[]>> = {
  new: [
    { name: 'name', description: 'Name of the session' },
    { name: 'host', description: 'Where to start it', autocomplete: true },
    { name: 'directory', description: 'Where it works, such as ~/shop' },
    { name: 'command', description: 'What to start instead of an agent' },
    { name: 'model', description: 'Model, such as opus', autocomplete: true },
    { name: 'mode', description: 'Permission mode, such as plan', autocomplete: true },
    { name: 'agent', description: 'Agent, such as claude or codex', autocomplete: true },
    { name: 'worktree', description: 'Work in a new git worktree', type: BOOLEAN },
    { name: 'continue', description: 'Continue the newest conversation', type: BOOLEAN },
    { name: 'prompt', description: 'The first message' },
  ],
  set: [
    { name: 'setting', description: 'model, mode or progress; default: list all', autocomplete: true },
    { name: 'value', description: 'The new value, or "default" to remove it', autocomplete: true },
  ],
  export: [{ name: 'name', description: 'Session; default: that of this thread', autocomplete: true }],
  kill: [{ name: 'name', description: 'Exact name of the session', required: true, autocomplete: true }],
  start: [{ name: 'name', description: 'Name of a declared session', autocomplete: true }],
  'stop-session': [{ name: 'name', description: 'Name of a declared session', autocomplete: true }],
  key: [{ name: 'key', description: 'Keys, such as Down Enter', required: true }],
  terminal: [
    { name: 'dir', description: 'Where to run it', required: true, autocomplete: true },
    { name: 'command', description: 'The command line', required: true },
  ],
  agent: [
    { name: 'dir', description: 'Where the agent works', required: true, autocomplete: true },
    { name: 'prompt', description: 'What to do', required: true },
    { name: 'agent', description: 'Agent, such as claude or codex', autocomplete: true },
    {
      name: 'skip-permissions',
      description: 'Do not ask for permission, where the configuration allows it',
      type: BOOLEAN,
    },
  ],
  done: [{ name: 'name', description: 'Which one; default: the one of this thread', autocomplete: true }],
  at: [
    { name: 'when', description: '18:30, tomorrow 9:00, 2026-12-24 09:00 or +20m', required: true },
    { name: 'message', description: 'What is sent then', required: true },
  ],
  every: [
    { name: 'when', description: 'weekday 9:00, day 18:00, monday 8:30 or 2h', required: true },
    { name: 'message', description: 'What is sent each time', required: true },
  ],
  schedule: [{ name: 'cancel', description: 'The number of a scheduled message; default: list them' }],
  retry: [{ name: 'message', description: 'Id of the message; default: the last failed one' }],
  sh: [{ name: 'command', description: 'The command line', required: true }],
  screen: [{ name: 'as', description: 'text (fits a phone) or image', autocomplete: true }],
  claude: [
    { name: 'command', description: 'A command of the agent, or one of yours', required: true, autocomplete: true },
    { name: 'arguments', description: 'What follows the command' },
  ],
};

/** Discord has no other way to write "/compact": there, a text that begins with "/" is a command of a bot. */
export const CLAUDE_COMMAND = 'claude';

export const SLASH_COMMANDS: SlashCommandList = [
  ...COMMANDS,
  { name: CLAUDE_COMMAND, about: 'run a command of the agent itself, such as /compact, or one of yours' },
].map(({ name, about }) => ({
  name,
  description: about.replaceAll('`', '').slice(0, 100),
  ...(OPTIONS[name] === undefined ? {} : { options: OPTIONS[name].map(typed) }),
}));

function typed(option: Option) {
  return 'type' in option ? option : { type: STRING, ...option };
}

function optionOf({ data }: Interaction, name: string): string {
  return String(data?.options.find((option) => option.name === name)?.value ?? '').trim();
}

/** The text that follows "!name" in a message. */
export function restOf(interaction: Interaction): string {
  const value = (name: string) => optionOf(interaction, name);
  switch (interaction.data?.name) {
    case 'new': {
      const command = value('command');
      const given = ['model', 'mode', 'agent'].filter((name) => value(name) !== '');
      const on = ['worktree', 'continue'].filter((name) => value(name) === 'true');
      return [
        ...[value('name'), value('host'), quoted(value('directory'))],
        ...given.map((name) => `--${name}=${value(name).replace(/\s+/g, '-')}`),
        ...on.map((name) => `--${name}`),
        command === '' ? '' : `-- ${command}`,
        value('prompt') === '' ? '' : `--prompt ${value('prompt')}`,
      ]
        .filter(Boolean)
        .join(' ');
    }
    case 'set':
      return `${value('setting')} ${value('value')}`.trim();
    case CLAUDE_COMMAND:
      return `/${value('command').replace(/^\/+/, '')} ${value('arguments')}`.trim();
    case 'at':
    case 'every':
      return `${value('when')} ${value('message')}`;
    case 'schedule':
      return value('cancel') === '' ? '' : `cancel ${value('cancel')}`;
    case 'key':
      return value('key');
    case 'screen':
      return value('as');
    case 'retry':
      return value('message');
    case 'sh':
      return value('command');
    case 'terminal':
      return `${JSON.stringify(value('dir'))} ${value('command')}`;
    case 'agent': {
      const skip = value('skip-permissions') === 'true' ? '--skip-permissions ' : '';
      const agent = value('agent') === '' ? '' : `--agent ${value('agent')} `;
      return `${JSON.stringify(value('dir'))} ${agent}${skip}${value('prompt')}`;
    }
    default:
      return value('name');
  }
}

function quoted(directory: string): string {
  return /\s/.test(directory) ? `"${directory.replaceAll('"', '')}"` : directory;
}

const DEADLINE_MS = 1_500;

/** A slow or unreachable host must not delay the suggestions of others. */
export async function suggestions(interaction: Interaction, context: CommandContext): Promise<readonly Suggestion[]> {
  const focused = interaction.data?.options.find((option) => option.focused);
  const begun = String(focused?.value ?? '').toLowerCase();
  if (interaction.data?.name === CLAUDE_COMMAND)
    return focused?.name === 'command' ? claudeCommands(begun, interaction.channel_id ?? '', context) : [];
  const setting = focused?.name === 'value' ? optionOf(interaction, 'setting') : '';
  const option = setting || (focused?.name ?? '');
  const names = await namesFor(option, String(focused?.value ?? ''), interaction.data?.name ?? '', context);
  return names
    .filter((name) => focused?.name === 'dir' || name.toLowerCase().includes(begun))
    .map((name) => ({ name: neutralise(name), value: name }));
}

async function namesFor(option: string, begun: string, command: string, context: CommandContext) {
  if (option === 'dir') return context.directories.names(begun);
  if (option === 'host') return context.hosts.names();
  if (option === 'as') return ['text', 'image'];
  if (option in SETTING_KEYS) return [...settingWords(option, context), ...(command === 'set' ? ['default'] : [])];
  if (option === 'setting') return THREAD_SETTINGS;
  if (command === 'start' || command === 'stop-session') return context.declared.all().map(({ label }) => label);
  const streams = context.streams.all().map((stream) => stream.record().name);
  return command === 'done' ? streams : [...new Set([...streams, ...(await sessionNames(context))])];
}

/** Each as "/name · owner · what it does"; the page shows the parts in its menu. */
async function claudeCommands(begun: string, thread: string, context: CommandContext): Promise<readonly Suggestion[]> {
  const record = context.threads.registry.get(thread);
  if (record === undefined) return []; // not the thread of a session
  const builtin = driverOf(record.agent).commands?.builtin ?? [];
  const late = sleep<readonly SlashCommand[]>(DEADLINE_MS, [], { ref: false });
  const own = await Promise.race([context.slash.own(thread), late]);
  const only = context.config.slashCommands;
  const word = begun.replace(/^\/+/, '');
  const all = [...own, ...builtin].filter(({ name }) => only === undefined || only.includes(`/${name}`));
  const begins = ({ name, aliases = [] }: SlashCommand) => [name, ...aliases].some((one) => one.startsWith(word));
  const found = [...all.filter(begins), ...all.filter((one) => !begins(one) && one.name.includes(word))];
  return found.map(({ name, owner, about }) => ({
    name: `/${name} · ${owner} · ${neutralise(about)}`,
    value: `/${name}`,
  }));
}

async function sessionNames(context: CommandContext): Promise<readonly string[]> {
  const { hosts, config } = context;
  const lists = hosts.names().map(async (host) => {
    const found = await findOurSessions(host, context, DEADLINE_MS).catch(() => []);
    return found.map(({ session }) => labelOf({ name: session.name, host }, config));
  });
  const late = sleep<readonly string[]>(DEADLINE_MS, [], { ref: false });
  return (await Promise.all(lists.map((list) => Promise.race([list, late])))).flat();
}

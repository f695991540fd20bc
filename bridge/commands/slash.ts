// The same commands as slash commands, with autocomplete.

import type { Interaction, SlashCommandList } from '../../discord/interactions.ts';
import type { CommandContext } from './command.ts';
import { COMMANDS } from './commands.ts';
import { findOurSessions } from './sessions.ts';

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
    { name: 'name', description: 'Name of the session; without one, this headless agent restarts' },
    { name: 'host', description: 'Where to start it', autocomplete: true },
    { name: 'directory', description: 'Where it works, such as ~/shop' },
    { name: 'command', description: 'What to start instead of Claude' },
  ],
  kill: [{ name: 'name', description: 'Exact name of the session', required: true, autocomplete: true }],
  key: [{ name: 'key', description: 'Keys, such as Down Enter', required: true }],
  terminal: [
    { name: 'dir', description: 'Where to run it', required: true, autocomplete: true },
    { name: 'command', description: 'The command line', required: true },
  ],
  agent: [
    { name: 'dir', description: 'Where Claude works', required: true, autocomplete: true },
    { name: 'prompt', description: 'What to do', required: true },
    {
      name: 'skip-permissions',
      description: 'Do not ask for permission, where the configuration allows it',
      type: BOOLEAN,
    },
  ],
  done: [{ name: 'name', description: 'Which one; default: the one of this thread', autocomplete: true }],
  retry: [{ name: 'message', description: 'Id of the message; default: the last failed one' }],
  sh: [{ name: 'command', description: 'The command line', required: true }],
};

export const SLASH_COMMANDS: SlashCommandList = COMMANDS.map(({ name, about }) => ({
  name,
  description: about.replaceAll('`', '').slice(0, 100),
  ...(OPTIONS[name] === undefined ? {} : { options: OPTIONS[name].map(typed) }),
}));

function typed(option: Option) {
  return 'type' in option ? option : { type: STRING, ...option };
}

/** The text that follows "!name" in a message. */
export function restOf(interaction: Interaction): string {
  const value = (name: string) => {
    const found = interaction.data?.options.find((option) => option.name === name)?.value;
    return found === undefined ? '' : String(found).trim();
  };
  switch (interaction.data?.name) {
    case 'new': {
      const command = value('command');
      return [value('name'), value('host'), value('directory'), command === '' ? '' : `-- ${command}`]
        .filter(Boolean)
        .join(' ');
    }
    case 'key':
      return value('key');
    case 'retry':
      return value('message');
    case 'sh':
      return value('command');
    case 'terminal':
      return `${JSON.stringify(value('dir'))} ${value('command')}`;
    case 'agent': {
      const skip = value('skip-permissions') === 'true' ? '--skip-permissions ' : '';
      return `${JSON.stringify(value('dir'))} ${skip}${value('prompt')}`;
    }
    default:
      return value('name');
  }
}

const DEADLINE_MS = 1_500;

/** A slow or unreachable host must not delay the suggestions of others. */
export async function suggestions(interaction: Interaction, tools: CommandContext): Promise<readonly string[]> {
  const focused = interaction.data?.options.find((option) => option.focused);
  const begun = String(focused?.value ?? '').toLowerCase();
  if (focused?.name === 'dir') return tools.directories.names(String(focused.value ?? ''));
  const streams = tools.streams.all().map((stream) => stream.record().name);
  const names =
    focused?.name === 'host'
      ? tools.hosts.names()
      : interaction.data?.name === 'done'
        ? streams
        : [...new Set([...streams, ...(await sessionNames(tools))])];
  return names.filter((name) => name.toLowerCase().includes(begun));
}

async function sessionNames(tools: CommandContext): Promise<readonly string[]> {
  const { hosts, config } = tools;
  const lists = hosts.names().map(async (host) => {
    const found = await findOurSessions(host, tools, DEADLINE_MS).catch(() => []);
    return found.map(({ session }) => (host === config.defaultHost ? session.name : `${session.name}@${host}`));
  });
  const late = new Promise<readonly string[]>((resolve) => setTimeout(resolve, DEADLINE_MS, []));
  return (await Promise.all(lists.map((list) => Promise.race([list, late])))).flat();
}

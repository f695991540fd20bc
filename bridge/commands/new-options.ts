// What follows "!new": a name, a host, a directory, options, and a command after "--". Pure.

import { allDrivers } from '../../agents/list.ts';
import { ThreadmuxError } from '../../core/errors.ts';
import { parseSessionName, type SessionName } from '../../core/session-name.ts';
import type { SessionSettings } from '../../core/session-settings.ts';
import { oneOf, type SettingName, settingFor } from '../../core/setting-words.ts';
import { untrustedCode } from '../../core/untrusted-text.ts';

export interface NewOptions {
  readonly name: SessionName;
  /** Not checked whether it exists. */
  readonly host: string | undefined;
  readonly directory: string | undefined;
  readonly command: readonly string[] | undefined;
  readonly settings: SessionSettings;
  /** `--continue`: go on with the newest conversation. */
  readonly continues: boolean;
}

export const NEW_USAGE =
  '!new <name> [host] [directory] [--agent <name>] [--worktree] [--model <name>] [--mode <mode>] [--continue] [-- command]';

const WITH_VALUE: Readonly<Record<string, SettingName>> = { '--model': 'model', '--mode': 'mode', '--agent': 'agent' };
const EXAMPLES: Readonly<Record<string, string>> = { '--model': 'opus', '--mode': 'plan', '--agent': 'claude' };
const OPTIONS = [...Object.keys(WITH_VALUE), '--worktree', '--continue'];

/** After the name, a path is a directory and any other word is a host. Options may stand anywhere before "--". */
export function parseNewOptions(rest: string): NewOptions {
  const { before, command } = splitCommand(rest.split(/\s+/).filter(Boolean));
  const words: string[] = [];
  let settings: SessionSettings = {};
  let continues = false;
  for (let at = 0; at < before.length; at++) {
    const word = before[at] ?? '';
    if (!word.startsWith('-')) {
      words.push(word);
      continue;
    }
    const [option = '', given] = word.split(/=(.*)/s, 2);
    const setting = WITH_VALUE[option];
    if (setting === undefined) {
      if (!OPTIONS.includes(option)) throw usage(oneOf(option, 'an option of `!new`', OPTIONS));
      if (given !== undefined) throw usage(`\`${option}\` takes no value.`);
      if (option === '--continue') continues = true;
      else settings = { ...settings, worktree: true };
      continue;
    }
    const value = given ?? before[++at] ?? '';
    if (value === '' || value.startsWith('-'))
      throw usage(`\`${option}\` needs a value, such as \`${option} ${EXAMPLES[option]}\`.`);
    const agents = allDrivers().map((driver) => driver.name);
    settings = { ...settings, ...settingFor(setting, value, agents) };
  }
  const forAgent = before.find((word) => word.startsWith('-') && !word.startsWith('--worktree'));
  if (command !== undefined && forAgent !== undefined)
    throw usage(`${untrustedCode(forAgent)} is for the agent, so it cannot be used with a command after \`--\`.`);
  return { ...placeOf(words), command, settings, continues };
}

/** Phones write a long dash for "--". */
function splitCommand(words: readonly string[]): {
  readonly before: readonly string[];
  readonly command: readonly string[] | undefined;
} {
  const plain = words.map((word) => word.replace(/^[—–]/, '--'));
  const end = plain.indexOf('--');
  const command = end < 0 ? [] : words.slice(end + 1);
  return { before: end < 0 ? plain : plain.slice(0, end), command: command.length > 0 ? command : undefined };
}

function placeOf([name = '', ...words]: readonly string[]): Pick<NewOptions, 'name' | 'host' | 'directory'> {
  if (name === '') throw usage(`\`!new\` needs a name.`, EXAMPLE);
  const directories = words.filter((word) => /^[~/]/.test(word));
  const [host, ...others] = words.filter((word) => !/^[~/]/.test(word));
  if (directories.length > 1 || others.length > 0)
    throw usage(`It is not clear what ${untrustedCode(words.join(' '))} means.`, EXAMPLE);
  return { name: parseSessionName(name), host, directory: directories[0] };
}

const EXAMPLE = 'Example: `!new shop mini ~/shop --model opus`';

function usage(what: string, hint?: string): ThreadmuxError {
  return new ThreadmuxError('bad_usage', what, hint === undefined ? {} : { hint });
}

// What follows "!new": a name, a host, a directory, options, and a command after "--". Pure.

import { allDrivers } from '../../agents/list.ts';
import { ThreadmuxError } from '../../core/errors.ts';
import { parseSessionName, type SessionName } from '../../core/session-name.ts';
import type { SessionSettings } from '../../core/session-settings.ts';
import { oneOf, type SettingName, settingFor } from '../../core/session-settings.ts';
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
  /** `--prompt`: the first message. */
  readonly prompt: string | undefined;
}

export const NEW_USAGE =
  '!new <name> [host] [directory] [--agent <name>] [--worktree] [--model <name>] [--mode <mode>] [--continue] [--prompt … | -- command]';

const WITH_VALUE: Readonly<Record<string, SettingName>> = { '--model': 'model', '--mode': 'mode', '--agent': 'agent' };
const EXAMPLES: Readonly<Record<string, string>> = { '--model': 'opus', '--mode': 'plan', '--agent': 'claude' };
const OPTIONS = [...Object.keys(WITH_VALUE), '--worktree', '--continue', '--prompt'];

/** After the name, a path is a directory and any other word is a host. Options may stand anywhere before "--"; "--prompt" is the last one. */
export function parseNewOptions(rest: string): NewOptions {
  const { before, command, prompt } = splitEnd(rest);
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
      if (option === '--prompt') throw usage('`--prompt` needs the first message after it.');
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
  return { ...placeOf(words), command, settings, continues, prompt };
}

/** Phones write a long dash for "--". */
const COMMAND = /(?:^|\s)(?:--|[—–])(?=\s|$)/;
const PROMPT = /(?:^|\s)(?:--|[—–])prompt(?:=|\s)/;

interface NewWords {
  readonly before: readonly string[];
  readonly command: readonly string[] | undefined;
  readonly prompt: string | undefined;
}

/** A command or the first message is everything up to the end. */
function splitEnd(rest: string): NewWords {
  const [command, prompt] = [COMMAND.exec(rest), PROMPT.exec(rest)];
  const end = [command, prompt].filter((one) => one !== null).toSorted((a, b) => a.index - b.index)[0];
  const before = wordsOf(end === undefined ? rest : rest.slice(0, end.index));
  const after = end === undefined ? '' : rest.slice(end.index + end[0].length).trim();
  if (after === '') return { before: end === prompt && end ? [...before, '--prompt'] : before, ...NOTHING };
  if (end === prompt) return { ...NOTHING, before, prompt: after };
  return { ...NOTHING, before, command: after.split(/\s+/) };
}

const NOTHING = { command: undefined, prompt: undefined };

/** A directory with spaces is written in quotes. */
function wordsOf(text: string): readonly string[] {
  const words = text.match(/"[^"]*"|\S+/g) ?? [];
  return words.map((word) => word.replace(/^"([^"]*)"$/, '$1').replace(/^[—–]/, '--'));
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

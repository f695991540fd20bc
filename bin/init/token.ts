// The bot's token: from a file, from stdin, from the environment, or typed unseen. Never from the command line, where
// every user of the machine could read it.

import { readFileSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import type { ConfigEnvironment } from '../../core/config.ts';
import { ThreadmuxError } from '../../core/errors.ts';
import { expandHome } from '../../home/config-file.ts';
import type { Questions } from '../questions.ts';
import type { RawConfig } from './config-changes.ts';

export interface Token {
  readonly token: string;
  /** The file to name in the configuration instead of the token. */
  readonly tokenFile: string | undefined;
}

interface TokenOptions {
  readonly ask: Questions;
  readonly env: ConfigEnvironment;
  readonly root: string;
  /** As given by --token-file: a path, or "-" for stdin. */
  readonly given: string | undefined;
  readonly present: RawConfig | undefined;
}

const QUESTION = 'The bot token (it is not shown):';

export async function takeToken(options: TokenOptions): Promise<Token> {
  const { ask, env, given } = options;
  if (given === '-' && !ask.isTerminal) return typed(await text(process.stdin));
  if (given !== undefined && given !== '-') return fromFile(resolve(expandHome(given, env)));
  if (env.DISCORD_BOT_TOKEN) return typed(env.DISCORD_BOT_TOKEN);
  const present = presentToken(options);
  if (present === undefined) return askForToken(ask);
  if (!ask.isTerminal || (await ask.yes('Keep the bot token of config.json?', true))) return present;
  return askForToken(ask);
}

export async function askForToken(ask: Questions): Promise<Token> {
  return typed(await ask.secret(QUESTION, '--token-file'));
}

/** People paste it with blanks around it, and with the word that goes before it in requests. */
function typed(said: string): Token {
  const token = said.trim().replace(/^Bot /, '');
  if (/^[\x21-\x7e]+$/.test(token)) return { token, tokenFile: undefined };
  throw new ThreadmuxError(
    'bad_usage',
    token === '' ? 'the token is empty' : 'the token holds a space or a character no token has',
    { hint: 'Copy it again: Discord developer portal, Bot, Reset Token.' },
  );
}

/** A file stays where it is and is named; what comes through a pipe can be read only once. */
function fromFile(path: string): Token {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined)
    throw new ThreadmuxError('bad_usage', `--token-file: there is no file ${path}`, {
      hint: 'Write the token into it, and nothing else; or give - to read it from stdin.',
    });
  if (!stat.isFile()) return typed(readFileSync(path, 'utf8'));
  if ((stat.mode & 0o077) !== 0)
    throw new ThreadmuxError('config_invalid', `--token-file: ${path} can be read by others`, {
      hint: `Run: chmod 600 ${path}`,
    });
  return { ...typed(readFileSync(path, 'utf8')), tokenFile: path };
}

function presentToken({ present, env, root }: TokenOptions): Token | undefined {
  if (typeof present?.token === 'string') return typed(present.token);
  if (typeof present?.tokenFile !== 'string') return undefined;
  const { tokenFile } = present;
  return { ...fromFile(resolve(root, expandHome(tokenFile, env))), tokenFile };
}

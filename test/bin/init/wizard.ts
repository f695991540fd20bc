// The wizard as users run it: a process with its own home, at a real terminal or without one.

import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { vi } from 'vitest';
import type { InitFlags } from '../../../bin/init/init.ts';
import { quoteShellWord } from '../../../core/shell-word.ts';
import { tempFolder } from '../../support/temp-home.ts';
import { startTmux } from '../../support/tmux-server.ts';

const PROGRAM = fileURLToPath(new URL('../../../dist/bin/threadmux.js', import.meta.url));

interface Ran {
  readonly status: number | null;
  readonly said: string;
}

export function newcomer() {
  const folder = tempFolder();
  const bin = join(folder, 'bin');
  const env = {
    HOME: join(folder, 'home'),
    PATH: `${bin}:${process.env.PATH}`,
    TERM: 'xterm-256color',
    LANG: 'C.UTF-8',
    THREADMUX_HOST: 'here',
  };
  mkdirSync(bin);
  mkdirSync(env.HOME);
  const root = join(env.HOME, '.threadmux');
  const config = join(root, 'config.json');
  return {
    folder,
    root,
    config,
    hasHome: () => existsSync(root),
    read: () => JSON.parse(readFileSync(config, 'utf8')),
    backups: () => readdirSync(root).filter((name) => name.endsWith('.bak')),
    write(text: string) {
      mkdirSync(root, { mode: 0o700 });
      writeFileSync(config, text, { mode: 0o600 });
    },
    /** The real ssh client would read the developer's configuration, not the one in HOME. */
    useSsh(configFile: string) {
      const ssh = `#!/bin/sh\nexec /usr/bin/ssh -F ${quoteShellWord(configFile)} "$@"\n`;
      writeFileSync(join(bin, 'ssh'), ssh, { mode: 0o755 });
    },
    run: (flags: InitFlags, input = '', more: Record<string, string> = {}) =>
      runDetached(flags, input, { ...env, ...more }),
    sit: (flags: InitFlags) => sitDown(flags, env),
  };
}

function runDetached(flags: InitFlags, input: string, env: NodeJS.ProcessEnv): Promise<Ran> {
  const child = spawn(process.execPath, [PROGRAM, 'init', ...wordsOf(flags)], { env });
  const said: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => said.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => said.push(chunk));
  child.stdin.on('error', () => {}); // it may exit before it has read anything
  child.stdin.end(input);
  return new Promise((resolve) => {
    child.on('close', (status) => resolve({ status, said: Buffer.concat(said).toString() }));
  });
}

/** In a pane of its own tmux server, which is a real pseudo-terminal. */
function sitDown(flags: InitFlags, env: Record<string, string>) {
  const tmux = startTmux();
  const words = Object.entries(env).map(([name, value]) => quoteShellWord(`${name}=${value}`));
  const command = [process.execPath, PROGRAM, 'init', ...wordsOf(flags)].map(quoteShellWord).join(' ');
  // Between two questions Ctrl-C also signals this shell, which has to survive to print the exit code.
  const script = `trap : INT; env -i ${words.join(' ')} ${command}; echo "ended with $?"; exec sleep 600`;
  tmux.call('new-session', '-d', '-s', 'w', '-x', '180', '-y', '60', 'sh', '-c', script);
  const screen = () => tmux.call('capture-pane', '-p', '-J', '-S', '-', '-t', '=w:');
  return {
    screen,
    /** Waits until the screen shows it after everything that was seen before. */
    async sees(text: string | RegExp, timeout = 20_000): Promise<RegExpMatchArray> {
      const pattern = typeof text === 'string' ? new RegExp(escaped(text)) : text;
      return vi.waitFor(
        () => {
          const match = screen().match(pattern);
          if (match === null) throw new Error(`not on the screen: ${pattern}\n${screen()}`);
          return match;
        },
        { timeout, interval: 50 },
      );
    },
    type(text: string) {
      if (text !== '') tmux.call('send-keys', '-t', '=w:', '-l', text);
      tmux.call('send-keys', '-t', '=w:', 'Enter');
    },
    press: (key: string) => void tmux.call('send-keys', '-t', '=w:', key),
  };
}

function wordsOf(flags: InitFlags): readonly string[] {
  const given = (flag: string, value: string | readonly string[] = []) => [value].flat().flatMap((one) => [flag, one]);
  return [
    ...(flags.local ? ['--local'] : []),
    ...given('--token-file', flags.tokenFile),
    ...given('--channel', flags.channel),
    ...given('--allow', flags.allow),
    ...given('--host', flags.host),
    ...given('--api', flags.api),
    ...(flags.yes ? ['--yes'] : []),
    ...(flags.roundTrip === false ? ['--no-round-trip'] : []),
  ];
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

// The commands and their options. The code of a command is loaded only when the command runs, so that each starts quickly.

import { Argument, Command, Option } from 'commander';
import { VERSION } from '../core/version.ts';
import { addCommand, addWorktrees, agentOptions, collect, nameAndRest, onHost, readNumber } from './command-line.ts';
import { printNote } from './print.ts';
import { addScripts, addThreads } from './program-threads.ts';

const EXIT_CODES = `
Exit codes:
  0   success
  1   failure; see the message on stderr
  2   wrong usage
  3   no such session, host or letter
  4   the agent waits for a person
  5   the time is up
  69  a host or Discord could not be reached; try again later
  78  invalid configuration; restarting does not help

Results go to stdout, messages to stderr. With --json, both are JSON:
  {"error":{"code":"session_not_found","message":"…","hint":"…"}}

Inside tmux, you can omit the session name: the default is the current session.
Write name@host for a session on another host. See docs/cli.md for details.

To get started:
  threadmux up          start the local workspace and print its link`;

export function makeProgram({ wantsJson }: { readonly wantsJson: boolean }): Command {
  const program = new Command('threadmux')
    .description(
      'Chat with your coding agents in tmux from Discord or from a local workspace. Each session has its own thread.',
    )
    .version(VERSION)
    .showHelpAfterError('(run with --help for usage)')
    .enablePositionalOptions()
    .addHelpText('after', EXIT_CODES)
    .exitOverride();
  // With --json, threadmux.ts prints the error as JSON, and commander must print nothing.
  program.configureOutput({ writeErr: (text) => (wantsJson ? undefined : printNote(text.trimEnd())) });
  addRunning(program);
  addSessions(program);
  addThreads(program);
  addScripts(program);
  addSetUp(program);
  addLooking(program);
  addWorktrees(program);
  return program;
}

function addRunning(program: Command): void {
  addCommand(program, 'up', 'start threadmux, with the local workspace if Discord is not configured', 'up --port 8080')
    .option('--port <port>', 'port of the workspace (default: 7420 or free; 0: always new)', readNumber(0, 65_535))
    .option('--listen <address>', 'address to listen on (default: localhost); browsers can sign in only at localhost')
    .option('--verbose', 'print the log to stderr')
    .action(async (flags) => (await import('./commands/up.ts')).up(flags));
  addCommand(program, 'workspace', 'run only the local workspace, without the bridge', 'workspace')
    .option('--port <port>', 'port to listen on', readNumber(0, 65_535))
    .option('--listen <address>', 'address to listen on (default: localhost); browsers can sign in only at localhost')
    .option('--verbose', 'print the log to stderr')
    .action(async (flags) => (await import('./commands/up.ts')).workspaceOnly(flags));
  addCommand(program, 'bridge', 'run only the bridge, for the configured Discord server', 'bridge --verbose')
    .option('--verbose', 'print the log to stderr')
    .action(async (flags) => (await import('./commands/up.ts')).bridgeOnly(flags));
  addCommand(program, 'link', 'print a one-time link to sign in to the local workspace', 'link')
    .option('--json', 'print JSON')
    .action(async (flags) => (await import('./commands/status.ts')).link(flags));
}

function addSetUp(program: Command): void {
  addCommand(program, 'init', 'set up threadmux: ask for the settings, check them, and write config.json', 'init')
    .option('--local', 'use the local workspace')
    .option('--token-file <file>', 'file that contains the bot token, or - for stdin')
    .option('--channel <id>', 'channel to create threads in')
    .option('--allow <ids>', 'ids of users who may write to your sessions (repeatable)', collect)
    .option('--host <name=ssh>', 'another machine to use over ssh (repeatable)', collect)
    .option('--api <url>', 'address of another Discord-compatible server')
    .option('--yes', 'ask no questions; use the options and defaults')
    .option('--no-round-trip', 'skip the test message at the end')
    .action(async (flags) => (await import('./init/init.ts')).runInit(flags));
  const elsewhere = () => new Option('--host <name>', 'use another host, over ssh').conflicts('project');
  addCommand(
    program,
    'install',
    'add the threadmux hooks and status line to Claude Code, and hooks to tmux',
    'install --dry-run',
  )
    .option('--project <folder>', 'change only the settings of this project')
    .addOption(
      new Option('--plugin', 'install the plugin instead of hooks in settings.json').conflicts(['project', 'host']),
    )
    .option('--dry-run', 'show the changes without making them')
    .option('--no-tmux', 'do not change tmux')
    .option('--agent <names>', 'other agents to add the hooks to, such as gemini, or all')
    .addOption(elsewhere())
    .action(async (flags) =>
      flags.host === undefined
        ? (await import('./commands/install.ts')).runInstall(flags)
        : (await import('./commands/install.ts')).installOnHost(flags.host, flags),
    );
  addCommand(program, 'uninstall', 'undo install: remove only what threadmux added', 'uninstall')
    .option('--project <folder>', 'change only the settings of this project')
    .option('--dry-run', 'show the changes without making them')
    .option('--no-tmux', 'do not change tmux')
    .option('--purge', 'also delete the threadmux home: configuration, messages and logs')
    .addOption(elsewhere())
    .action(async (flags) =>
      flags.host === undefined
        ? (await import('./commands/install.ts')).runUninstall(flags)
        : (await import('./commands/install.ts')).uninstallOnHost(flags.host, flags),
    );
  const service = addCommand(
    program,
    'service',
    'run threadmux as a user service, started at login',
    'service install',
  );
  addCommand(service, 'install', 'install and start the service (systemd or launchd)', 'service install --print')
    .option('--print', 'print the service file without installing it')
    .option('--keep-environment', 'keep a copy of API keys, proxies and the like for sessions')
    .action(async (flags) => (await import('./commands/service.ts')).serviceInstall(flags));
  addCommand(service, 'remove', 'stop and remove the service; sessions keep running', 'service remove') //
    .action(async () => (await import('./commands/service.ts')).serviceRemove());
  addCommand(program, 'completions', 'print the completion script for a shell', 'completions fish | source')
    .addArgument(new Argument('<shell>').choices(['bash', 'zsh', 'fish']))
    .action(async (shell) => (await import('./commands/completions.ts')).completions(shell, program));
}

function addLooking(program: Command): void {
  addCommand(program, 'doctor', 'check the installation and suggest fixes', 'doctor')
    .option('--host <name>', 'check only this host')
    .option('--json', 'print JSON')
    .action(async (flags) => (await import('./doctor/doctor.ts')).runDoctor(flags));
  addCommand(
    program,
    'status',
    'show whether threadmux is running, what is waiting, and which hosts respond',
    'status --json',
  )
    .option('--json', 'print JSON')
    .action(async (flags) => (await import('./commands/status.ts')).showStatus(flags));
  addCommand(
    program,
    'config',
    'print the active configuration and where each value comes from; tokens are hidden',
    'config',
  )
    .option('--json', 'print JSON (always on)')
    .helpOption(false)
    .option('-h, --help', 'display help for command, and all keys of the configuration')
    .action(async (flags, command) => (await import('./commands/status.ts')).config(flags.help ? command : undefined));
  addCommand(program, 'logs', 'print the last lines of the log', 'logs -f -n 20')
    .option('-f, --follow', 'keep printing new lines')
    .option('-n, --lines <lines>', 'number of lines', readNumber(0, 100_000), 50)
    .option('--json', 'print one JSON object per line')
    .action(async (flags) => (await import('./commands/logs.ts')).logs(flags));
  const outbox = addCommand(program, 'outbox', 'show replies that are not delivered yet', 'outbox list');
  addCommand(outbox, 'list', 'list the letters that are waiting or set aside', 'outbox list', { isDefault: true })
    .option('--json', 'print JSON')
    .action(async (flags) => (await import('./commands/outbox.ts')).listOutbox(flags));
  addCommand(outbox, 'show <letter>', 'print a letter', 'outbox show 1234.0-100000001.99')
    .option('--json', 'print JSON')
    .action(async (id, flags) => (await import('./commands/outbox.ts')).showLetter(id, flags));
  addCommand(outbox, 'retry [letter]', 'deliver a letter again, or all of them', 'outbox retry')
    .option('--json', 'print JSON')
    .action(async (id, flags) => (await import('./commands/outbox.ts')).retryLetters(id, flags));
}

function addSessions(program: Command): void {
  const starting = (command: Command) =>
    agentOptions(onHost(command)).option(
      '--dir <directory>',
      'working directory (default: the current one; on another host, the home directory)',
    );

  starting(
    addCommand(
      program,
      'start [name] [command...]',
      'start a session if it does not exist, with the agent or the command after --; its pane stays open when the program exits',
      'start build --dir ~/shop -- npm run build',
    ),
  )
    .option('--prefix <prefix>', 'name the session with this prefix and the next number')
    .option('--prompt <text>', 'give the agent this prompt')
    .option('--wait', 'wait for the reply to the prompt, and print it')
    .option('--timeout <seconds>', 'how long to wait for the reply', readNumber(1, 86_400), 3_600)
    .action(async (_name, _words, flags, command: Command) => {
      const { name, rest } = nameAndRest(command, 'the command');
      await (await import('./commands/start.ts')).startSession(name, rest, flags);
    });
  onHost(addCommand(program, 'stop [name]', 'end a session if it exists', 'stop build')).action(async (name, flags) =>
    (await import('./commands/start.ts')).stopSession(name, flags),
  );
  starting(
    addCommand(
      program,
      'new <name> [command...]',
      'start a session with the agent or the command after --; fail if it exists',
      'new shop --host mini --dir ~/shop',
    ),
  ).action(async (name: string, _words, flags, command: Command) => {
    const { rest } = nameAndRest(command, 'the command');
    await (await import('./commands/start.ts')).createSession(name, rest, flags);
  });
  onHost(
    addCommand(program, 'kill <name>', 'end a session by its exact name; fail if it does not exist', 'kill shop@mini'),
  ).action(async (name, flags) => (await import('./commands/start.ts')).killByName(name, flags));
  addCommand(program, 'sessions', 'list the sessions of all hosts and their state', 'sessions --json')
    .alias('list')
    .option('--host <name>', 'list only this host')
    .option('--json', 'print JSON')
    .option('--prefix <prefix>', 'list only names that begin like this')
    .option('--names', 'print only the names on this machine, one per line')
    .action(async (flags) => (await import('./commands/sessions.ts')).listAllSessions(flags));
  onHost(
    addCommand(
      program,
      'send [name] [text...]',
      'type text (or stdin) into a session and press Enter, if that is safe',
      'send shop "run the tests"',
    ),
  )
    .option('--wait <seconds>', 'how long to wait until the pane is ready', readNumber(0, 86_400), 3)
    .option('--wait-reply', 'wait for the reply, and print it')
    .option('--timeout <seconds>', 'how long to wait for the reply', readNumber(1, 86_400), 3_600)
    .action(async (_name, _words, flags, command: Command) => {
      const { name, rest } = nameAndRest(command, undefined);
      await (await import('./commands/send.ts')).send(name, rest, flags);
    });
  onHost(
    addCommand(
      program,
      'attach [name]',
      'open a session in this terminal; with --json, print the command instead',
      'attach shop@mini',
    ),
  ).action(async (name, flags) => (await import('./commands/attach.ts')).attach(name, flags));
  onHost(addCommand(program, 'capture [name]', 'print the last lines that a session shows', 'capture shop -n 200'))
    .option(
      '-n, --lines <lines>',
      'number of lines, including the scrollback (at most 10000)',
      readNumber(1, Number.MAX_SAFE_INTEGER),
      1_000,
    )
    .option('--post', "post them in the session's thread instead")
    .action(async (name, flags) => (await import('./commands/attach.ts')).capture(name, flags));
}

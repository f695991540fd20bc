// The commands, one line each: what it takes, what it is for, an example, and where it is done. What a command needs is
// loaded when it is run.

import { Argument, Command, Option } from 'commander';
import { VERSION } from '../core/version.ts';
import { addCommand, collect, nameAndRest, readNumber } from './command-line.ts';

const EXIT_CODES = `
Exit codes:
  0   done
  1   failed; the sentence on stderr says why
  2   wrong usage
  3   there is no such session, host or letter
  69  a host or Discord could not be reached; the same may work later
  78  the configuration has to be corrected first; a service manager should not try again

Data goes to stdout, words go to stderr. With --json both are JSON: errors read
  {"error":{"code":"session_not_found","message":"…","hint":"…"}}

Inside tmux the name of a session may be left out: it is the one the command runs in.
A session of another host is name@host. More in docs/cli.md.

Start with:
  threadmux up          serve the local workspace and print the link to open`;

export function makeProgram({ wantsJson }: { readonly wantsJson: boolean }): Command {
  const program = new Command('threadmux')
    .description(
      'Chat with your Claude Code sessions from anywhere: every tmux session that runs an agent has a thread.',
    )
    .version(VERSION)
    .showHelpAfterError('(add --help for what it takes)')
    .enablePositionalOptions()
    .addHelpText('after', EXIT_CODES)
    .exitOverride();
  // A program that asked for JSON gets the error as JSON, and nothing else; see threadmux.ts.
  if (wantsJson) program.configureOutput({ writeErr: () => {}, outputError: () => {} });
  addRunning(program);
  addSessions(program);
  addSetUp(program);
  addLooking(program);
  return program;
}

function addRunning(program: Command): void {
  addCommand(
    program,
    'up',
    'run everything: the bridge, and the local workspace if no Discord is configured',
    'up --port 8080',
  )
    .option('--port <port>', 'port of the local workspace (default: 7420, or any free one)', readNumber(0, 65_535))
    .option('--listen <address>', 'let others reach the port; browsers sign in at localhost only')
    .option('--verbose', 'show the log as it is written')
    .action(async (flags) => (await import('./commands/up.ts')).up(flags));
  addCommand(program, 'workspace', 'serve the local workspace alone', 'workspace')
    .option('--port <port>', 'port to serve it on', readNumber(0, 65_535))
    .option('--listen <address>', 'let others reach its port; browsers sign in at localhost only')
    .option('--verbose', 'show the log as it is written')
    .action(async (flags) => (await import('./commands/up.ts')).workspaceOnly(flags));
  addCommand(program, 'bridge', 'run the bridge alone, for the configured Discord server', 'bridge --verbose')
    .option('--verbose', 'show the log as it is written')
    .action(async (flags) => (await import('./commands/up.ts')).bridgeOnly(flags));
  addCommand(program, 'link', 'print a link that signs one browser in to the local workspace, once', 'link')
    .option('--json', 'print JSON')
    .action(async (flags) => (await import('./commands/status.ts')).link(flags));
}

function addSetUp(program: Command): void {
  addCommand(program, 'init', 'ask for everything that is needed, and write the configuration', 'init')
    .option('--local', 'use the local workspace')
    .option('--token-file <file>', 'the file that holds the bot token')
    .option('--channel <id>', 'the channel in which threads are made')
    .option('--allow <ids>', 'who may speak to your sessions: user ids (may be repeated)', collect)
    .option('--host <name=ssh>', 'another machine, as ssh calls it (may be repeated)', collect)
    .option('--api <url>', 'another server that speaks Discord’s language')
    .option('--yes', 'ask nothing: take what the options say')
    .option('--no-round-trip', 'leave out the try at the end')
    .action(async (flags) => (await import('./init/init.ts')).runInit(flags));
  const elsewhere = () => new Option('--host <name>', 'on this host, over ssh').conflicts('project');
  addCommand(
    program,
    'install',
    'add our hooks and status line to Claude Code, and our hooks to tmux',
    'install --dry-run',
  )
    .option('--project <folder>', 'into the settings of this project')
    .option('--dry-run', 'show what would change')
    .option('--no-tmux', 'leave tmux alone')
    .addOption(elsewhere())
    .action(async (flags) =>
      flags.host === undefined
        ? (await import('./commands/install.ts')).runInstall(flags)
        : (await import('./commands/install.ts')).installOnHost(flags.host, flags),
    );
  addCommand(program, 'uninstall', 'take exactly our parts out again', 'uninstall')
    .option('--project <folder>', 'out of the settings of this project')
    .option('--dry-run', 'show what would change')
    .option('--no-tmux', 'leave tmux alone')
    .option('--purge', 'remove our home as well: configuration, messages, log')
    .addOption(elsewhere())
    .action(async (flags) =>
      flags.host === undefined
        ? (await import('./commands/install.ts')).runUninstall(flags)
        : (await import('./commands/install.ts')).uninstallOnHost(flags.host, flags),
    );
  const service = addCommand(
    program,
    'service',
    'run threadmux up with your login, as a service of your own',
    'service install',
  );
  addCommand(service, 'install', 'write the unit (systemd or launchd) and start it', 'service install --print')
    .option('--print', 'print the unit and change nothing')
    .action(async (flags) => (await import('./commands/service.ts')).serviceInstall(flags));
  addCommand(service, 'remove', 'stop the service and remove its unit; sessions go on', 'service remove').action(
    async () => (await import('./commands/service.ts')).serviceRemove(),
  );
  addCommand(program, 'completions', 'print the completions for a shell', 'completions fish | source')
    .addArgument(new Argument('<shell>').choices(['bash', 'zsh', 'fish']))
    .action(async (shell) => (await import('./commands/completions.ts')).completions(shell, program));
}

function addLooking(program: Command): void {
  addCommand(program, 'doctor', 'look at every part that can be wrong, and say what to do about it', 'doctor')
    .option('--host <name>', 'only this host')
    .option('--json', 'print JSON')
    .action(async (flags) => (await import('./doctor/doctor.ts')).runDoctor(flags));
  addCommand(program, 'status', 'what runs here, what waits, and which hosts answer', 'status --json')
    .option('--json', 'print JSON')
    .action(async (flags) => (await import('./commands/status.ts')).showStatus(flags));
  addCommand(
    program,
    'config',
    'print the configuration in force as JSON, with tokens masked, and where each value came from',
    'config',
  )
    .option('--json', 'the same: it always prints JSON')
    .action(async () => (await import('./commands/status.ts')).config());
  addCommand(program, 'logs', 'print the last lines of the log', 'logs -f -n 20')
    .option('-f, --follow', 'go on with those that come')
    .option('-n, --lines <lines>', 'how many', readNumber(0, 100_000), 50)
    .option('--json', 'print one JSON object a line')
    .action(async (flags) => (await import('./commands/logs.ts')).logs(flags));
  const outbox = addCommand(program, 'outbox', 'what Claude said and nobody got yet', 'outbox list');
  addCommand(outbox, 'list', 'letters that wait, and those that were set aside', 'outbox list', {
    isDefault: true,
  })
    .option('--json', 'print JSON')
    .action(async (flags) => (await import('./commands/outbox.ts')).listOutbox(flags));
  addCommand(outbox, 'show <letter>', 'print one of them', 'outbox show 1234.0-100000001.99')
    .option('--json', 'print JSON')
    .action(async (id, flags) => (await import('./commands/outbox.ts')).showLetter(id, flags));
  addCommand(outbox, 'retry [letter]', 'deliver it, or all of them, again', 'outbox retry')
    .option('--json', 'print JSON')
    .action(async (id, flags) => (await import('./commands/outbox.ts')).retryLetters(id, flags));
}

// The commands that speak of sessions, one line each.

function addSessions(program: Command): void {
  const onHost = (command: Command) =>
    command.option('--host <name>', 'the host it is on').option('--json', 'print JSON');
  const starting = (command: Command) =>
    onHost(command).option('--dir <directory>', 'where to start (default: here; on other hosts the home)');

  starting(
    addCommand(
      program,
      'start [name] [command...]',
      'start a session unless it is there: the agent, or the command after --; its pane stays when the program ends',
      'start build --dir ~/shop -- npm run build',
    ),
  )
    .option('--prefix <prefix>', 'choose a name: the prefix and the next number')
    .action(async (_name, _words, flags, command: Command) => {
      const { name, rest } = nameAndRest(command, 'the command');
      await (await import('./commands/start.ts')).startSession(name, rest, flags);
    });
  onHost(addCommand(program, 'stop [name]', 'end a session, if it is there', 'stop build')).action(
    async (name, flags) => (await import('./commands/start.ts')).stopSession(name, flags),
  );
  starting(
    addCommand(
      program,
      'new <name> [command...]',
      'start a session that must not be there yet: the agent, or the command after --',
      'new shop --host mini --dir ~/shop',
    ),
  ).action(async (name: string, _words, flags, command: Command) => {
    const { rest } = nameAndRest(command, 'the command');
    await (await import('./commands/start.ts')).createSession(name, rest, flags);
  });
  onHost(
    addCommand(program, 'kill <name>', 'end a session that must be there, by its exact name', 'kill shop@mini'),
  ).action(async (name, flags) => (await import('./commands/start.ts')).killByName(name, flags));
  addCommand(program, 'sessions', 'all sessions of all hosts, and what they do', 'sessions --json')
    .alias('list')
    .option('--host <name>', 'only of this host')
    .option('--json', 'print JSON')
    .option('--names', 'only plain names, of this machine, one a line')
    .action(async (flags) => (await import('./commands/sessions.ts')).listAllSessions(flags));
  onHost(
    addCommand(
      program,
      'send [name] [text...]',
      'type a text, or stdin, into a session and press Enter, if it is safe to',
      'send shop "run the tests"',
    ),
  )
    .option('--wait <seconds>', 'how long the pane may take to be ready', readNumber(0, 86_400), 3)
    .action(async (_name, _words, flags, command: Command) => {
      const { name, rest } = nameAndRest(command, undefined);
      await (await import('./commands/send.ts')).send(name, rest, flags);
    });
  onHost(
    addCommand(
      program,
      'attach [name]',
      'open a session in this terminal; --json prints the command that would',
      'attach shop@mini',
    ),
  ).action(async (name, flags) => (await import('./commands/attach.ts')).attach(name, flags));
  onHost(addCommand(program, 'capture [name]', 'print what a session shows', 'capture shop -n 200'))
    .option(
      '-n, --lines <lines>',
      'the last so many lines, older ones too (at most 10000)',
      readNumber(1, Number.MAX_SAFE_INTEGER),
    )
    .action(async (name, flags) => (await import('./commands/attach.ts')).capture(name, flags));
  const thread = addCommand(
    program,
    'thread',
    'open or archive the thread of a session, which goes on as it was',
    'thread close shop',
  );
  for (const [order, about] of [
    ['open', 'make or reopen its thread'],
    ['close', 'archive its thread, until its session speaks or you write there'],
  ] as const)
    onHost(addCommand(thread, `${order} [name]`, about, `thread ${order} shop`))
      .option('--wait <seconds>', 'how long to wait for the outcome', readNumber(1, 86_400), 15)
      .action(async (name, flags) => (await import('./commands/thread.ts')).orderThread(order, name, flags));
  addCommand(program, 'auto', 'whether sessions made and closed by hand get and lose their threads', 'auto off')
    .addArgument(new Argument('[switch]').choices(['on', 'off']))
    .option('--json', 'print JSON')
    .action(async (to, flags) => (await import('./commands/thread.ts')).auto(to, flags));
}

// The commands that speak of sessions, one line each.

import { Argument, type Command } from 'commander';
import { addCommand, nameAndRest, readNumber } from './command-line.ts';

export function addSessions(program: Command): void {
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
    .action(async (name, flags) => (await import('./commands/capture.ts')).capture(name, flags));
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
    .action(async (to, flags) => (await import('./commands/auto.ts')).auto(to, flags));
}

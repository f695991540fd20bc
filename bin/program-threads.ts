// The commands about threads, and those for scripts and for programs that run in a session.

import { Argument, type Command } from 'commander';
import { addCommand, collect, nameAndRest, onHost, readNumber } from './command-line.ts';

const MOST_SECONDS = 86_400;

export function addThreads(program: Command): void {
  const thread = addCommand(
    program,
    'thread',
    'open or archive the thread of a session; the session keeps running',
    'thread close shop',
  );
  for (const [order, about] of [
    ['open', 'create or reopen the thread'],
    ['close', 'archive the thread until the session reports something or you write in it'],
  ] as const)
    onHost(addCommand(thread, `${order} [name]`, about, `thread ${order} shop`))
      .option('--wait <seconds>', 'how long to wait for the result', readNumber(1, 86_400), 15)
      .action(async (name, flags) => (await import('./commands/thread.ts')).orderThread(order, name, flags));
  addCommand(program, 'auto', 'show or set whether every tmux session gets a thread', 'auto off')
    .addArgument(new Argument('[switch]').choices(['on', 'off']))
    .option('--json', 'print JSON')
    .action(async (to, flags) => (await import('./commands/thread.ts')).auto(to, flags));
  onHost(
    addCommand(
      program,
      'tail [name]',
      "print the last messages of a session's thread, and follow it",
      'tail shop -n 50',
    ),
  )
    .option('-n, --lines <messages>', 'number of earlier messages', readNumber(0, 1_000), 20)
    .option('--no-follow', 'print only what is there')
    .action(async (name, flags) => (await import('./commands/tail.ts')).tail(name, flags));
}

/** For scripts that let agents work. */
export function addScripts(program: Command): void {
  const timeout = (command: Command, about: string, seconds: number) =>
    command.option('--timeout <seconds>', about, readNumber(1, MOST_SECONDS), seconds);
  timeout(
    onHost(
      addCommand(
        program,
        'wait [name]',
        'wait until a session is idle, and print its last reply; exit code 4 if it needs a person, 5 if the time is up',
        'wait shop --timeout 600',
      ),
    ),
    'how long to wait',
    3_600,
  ).action(async (name, flags) => (await import('./commands/wait.ts')).waitForIdle(name, flags));
  addCommand(program, 'mcp', 'serve the tools of threadmux to an agent, as an MCP server on stdio', 'mcp') //
    .action(async () => (await import('./mcp/serve.ts')).serveMcp());
  onHost(
    addCommand(program, 'reply [name]', "print the last reply of a session's agent", 'reply shop --json'), //
  ).action(async (name, flags) => (await import('./commands/wait.ts')).printReply(name, flags));
  addCommand(program, 'file <path>', 'send a file to the thread of the current session', 'file report.pdf')
    .option('--text <text>', 'a text above the file')
    .option('--json', 'print JSON')
    .action(async (path, flags) => (await import('./commands/ask.ts')).sendFile(path, flags));
  addCommand(
    program,
    'notify <text...>',
    'post a line that notifies in the thread of the current session',
    'notify done',
  )
    .option('--json', 'print JSON')
    .action(async (words, flags) => (await import('./commands/ask.ts')).notifyThread(words, flags));
  timeout(
    addCommand(
      program,
      'ask <question>',
      'ask a person in the thread of the current session, and print the answer; exit code 5 if nobody answered',
      'ask "Deploy?" --option yes --option no --timeout 600',
    ).option('--option <label>', 'a possible answer (repeatable); without any, the answer is a text', collect),
    'how long to wait for an answer',
    3_600,
  )
    .option('--json', 'print JSON')
    .action(async (question, flags) => (await import('./commands/ask.ts')).ask(question, flags));
  addCommand(
    program,
    'terminal <directory> [command...]',
    'run the command after -- in a project, and stream its output into a new thread',
    'terminal shop -- npm run dev',
  )
    .option('--json', 'print JSON')
    .action(async (directory: string, _words, flags, command: Command) =>
      (await import('./commands/stream.ts')).startTerminalStream(
        directory,
        nameAndRest(command, undefined).rest,
        flags,
      ),
    );
  addCommand(
    program,
    'agent <directory> [prompt...]',
    'give the agent a prompt in a project, without a terminal, in a new thread',
    'agent shop "run the tests and fix what fails"',
  )
    .option('--agent <name>', 'which agent; by default that of the project')
    .option('--skip-permissions', 'ask for no permissions, where "skipPermissions" allows it')
    .option('--json', 'print JSON')
    .action(async (directory: string, _words, flags, command: Command) =>
      (await import('./commands/stream.ts')).startAgentStream(directory, nameAndRest(command, undefined).rest, flags),
    );
}

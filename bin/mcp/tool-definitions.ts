// The tools of `threadmux mcp`: names, descriptions for a model, and schemas. Plain data: the schema that is listed is the one that checks
// the input.

interface ToolSchema {
  readonly [key: string]: unknown;
}

export interface McpTool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: ToolSchema & { readonly type: 'object' };
  readonly outputSchema: ToolSchema & { readonly type: 'object' };
  readonly annotations: {
    readonly readOnlyHint: boolean;
    readonly destructiveHint: boolean;
    readonly openWorldHint: boolean;
  };
}

const text = (description: string, most = 100_000) => ({ type: 'string', minLength: 1, maxLength: most, description });
const whole = (description: string, least: number, most: number) => ({
  type: 'integer',
  minimum: least,
  maximum: most,
  description,
});
const orNull = (type: string, description: string) => ({ type: [type, 'null'], description });
const object = (properties: ToolSchema, required: readonly string[]) => ({
  type: 'object' as const,
  properties,
  required,
  additionalProperties: false,
});

/** All of them are always there. */
const result = (properties: ToolSchema) => object(properties, Object.keys(properties));

const SESSION = text('The session, as list_sessions names it: "name", or "name@host" on another host.', 300);
const READS = { readOnlyHint: true, destructiveHint: false, openWorldHint: false };
const ACTS = { readOnlyHint: false, destructiveHint: false, openWorldHint: false };
const ENDS = { readOnlyHint: false, destructiveHint: true, openWorldHint: false };

const MOST_WAIT_SECONDS = 86_400;

export const TOOLS: readonly McpTool[] = [
  {
    name: 'list_sessions',
    title: 'List sessions',
    description:
      'Lists the tmux sessions on all hosts and what each does: starting, idle, working, needs_person (its agent waits for a person), delivering, shell (no agent runs there), ended, unreachable. Use the "session" of a result in the other tools.',
    inputSchema: object(
      { prefix: text('Only names that begin like this.', 200), host: text('Only this host.', 100) },
      [],
    ),
    outputSchema: result({
      sessions: {
        type: 'array',
        items: result({
          session: { type: 'string' },
          name: { type: 'string' },
          host: { type: 'string' },
          state: { type: 'string' },
          for: orNull('string', 'What a person is needed for.'),
          directory: { type: 'string' },
          own: { type: 'boolean', description: 'This is the session that you run in.' },
        }),
      },
      unreachable: {
        type: 'array',
        items: result({ host: { type: 'string' }, message: { type: 'string' } }),
      },
    }),
    annotations: READS,
  },
  {
    name: 'start_session',
    title: 'Start a session',
    description:
      'Starts a coding agent in its own tmux session and thread, and gives it a prompt. If the session already runs, nothing is started and the prompt is not sent ("created" is false): use send_message. The directory must be your own, a project, or inside "roots" of the configuration.',
    inputSchema: object(
      {
        name: text('Letters, digits, "-" and "_".', 100),
        host: text('A host of the configuration; by default the default host.', 100),
        directory: text('An absolute path; by default where it ran before, or your own directory.', 4_096),
        agent: text('The agent; by default the one of the configuration.', 100),
        prompt: text('The first prompt.'),
        worktree: { type: 'boolean', description: 'Start it in a new git worktree and branch of the directory.' },
      },
      ['name'],
    ),
    outputSchema: result({
      session: { type: 'string' },
      created: { type: 'boolean' },
      state: {
        enum: ['up', 'asks', 'silent', 'there'],
        description: 'asks: it first needs an answer of a person. silent: it has not reported yet.',
      },
      branch: orNull('string', 'The branch of its worktree.'),
      prompt: { enum: ['submitted', 'queued', 'not_sent'] },
    }),
    annotations: ACTS,
  },
  {
    name: 'send_message',
    title: 'Send a message',
    description:
      'Types a message into another session and answers when its agent has submitted it. "queued": the agent still works and takes it next. If the agent shows a dialog, nothing is typed and the error is needs_person: only a person may answer it.',
    inputSchema: object({ session: SESSION, text: text('The message.') }, ['session', 'text']),
    outputSchema: result({ outcome: { enum: ['submitted', 'queued', 'run'] } }),
    annotations: ACTS,
  },
  {
    name: 'wait',
    title: 'Wait for a session',
    description:
      'Waits until a session is idle, needs a person or has ended, and returns its last reply. state "timeout" means that it still works: call wait again.',
    inputSchema: object(
      { session: SESSION, timeout_seconds: whole('How long to wait; by default 600.', 1, MOST_WAIT_SECONDS) },
      ['session'],
    ),
    outputSchema: result({
      state: { enum: ['idle', 'needs_person', 'ended', 'timeout'] },
      about: orNull('string', 'What a person is needed for, or what the session does at the timeout.'),
      reply: orNull('string', 'The last reply, if the agent has finished.'),
    }),
    annotations: READS,
  },
  {
    name: 'read_reply',
    title: 'Read the last reply',
    description: "Returns the last text of a session's agent, without waiting.",
    inputSchema: object({ session: SESSION }, ['session']),
    outputSchema: result({
      reply: orNull('string', 'Null if there is none yet.'),
      finished: { type: 'boolean', description: 'Its turn has ended.' },
    }),
    annotations: READS,
  },
  {
    name: 'read_screen',
    title: 'Read a screen',
    description: 'Returns the last lines that a session shows in its terminal, with its scrollback.',
    inputSchema: object({ session: SESSION, lines: whole('How many lines; by default 1000.', 1, 10_000) }, ['session']),
    outputSchema: result({
      text: { type: 'string' },
      lines: { type: 'integer' },
      omitted_lines: { type: 'integer', description: 'Earlier lines that are not here.' },
      dead: { type: 'boolean', description: 'Its program has exited.' },
      exit_status: orNull('integer', 'The exit status of a program that has exited.'),
    }),
    annotations: READS,
  },
  {
    name: 'interrupt_session',
    title: 'Interrupt a session',
    description:
      'Interrupts what the agent of another session does now (Esc). An idle agent is left alone. A dialog is never answered this way: the error is needs_person.',
    inputSchema: object({ session: SESSION }, ['session']),
    outputSchema: result({ interrupted: { type: 'boolean' } }),
    annotations: ENDS,
  },
  {
    name: 'stop_session',
    title: 'Stop a session',
    description: 'Ends another session and its agent. A session that does not exist is no error.',
    inputSchema: object({ session: SESSION }, ['session']),
    outputSchema: result({ stopped: { type: 'boolean' } }),
    annotations: ENDS,
  },
  {
    name: 'send_file',
    title: 'Send a file',
    description: 'Sends a file of your project to the person in your thread. At most 10 MiB, and no hidden files.',
    inputSchema: object(
      {
        path: text('Absolute, or relative to your working directory.', 4_096),
        text: text('A text above the file.', 1_500),
      },
      ['path'],
    ),
    outputSchema: result({ sent: { type: 'boolean' } }),
    annotations: ACTS,
  },
  {
    name: 'notify',
    title: 'Notify the person',
    description:
      'Posts one line in your thread that notifies the person. Only for what they must know now; your replies are posted anyway.',
    inputSchema: object({ text: text('One line.', 1_500) }, ['text']),
    outputSchema: result({ posted: { type: 'boolean' } }),
    annotations: ACTS,
  },
  {
    name: 'ask_person',
    title: 'Ask the person',
    description:
      'Asks the person in your thread, with a button per option, and returns the answer. Without options, the answer is a text. answer null: nobody answered in time.',
    inputSchema: object(
      {
        question: text('The question.', 4_000),
        options: { type: 'array', maxItems: 25, items: text('An option.', 200), description: 'The possible answers.' },
        timeout_seconds: whole('How long to wait for an answer; by default 3600.', 1, MOST_WAIT_SECONDS),
      },
      ['question'],
    ),
    outputSchema: result({ answer: orNull('string', 'The option, as you gave it, or the text.') }),
    annotations: ACTS,
  },
];

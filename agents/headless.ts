// How an agent runs without a terminal: one process per prompt, whose output is read line by line and becomes events in the same
// words for all agents.

export interface HeadlessRunner {
  /** Permissions are asked in the thread. Otherwise the agent denies by itself what would need one. */
  readonly asks: boolean;
  /** Variables that it gets beside those of its sessions. */
  readonly variables?: readonly string[];
  argv(options: HeadlessOptions): readonly string[];
  /** What is written to its input for a prompt. `isCommand`: the text is a command of the agent; any other text stays text. */
  input(text: string, isCommand: boolean): string;
  /** Its input stays open until it has a result. Otherwise the end of the input is the end of the prompt. */
  readonly keepsInput: boolean;
  /** One reader per process. */
  reader(): HeadlessReader;
  /** The input that denies what it asks; only if it asks. */
  denial?(requestId: string, message: string): string;
  /** Whether it failed because the conversation that it was to continue does not exist. */
  isLost(failure: string): boolean;
}

interface HeadlessOptions {
  /** The program and its arguments, from the configuration. */
  readonly command: readonly string[];
  /** It asks for nothing and does everything; wanted and allowed by the user. */
  readonly skipPermissions: boolean;
  /** The conversation to continue. */
  readonly session: string | undefined;
  /** A file with settings for Claude Code that add our hooks. */
  readonly hookSettings: string | undefined;
}

export interface HeadlessReader {
  /** Lines that are not of a known form are ignored: a newer version, or output of a shell. */
  line(text: string): readonly HeadlessEvent[];
  /** The process has ended: for agents that print no result. */
  end?(status: number | undefined): readonly HeadlessEvent[];
}

export type HeadlessEvent =
  | { readonly kind: 'init'; readonly sessionId: string }
  /** A message begins; if the streamed message before it was not completed, it was discarded. */
  | { readonly kind: 'begin' }
  | { readonly kind: 'delta'; readonly text: string }
  /** A complete block of text, which may have been streamed before. */
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'tool'; readonly label: string }
  | { readonly kind: 'tool failed'; readonly text: string }
  /** It waits until our hook or a line on its input allows or denies this. */
  | { readonly kind: 'asks'; readonly requestId: string }
  | { readonly kind: 'answered'; readonly requestId: string }
  | HeadlessResult;

export interface HeadlessResult {
  readonly kind: 'result';
  readonly isError: boolean;
  /** The last text, or the error. */
  readonly text: string;
  /** How often the model was called. */
  readonly turns?: number | undefined;
  readonly durationMs?: number | undefined;
  /** The cost of the process so far; in versions that also report `ownCostUsd`, of the whole conversation. */
  readonly costUsd?: number | undefined;
  /** The cost since the last result, or since the start. */
  readonly ownCostUsd?: number | undefined;
}

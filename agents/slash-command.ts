// The commands of an agent: texts that begin with "/".

export interface SlashCommand {
  /** Without the slash; folders are separated by ":". */
  readonly name: string;
  readonly about: string;
  readonly aliases?: readonly string[];
  /** Whose command it is: the agent's title, or "your command". */
  readonly owner: string;
  /** What it would change. Such a command is passed only after a confirmation. */
  readonly risk?: CommandRisk;
}

export type CommandRisk = 'account' | 'installation' | 'session' | 'sharing';

/** The commands of an agent. */
export interface SlashCommands {
  readonly builtin: readonly SlashCommand[];
  /** The user's own: a script for the session's host, with the transcript and the directory as its arguments. */
  readonly own?: CommandScript<SlashCommand>;
  /** What commands printed lately: a script with the transcript as its argument. */
  readonly printed?: CommandScript<PrintedText>;
}

interface CommandScript<T> {
  readonly script: string;
  parse(output: string): readonly T[];
}

export interface PrintedText {
  /** Unique. */
  readonly uuid: string;
  /** The command that printed it, with its arguments; empty if it is not known. */
  readonly command: string;
  /** Seconds since it was printed. */
  readonly age: number;
  /** Empty if the command ended without output. */
  readonly text: string;
}

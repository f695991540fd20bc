// Asks questions at the terminal. Without a terminal, a question fails and names the missing option.

import { ThreadmuxError } from '../core/errors.ts';
import { neutralise } from '../core/untrusted-text.ts';
import { printText } from './print.ts';

type Clack = typeof import('@clack/prompts');

interface Choice<T extends string> {
  readonly value: T;
  readonly label: string;
}

/** Escape sequences in a text, such as the name of a channel, are made visible and never reach the terminal. */
export interface Questions {
  readonly isTerminal: boolean;
  say(text: string): void;
  /** One line; `flag` is the option that gives the answer without a terminal. */
  line(question: string, flag: string): Promise<string>;
  /** Does not show what is typed. */
  secret(question: string, flag: string): Promise<string>;
  /** The cursor starts at `usual`, or at the first choice. */
  choose<T extends string>(question: string, choices: readonly Choice<T>[], flag: string, usual?: T): Promise<T>;
  /** Enter alone means `usual`; --yes means yes. */
  yes(question: string, usual: boolean): Promise<boolean>;
  /** --yes does not answer this question; only a person can. */
  confirm(question: string): Promise<boolean>;
  /** Rejects when the user presses Ctrl-C. */
  readonly stopped: Promise<never>;
  isStopped(): boolean;
  close(): void;
}

export async function openQuestions(options: { readonly yes: boolean }): Promise<Questions> {
  const isTerminal = process.stdin.isTTY === true && process.stdout.isTTY === true;
  const clack = isTerminal ? await import('@clack/prompts') : undefined;
  const stopping = new AbortController();
  const { signal } = stopping;
  const stop = () => stopping.abort();
  const stopped = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(new ThreadmuxError('bad_usage', 'cancelled')));
  });
  stopped.catch(() => {}); // handled by the code that races against it
  const onKey = (_: unknown, key?: { readonly ctrl?: boolean; readonly name?: string }) => {
    if (key?.ctrl && key.name === 'd') stop(); // on Ctrl-D, clack closes its reader and its promise never settles
  };
  process.once('SIGINT', stop);
  if (isTerminal) process.stdin.on('keypress', onKey);

  async function asked<T>(
    question: string,
    flag: string,
    prompt: (clack: Clack, common: { message: string; signal: AbortSignal }) => Promise<T>,
  ): Promise<Exclude<T, symbol>> {
    if (clack === undefined)
      throw new ThreadmuxError('bad_usage', `${flag} is required when there is no terminal`, {
        hint: `Add ${flag}. Run \`threadmux init --help\` for details.`,
      });
    const answer = await prompt(clack, { message: neutralise(question), signal });
    if (!clack.isCancel(answer)) return answer as Exclude<T, symbol>;
    stop();
    return stopped;
  }

  const decided = (question: string, initialValue: boolean) =>
    asked(question, '--yes', ({ confirm }, common) => confirm({ ...common, initialValue }));

  return {
    isTerminal,
    stopped,
    isStopped: () => signal.aborted,
    say(text) {
      if (clack === undefined) printText(text);
      else clack.log.message(neutralise(text), { spacing: 0 });
    },
    line: async (question, flag) => (await asked(question, flag, ({ text }, common) => text(common))).trim(),
    secret: async (question, flag) => (await asked(question, flag, ({ password }, common) => password(common))).trim(),
    choose(question, choices, flag, usual) {
      const shown = choices.map(({ value, label }) => ({ value, label: neutralise(label) }));
      return asked(question, flag, ({ select }, common) =>
        select<string>({ ...common, options: shown, initialValue: usual ?? '' }),
      ) as Promise<(typeof choices)[number]['value']>;
    },
    yes: async (question, usual) => options.yes || decided(question, usual),
    confirm: (question) => decided(question, false),
    close() {
      process.removeListener('SIGINT', stop);
      process.stdin.removeListener('keypress', onKey);
    },
  };
}

/** Undoes temporary changes in reverse order, also after Ctrl-C. */
export interface CleanUp {
  later(act: () => Promise<unknown>): void;
  /** Runs each act once. A failed act does not stop the others. */
  now(): Promise<void>;
}

export function openCleanUp(): CleanUp {
  const acts: (() => Promise<unknown>)[] = [];
  return {
    later: (act) => void acts.push(act),
    async now() {
      for (let act = acts.pop(); act !== undefined; act = acts.pop()) await act().catch(() => {});
    },
  };
}

// Questions at the terminal. Where there is none, a question names the flag that would have answered it.

import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { ThreadmuxError } from '../core/errors.ts';

export interface Ask {
  readonly isTerminal: boolean;
  say(text: string): void;
  /** One line; `flag` says how to give the answer without a terminal. */
  line(question: string, flag: string): Promise<string>;
  /** The same, and what is typed is not shown. */
  secret(question: string, flag: string): Promise<string>;
  /** Enter alone means `usual`; --yes means yes. */
  yes(question: string, usual: boolean): Promise<boolean>;
  /** Only a person can give this answer: --yes does not. */
  confirm(question: string): Promise<boolean>;
  /** Rejects when the person stops it all with Ctrl-C. */
  readonly stopped: Promise<never>;
  isStopped(): boolean;
  close(): void;
}

export function openAsk(options: { readonly yes: boolean }): Ask {
  const isTerminal = process.stdin.isTTY === true && process.stdout.isTTY === true;
  const stopping = new AbortController();
  const stop = () => stopping.abort();
  const stopped = new Promise<never>((_, reject) => {
    stopping.signal.addEventListener('abort', () =>
      reject(new ThreadmuxError('bad_usage', 'stopped by you')),
    );
  });
  stopped.catch(() => {}); // whoever races against it hears of it
  process.once('SIGINT', stop);
  const typing = isTerminal ? openTyping(stop) : undefined;

  async function asked(question: string, flag: string, hidden: boolean): Promise<string> {
    if (typing === undefined)
      throw new ThreadmuxError(
        'bad_usage',
        `there is no terminal to ask at, and ${flag} is missing`,
        { hint: `Give ${flag}; \`threadmux init --help\` says what it takes.` },
      );
    return (await typing.next(`${question} `, hidden)).trim();
  }

  async function decided(question: string, usual: boolean): Promise<boolean> {
    for (;;) {
      const answer = await asked(`${question} [${usual ? 'Y/n' : 'y/N'}]`, '--yes', false);
      if (answer === '') return usual;
      if (/^(y|yes|n|no)$/i.test(answer)) return /^y/i.test(answer);
    }
  }

  return {
    isTerminal,
    stopped,
    isStopped: () => stopping.signal.aborted,
    say: (text) => console.log(text),
    line: (question, flag) => asked(question, flag, false),
    secret: (question, flag) => asked(question, flag, true),
    yes: async (question, usual) => options.yes || decided(question, usual),
    confirm: (question) => decided(question, false),
    close() {
      process.removeListener('SIGINT', stop);
      typing?.close();
    },
  };
}

/** One reader for all questions, so that lines typed ahead are not lost between two of them. */
function openTyping(stop: () => void) {
  let hidden = false;
  let waiting: ((line: string) => void) | undefined;
  const ahead: string[] = [];
  const screen = new Writable({
    write(chunk, _, done) {
      if (!hidden) process.stdout.write(chunk);
      done();
    },
  });
  // No history: what was typed unseen must not come back with the arrow keys.
  const reader = createInterface({
    input: process.stdin,
    output: screen,
    terminal: true,
    historySize: 0,
  });
  reader.on('SIGINT', stop);
  reader.on('close', stop);
  reader.on('line', (line) => {
    if (waiting === undefined) ahead.push(line);
    else waiting(line);
  });
  return {
    next(question: string, isSecret: boolean): Promise<string> {
      const early = ahead.shift();
      if (early !== undefined) return Promise.resolve(early);
      reader.setPrompt(question);
      reader.prompt();
      hidden = isSecret;
      return new Promise((resolve) => {
        waiting = (line) => {
          waiting = undefined;
          if (hidden) process.stdout.write('\n');
          hidden = false;
          resolve(line);
        };
      });
    },
    close() {
      reader.removeListener('close', stop);
      reader.close();
    },
  };
}

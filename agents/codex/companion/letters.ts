// Passes events on with the scripts `drop` and `ask`, in order: each `drop` ends before the next script starts.

import { type ChildProcess, spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import type { AgentEvent, AskedEvent } from '../../event.ts';

export interface Letters {
  drop(event: AgentEvent): void;
  /** Resolves with what `ask` printed: empty if nobody answered, or after `withdraw`. */
  ask(event: AskedEvent): { readonly answer: Promise<string>; withdraw(): void };
  /** All letters so far are written. */
  written(): Promise<void>;
}

export interface LettersOptions {
  /** The folder of the scripts. */
  readonly scripts: string;
  readonly agent: string;
  readonly env: NodeJS.ProcessEnv;
}

export function createLetters({ scripts, agent, env }: LettersOptions): Letters {
  let queue: Promise<unknown> = Promise.resolve();

  function start(script: 'drop' | 'ask', event: AgentEvent): { child: ChildProcess; printed: Promise<string> } {
    const child = spawn(`${scripts}/${script}`, [agent], { env, stdio: ['pipe', 'pipe', 'ignore'] });
    const ended = new Promise<void>((resolve) => {
      child.once('error', () => resolve()); // it could not be started: this event is lost, the next may not be
      child.once('close', () => resolve());
    });
    const printed = text(child.stdout).catch(() => '');
    child.stdin.on('error', () => {}); // it has ended
    child.stdin.end(JSON.stringify(event));
    return { child, printed: Promise.all([printed, ended]).then(([words]) => words) };
  }

  return {
    drop(event) {
      queue = queue.then(() => start('drop', event).printed);
    },
    ask(event) {
      let isOver = false;
      let asking: ChildProcess | undefined;
      const answer = queue.then(() => {
        if (isOver) return '';
        const { child, printed } = start('ask', event);
        asking = child;
        return printed.then((words) => (isOver ? '' : words));
      });
      return {
        answer,
        withdraw() {
          isOver = true;
          asking?.kill('SIGTERM');
        },
      };
    },
    written: () => queue.then(() => {}),
  };
}

// Runs `drop` and `ask` from inside an agent's own process, for our plugins. Without imports from elsewhere: it is copied to hosts.
// It never throws, and letters keep their order.

import { type ChildProcess, spawn } from 'node:child_process';
import type { Fields } from './loose-fields.ts';

export interface Reporter {
  drop(event: Fields): void;
  /** `answered` gets what `ask` printed: empty if nobody answered. Not called if `close` comes first. */
  ask(id: string, event: Fields, answered: (printed: string) => void): void;
  /** The prompt was answered in the terminal, or is over. Does nothing if `ask` has ended. */
  close(id: string, event: Fields): void;
  /** Ends every `ask`, and waits for the letters. */
  finish(): Promise<void>;
}

/** `drop` takes some milliseconds. If the disk hangs, the agent must not collect processes. */
const DROP_WITHIN_MS = 20_000;
const LONGEST_ANSWER = 256 * 1024;

/** `scripts` is the folder of `drop` and `ask`. `home`: threadmux's home there; empty if the environment says it. */
export function openReporter(agent: string, scripts: string, home = ''): Reporter {
  const asking = new Map<string, ChildProcess>();
  // One after the other: the number of a letter comes from the letters before it.
  let queue: Promise<unknown> = Promise.resolve();
  const inOrder = (act: () => unknown) => {
    queue = queue.then(act).catch(() => {});
  };
  const start = (script: 'drop' | 'ask', event: Fields) => {
    const there = home === '' ? [] : [`THREADMUX_HOME=${home}`];
    const child = spawn('env', [...there, '/bin/sh', `${scripts}/${script}`, agent], {
      stdio: ['pipe', script === 'ask' ? 'pipe' : 'ignore', 'ignore'],
    });
    child.on('error', () => {}); // whoever needs its end waits for `close`
    child.stdin?.on('error', () => {}); // it ended before it had read all
    child.stdin?.end(JSON.stringify(event));
    return child;
  };
  const dropNow = async (event: Fields) => {
    const child = start('drop', event);
    const late = setTimeout(() => child.kill('SIGKILL'), DROP_WITHIN_MS);
    await endOf(child);
    clearTimeout(late);
  };
  return {
    drop: (event) => inOrder(() => dropNow(event)),
    ask: (id, event, answered) =>
      inOrder(() => {
        const child = start('ask', event);
        asking.set(id, child);
        let printed = '';
        child.stdout?.on('data', (data) => {
          if (printed.length < LONGEST_ANSWER) printed += data;
        });
        void endOf(child).then(() => {
          if (asking.get(id) !== child) return;
          asking.delete(id);
          answered(printed);
        });
      }),
    close: (id, event) =>
      inOrder(async () => {
        const child = asking.get(id);
        if (child === undefined) return;
        asking.delete(id);
        child.kill('SIGTERM');
        await endOf(child); // its letter is complete now
        await dropNow(event);
      }),
    async finish() {
      inOrder(() => {
        for (const child of asking.values()) child.kill('SIGTERM');
        asking.clear();
      });
      await queue;
    },
  };
}

function endOf(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    child.once('close', () => resolve());
    child.once('error', () => resolve());
  });
}

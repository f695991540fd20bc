// A file system that does not answer (a network that is gone, a program that hangs) stops every process that looks at a path there, for as long as
// it takes. Another process looks first.

import { spawn } from 'node:child_process';

export interface PathLook {
  /** The program; it reads the paths, because command lines can be seen by other users. */
  readonly command: readonly [string, ...string[]];
  readonly withinMs: number;
}

const LOOK: PathLook = {
  command: ['/bin/sh', '-c', 'while IFS= read -r path; do [ -e "$path" ]; done'],
  withinMs: 5_000,
};

/** False if one of them cannot be looked at in time. Whether they exist does not matter. */
export function isAnswering(paths: readonly string[], { command, withinMs } = LOOK): Promise<boolean> {
  const [program, ...words] = command;
  const child = spawn(program, words, { stdio: ['pipe', 'ignore', 'ignore'], env: {} });
  child.stdin.on('error', () => {}); // it has ended
  child.stdin.end(paths.map((path) => `${path}\n`).join(''));
  return new Promise((resolve) => {
    const late = setTimeout(() => {
      child.kill('SIGKILL'); // it may have to wait even for that, so nobody waits for its end
      child.unref();
      resolve(false);
    }, withinMs);
    const settle = () => {
      clearTimeout(late);
      resolve(true);
    };
    child.once('exit', settle).once('error', settle); // without a process, the path is looked at here
  });
}

// The shells that our scripts must run under, each with its command line.

import { spawnSync } from 'node:child_process';

const WANTED = [
  ['dash', 'dash'],
  ['bash as sh', 'bash', '--posix'],
  process.platform === 'darwin' ? ['the sh of macOS', '/bin/sh'] : ['busybox sh', 'busybox', 'sh'],
] as const;

export const SHELLS = WANTED.map(([name, program, ...args]) => {
  if (spawnSync(program, [...args, '-c', 'exit 0']).status !== 0)
    throw new Error(`${name} is needed for this test: apt-get install ${program}`);
  return [name, program, ...args];
});

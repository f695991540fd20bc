import { defineConfig, type TestProjectConfiguration } from 'vitest/config';
import { longestFirst } from './test/support/longest-first.ts';

/** Suites of their own: `npm run test:claude`, `npm run test:agents` and `npm run test:browser`. */
const ELSEWHERE = ['test/agents/claude/lab/**', 'test/agents/lab/**', 'test/browser/**', 'node_modules/**'];
/** `npm run test:faults`: what is killed, slow, full, cut off or hostile, and other hosts. They take nearly as long as all the others. */
const FAULTS = [
  'test/**/*{killed,slow,full-disk,hostile,faults,lost,everywhere,host,ssh,remote,worktree}*.test.ts',
  'test/hosts/**/*.test.ts',
];
/** They start the whole program many times. */
const LONG = /killed|slow|everywhere|story|hostile|\/bin\/(commands|mcp)\//;
/**
 * discord.js and our client cannot share one copy of undici's state. That a disk is full is reported once per process, and a file that
 * another test could not write would be the first. A made-up agent must not be in the list of the other tests.
 */
const ALONE = ['test/workspace/discord-js.test.ts', 'test/agents/made-up.test.ts'];
const ALONE_FAULTS = ['test/**/*full-disk.test.ts'];

export default defineConfig({
  test: {
    // A shared machine may stall for seconds: there a test has a second chance, and vitest says which needed it.
    retry: process.env.CI ? 1 : 0,
    globalSetup: ['test/support/global-setup.ts'],
    setupFiles: ['test/support/no-sync.mjs', 'test/support/patient-waits.ts'],
    // A limit for what hangs, not for what is slow on a busy machine.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    // Most of their time they wait for other processes: more than there are cores.
    maxWorkers: 10,
    sequence: { sequencer: longestFirst(LONG) },
    projects: [
      project('shared', false, ['test/**/*.test.ts'], [...ALONE, ...FAULTS]),
      project('alone', true, ALONE, []),
      project('faults', false, FAULTS, ALONE_FAULTS),
      project('faults-alone', true, ALONE_FAULTS, []),
    ],
  },
});

/** Without isolation, a process serves many files, with the modules and the compiled code of the file before. */
function project(name: string, isolate: boolean, include: string[], exclude: string[]): TestProjectConfiguration {
  return { extends: true, test: { name, isolate, include, exclude: [...ELSEWHERE, ...exclude] } };
}

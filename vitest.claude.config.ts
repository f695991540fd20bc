// Journeys with the real Claude Code: `npm run test:claude`.

import { defineConfig } from 'vitest/config';
import { longestFirst } from './test/support/longest-first.ts';

const LAB = 'test/agents/claude/lab';
/** It measures how long the page is wrong, so nothing else runs beside it. */
const ALONE = [`${LAB}/day.test.ts`];
/** It waits for minutes and needs no processor, so .ci/run starts it beside other suites. */
const LIMITS = [`${LAB}/limits.test.ts`];
/** Each file has its own lab, and mostly waits for Claude Code. */
const LABS = { maxWorkers: 3, sequence: { groupOrder: 0 } };

export default defineConfig({
  test: {
    // A shared machine may stall for seconds: there a test has a second chance, and vitest says which needed it.
    retry: process.env.CI ? 1 : 0,
    globalSetup: ['test/support/global-setup.ts', `${LAB}/install-claude.ts`],
    setupFiles: ['test/support/patient-waits.ts'],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    sequence: { sequencer: longestFirst(/lab\/limits\.test\.ts$/) },
    projects: [
      { extends: true, test: { ...LABS, name: 'limits', include: LIMITS } },
      {
        extends: true,
        test: {
          ...LABS,
          name: 'labs',
          globalSetup: ['test/browser/start-browser.ts'],
          include: [`${LAB}/**/*.test.ts`],
          exclude: [...ALONE, ...LIMITS],
        },
      },
      { extends: true, test: { name: 'alone', include: ALONE, maxWorkers: 1, sequence: { groupOrder: 1 } } },
    ],
  },
});

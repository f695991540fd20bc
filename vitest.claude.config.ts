// Journeys with the real Claude Code, one lab at a time: `npm run test:claude`.

import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    // A shared machine may stall for seconds: there a test has a second chance, and vitest says which needed it.
    retry: process.env.CI ? 1 : 0,
    include: ['test/agents/claude/lab/**/*.test.ts'],
    globalSetup: ['test/support/global-setup.ts', 'test/agents/claude/lab/install-claude.ts'],
    setupFiles: ['test/support/patient-waits.ts'],
    fileParallelism: false,
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});

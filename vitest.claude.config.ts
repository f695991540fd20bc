// Journeys with the real Claude Code, one lab at a time: `npm run test:claude`.

import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/agents/claude/lab/**/*.test.ts'],
    globalSetup: ['test/support/global-setup.ts', 'test/agents/claude/lab/install-claude.ts'],
    setupFiles: ['test/support/patient-waits.ts'],
    fileParallelism: false,
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});

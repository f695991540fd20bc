import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    // A shared machine may stall for seconds: there a test has a second chance, and vitest says which needed it.
    retry: process.env.CI ? 1 : 0,
    include: ['test/**/*.test.ts'],
    exclude: ['test/agents/claude/lab/**', 'test/browser/**', 'node_modules/**'],
    globalSetup: ['test/support/global-setup.ts'],
    setupFiles: ['test/support/no-sync.mjs'],
    // A process serves many files, with the modules and the compiled code of the file before.
    isolate: false,
    testTimeout: 30_000,
    hookTimeout: 30_000,
    // Most of their time they wait for other processes: more than there are cores.
    maxWorkers: 6,
  },
});

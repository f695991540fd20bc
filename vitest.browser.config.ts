// The page in real browsers, with the real program: `npm run test:browser`.

import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    // A shared machine may stall for seconds: there a test has a second chance, and vitest says which needed it.
    retry: process.env.CI ? 1 : 0,
    include: ['test/browser/**/*.test.ts'],
    globalSetup: ['test/support/global-setup.ts', 'test/browser/start-browser.ts'],
    setupFiles: ['test/support/patient-waits.ts'],
    // Each file has its own program, and mostly waits for it and for the browser, which is the same for all.
    maxWorkers: 2,
    isolate: false,
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});

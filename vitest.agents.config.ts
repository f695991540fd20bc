// Journeys with the real Codex, Gemini CLI, OpenCode and pi: `npm run test:agents`.

import { defineConfig } from 'vitest/config';
import { labAgents } from './test/agents/lab/packages.ts';

const LAB = 'test/agents/lab';
const TESTS = [
  'cases',
  'headless',
  'without-hooks',
  ...(labAgents().some((name) => name !== 'codex') ? ['enter'] : []),
  ...(labAgents().some((name) => name === 'codex' || name === 'gemini') ? ['untrusted-folder'] : []),
  ...labAgents(),
].map((name) => `${LAB}/${name}.test.ts`);

export default defineConfig({
  test: {
    // A shared machine may stall for seconds: there a test has a second chance, and vitest says which needed it.
    retry: process.env.CI ? 1 : 0,
    globalSetup: ['test/support/global-setup.ts', `${LAB}/install-agents.ts`],
    setupFiles: ['test/support/patient-waits.ts'],
    testTimeout: 180_000,
    hookTimeout: 180_000,
    // Each file has its own lab, and mostly waits for an agent.
    maxWorkers: 2,
    // AGENT_LAB_RECORD=opencode records its screens for test/fixtures/ instead.
    include: process.env.AGENT_LAB_RECORD === undefined ? TESTS : [`${LAB}/record-screens.ts`],
  },
});

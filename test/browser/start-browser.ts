// Starts one real Chromium for the whole run. Each test opens pages in a context of its own.

import { existsSync } from 'node:fs';
import { chromium } from 'playwright-core';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** Where the tests reach the browser, if there is one. */
    readonly browser: string | undefined;
  }
}

/** A foreign name that resolves to this machine, as after DNS rebinding. */
export const REBOUND = 'rebound.test';

const PLACES = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
  `--host-resolver-rules=MAP ${REBOUND} 127.0.0.1`,
];

export async function setup({ provide }: TestProject) {
  const path = PLACES.find((place) => existsSync(place));
  if (path === undefined) return undefined; // the tests that need it say so
  const server = await chromium.launchServer({ host: '127.0.0.1', executablePath: path, args: FLAGS });
  provide('browser', server.wsEndpoint());
  return () => server.close();
}

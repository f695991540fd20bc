// Pages in a real Firefox, over WebDriver BiDi: only what a test needs to look at a page.

import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { WebSocket } from 'ws';
import { atEnd } from '../support/at-end.ts';
import { ended } from '../support/start-up.ts';
import { tempFolder } from '../support/temp-home.ts';

const PLACES = ['/usr/bin/firefox-esr', '/usr/bin/firefox', '/Applications/Firefox.app/Contents/MacOS/firefox'];

interface FirefoxPage {
  goto(url: string): Promise<void>;
  /** The value of an expression, or of the promise that it is. */
  value(expression: string): Promise<unknown>;
}

/** One tab of a new Firefox with an empty profile. */
export async function openFirefox(): Promise<FirefoxPage> {
  const program = PLACES.find((place) => existsSync(place));
  if (program === undefined) throw new Error('these tests need Firefox: install it');
  const profile = tempFolder();
  const options = ['--headless', '--no-remote', '--profile', profile, '--remote-debugging-port=0'];
  const browser = spawn(program, options, {
    env: { ...process.env, HOME: profile },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  atEnd(() => ended(browser, 'SIGKILL'));
  const address = await new Promise<string>((found, failed) => {
    browser.once('exit', (code) => failed(new Error(`Firefox ended with ${code}`)));
    createInterface({ input: browser.stderr }).on('line', (line) => {
      const at = /WebDriver BiDi listening on (ws:\S+)/.exec(line)?.[1];
      if (at !== undefined) found(at);
    });
  });
  const send = await connect(`${address}/session`);
  await send('session.new', { capabilities: {} });
  const { context } = await send('browsingContext.create', { type: 'tab' });
  return {
    goto: async (url) => void (await send('browsingContext.navigate', { context, url, wait: 'complete' })),
    async value(expression) {
      const what = { expression: `(async () => JSON.stringify(await (${expression})))()`, target: { context } };
      const answer = await send('script.evaluate', { ...what, awaitPromise: true });
      if (answer.type !== 'success') throw new Error(JSON.stringify(answer.exceptionDetails?.text));
      return answer.result.type === 'string' ? JSON.parse(answer.result.value) : undefined;
    },
  };
}

// biome-ignore lint/suspicious/noExplicitAny: each command has an answer of its own shape
type Send = (method: string, params: object) => Promise<any>;

async function connect(address: string): Promise<Send> {
  const socket = new WebSocket(address);
  await new Promise((open, failed) => socket.once('open', open).once('error', failed));
  atEnd(() => socket.terminate());
  const waiting = new Map<number, (answer: { result?: unknown; message?: string }) => void>();
  socket.on('message', (data) => {
    const answer = JSON.parse(String(data));
    waiting.get(answer.id)?.(answer);
  });
  let id = 0;
  return (method, params) =>
    new Promise((done, failed) => {
      waiting.set(++id, ({ result, message }) => (result === undefined ? failed(new Error(message)) : done(result)));
      socket.send(JSON.stringify({ id, method, params }));
    });
}

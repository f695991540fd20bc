import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openPool, POOL_PATH, REQUEST_PATH } from '../../discord/http-pool.ts';
import { startTestWorkspace } from '../support/workspace.ts';

const load = createRequire(import.meta.url);

describe('the connections to a web server', () => {
  it('are made of parts that undici still keeps where we take them from', () => {
    const whole = load('undici');
    const found = (path: string): unknown => {
      try {
        return load(path);
      } catch {
        return `undici has no ${path} any more: find where it is now, or every bridge takes 10 MB more`;
      }
    };
    expect(found(POOL_PATH)).toBe(whole.Pool);
    expect(found(REQUEST_PATH)).toBe(whole.Pool.prototype.request);
  });

  it('do without the rest of undici, which a bridge would pay for with its memory', async () => {
    const workspace = await startTestWorkspace();
    const program = `
      import { createRequire } from 'node:module';
      import { download } from './dist/discord/download.js';
      import { connectRest } from './dist/discord/rest.js';
      import { serverClock } from './dist/discord/server-clock.js';
      const [api, token] = process.argv.slice(1);
      const rest = connectRest({ api, token });
      await rest.call('GET', '/users/@me');
      await rest.close();
      await serverClock(api);
      await download(api + '/gateway', { api, maxBytes: 1e6, timeoutMs: 5_000 });
      const loaded = Object.keys(createRequire(import.meta.url).cache);
      console.log(JSON.stringify(loaded.filter((path) => path.includes('/undici/'))));`;
    const args = ['--input-type=module', '-e', program, workspace.api, workspace.token];
    const { stdout } = await promisify(execFile)(process.execPath, args);
    const loaded: readonly string[] = JSON.parse(stdout);
    expect(loaded.some((path) => path.endsWith(POOL_PATH))).toBe(true);
    expect(
      loaded.filter((path) => /undici\/(index\.js|lib\/(web|mock|cache)\/)/.test(path)),
    ).toEqual([]);
  });

  it('are made of the whole package where its parts have moved', async () => {
    const workspace = await startTestWorkspace();
    const { origin, pathname } = new URL(workspace.api);
    const asked: string[] = [];
    const pool = openPool({ origin, path: '/' }, 5_000, (path) => {
      asked.push(path);
      if (path !== 'undici') throw new Error(`Cannot find module '${path}'`);
      return load(path);
    });
    onTestFinished(() => pool.destroy());
    const { statusCode, body } = await pool.request({ method: 'GET', path: `${pathname}/gateway` });
    expect([statusCode, await body.json()]).toEqual([200, { url: expect.any(String) }]);
    expect(asked).toEqual([POOL_PATH, 'undici']);
  });
});

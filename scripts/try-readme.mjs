// Follows the README like a new user, with its own home: clone, the commands under "Start", open the
// link. Then stops it, and checks that nothing stays behind.
// usage: node scripts/try-readme.mjs

import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { signIn } from '../test/support/workspace-access.mjs';

const LINK_WITHIN_MS = 30_000;
const ENDS_WITHIN_MS = 15_000;

const folder = mkdtempSync(join(tmpdir(), 'threadmux-readme-'));
const [clone, home, tmux] = ['clone', 'home', 'tmux'].map((name) => join(folder, name));
mkdirSync(home);
mkdirSync(tmux);
const env = {
  PATH: process.env.PATH,
  HOME: home,
  TMUX_TMPDIR: tmux, // a new user has no sessions yet, and those of others must not be listed
  // The package registry is a setting of the machine, not of the new user.
  npm_config_cache: npmSetting('cache'),
  npm_config_userconfig: npmSetting('userconfig'),
  npm_config_prefer_offline: 'true',
  npm_config_audit: 'false',
  npm_config_update_notifier: 'false',
};

try {
  await follow();
  console.log('the README works as it is written');
} catch (error) {
  console.error(`the README does not work as it is written: ${error.message}`);
  process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}

async function follow() {
  execFileSync('git', ['clone', '--quiet', '.', clone]);
  const commands = commandsUnder('Start', readFileSync(join(clone, 'README.md'), 'utf8'));
  const last = commands.pop();
  if (last === undefined) throw new Error('there is no command under “Start”');
  for (const command of commands) await timed(command, () => run(command));
  const program = start(last);
  try {
    const link = await timed(`${last}, until it prints a link`, () => program.link());
    await timed('open the link', () => open(link));
    await timed('stop', () => program.stop());
    const seen = readdirSync(home);
    if (seen.join() !== '.threadmux') throw new Error(`it left ${seen.join(', ')} in the home`);
    if (await fetch(link).catch(() => undefined)) throw new Error('the page answers after the end');
  } finally {
    for (const { pid } of alive()) process.kill(pid, 'SIGKILL');
  }
}

/** The first block of shell commands in a section. */
function commandsUnder(title, text) {
  const section = text.split(/^## /m).find((one) => one.startsWith(`${title}\n`)) ?? '';
  const block = /^```sh\n(.*?)^```/ms.exec(section)?.[1] ?? '';
  return block.split('\n').filter(Boolean);
}

function run(command) {
  try {
    execFileSync('sh', ['-c', command], { cwd: clone, env, stdio: ['ignore', 'pipe', 'pipe'] });
  } catch ({ stdout, stderr }) {
    throw new Error(`${command} failed\n${stdout}${stderr}`);
  }
}

function start(command) {
  const child = spawn('sh', ['-c', `exec ${command}`], { cwd: clone, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => {
      said += text;
    });
  const ended = new Promise((resolve) => child.on('exit', (code, signal) => resolve(code ?? signal)));
  return {
    async link() {
      for (const until = Date.now() + LINK_WITHIN_MS; Date.now() < until; await sleep(50)) {
        const link = /http:\/\/\S+/.exec(said)?.[0];
        if (link !== undefined) return link;
        if (child.exitCode !== null) break;
      }
      throw new Error(`no link came, only: ${said}`);
    },
    /** Signals the program itself, like a supervisor; npm, its parent, reports how it ended. */
    async stop() {
      child.kill('SIGTERM'); // like a service manager; npm passes it on
      const status = await Promise.race([ended, sleep(ENDS_WITHIN_MS, 'nothing', { ref: false })]);
      if (status !== 0) throw new Error(`it ended with ${status}, not 0, saying: ${said}`);
      const left = alive();
      if (left.length > 0) throw new Error(`it left running: ${left.map(({ args }) => args.slice(0, 80)).join(', ')}`);
    },
  };
}

/** Signs in and loads the page with all its parts, like a browser. */
async function open(link) {
  const { headers } = await signIn(link);
  const get = async (path) => {
    const answer = await fetch(new URL(path, link), { headers });
    if (answer.status !== 200) throw new Error(`${path} was answered with ${answer.status}`);
    return answer.text();
  };
  await get('/api/v10/users/@me');
  const page = await get('/');
  const parts = [...page.matchAll(/(?:src|href)="([^"#:]+)"/g)].map(([, path]) => path);
  if (!/<title>[^<]*threadmux/i.test(page) || !parts.some((path) => path.endsWith('.js')))
    throw new Error(`the link does not show the page, but ${page.slice(0, 200)}`);
  for (const path of parts) await get(path);
}

/** Every process with this home, detached or not: only this script uses it. */
function alive() {
  const options = { encoding: 'utf8', maxBuffer: 2 ** 26 };
  return execFileSync('ps', ['axeww', '-o', 'pid=,args='], options)
    .split('\n')
    .filter((line) => line.includes(`HOME=${home}`))
    .map((line) => ({ pid: Number.parseInt(line, 10), args: line.replace(/^\s*\d+\s/, '') }));
}

function npmSetting(name) {
  const options = { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] };
  return execFileSync('npm', ['config', 'get', name], options).trim();
}

async function timed(what, act) {
  const began = Date.now();
  const result = await act();
  console.log(`  ${what}: ${((Date.now() - began) / 1_000).toFixed(1)} s`);
  return result;
}

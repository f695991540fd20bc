// What Claude Code waits for when it runs a hook: from the start of `drop` until both of its pipes
// are closed, with a courier at work, against a shell that does nothing.

import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { conclude, measure, median, printTable } from './support.mjs';

const ROUNDS = 30;
const LIMIT = 4;
const DROP = new URL('../dist/hooks/drop', import.meta.url).pathname;

const input = JSON.stringify({
  session_id: '5d50c9c8-97a7-44d6-b0de-98b3c11b4829',
  transcript_path: '/home/me/.claude/projects/shop/5d50c9c8.jsonl',
  cwd: '/home/me/shop',
  hook_event_name: 'Stop',
  last_assistant_message: 'A reply of ordinary length. '.repeat(40),
});

await measure(async ({ folder }) => {
  const env = {
    PATH: process.env.PATH,
    HOME: folder,
    TMUX: `${folder}/tmux,4242,0`,
    TMUX_PANE: '%7',
  };
  const busy = homeWith(`${folder}/busy`, 'courier.pid', process.pid); // a courier is at work: we
  const alone = homeWith(`${folder}/alone`, 'node', '/bin/true'); // one has to be started
  const contenders = [
    { name: 'sh -c true', command: ['/bin/sh', '-c', 'true'] },
    { name: 'drop', command: [DROP], home: busy },
    { name: 'drop that starts a courier', command: [DROP], home: alone },
    { name: 'node -e 0', command: [process.execPath, '-e', '0'] },
  ].map((contender) => ({ ...contender, ms: [] }));
  for (let round = -3; round < ROUNDS; round++)
    for (const { command, home = folder, ms } of contenders) {
      const took = await untilClosed(command, { ...env, THREADMUX_HOME: home });
      if (round >= 0) ms.push(took); // the first ones warm the caches
      if (home !== folder) takeLetter(home);
    }

  const bare = median(contenders[0].ms);
  printTable(`Until a hook's pipes are closed, median of ${ROUNDS}, interleaved`, [
    ['', 'ms', 'of sh -c true'],
    ...contenders.map(({ name, ms }) => [
      name,
      median(ms).toFixed(2),
      `${(median(ms) / bare).toFixed(2)} x`,
    ]),
  ]);
  conclude(
    `Claude waits for a hook no longer than ${LIMIT} times as long as for a bare shell`,
    contenders.slice(1, 3).every(({ ms }) => median(ms) <= LIMIT * bare),
  );
});

function homeWith(home, name, text) {
  mkdirSync(`${home}/state`, { recursive: true });
  writeFileSync(`${home}/state/${name}`, `${text}\n`);
  return home;
}

/** As the courier does; a letter that is not there fails the measurement. */
function takeLetter(home) {
  const box = `${home}/outbox/4242.7`;
  const [letter] = readdirSync(box);
  rmSync(`${box}/${letter}`);
}

/** As Claude Code runs a hook: its input on stdin, both pipes read to their end. */
function untilClosed([program, ...args], env) {
  const start = performance.now();
  const child = spawn(program, args, { env, stdio: 'pipe' });
  child.stdin.on('error', () => {}); // who reads nothing may be gone already
  child.stdin.end(input);
  child.stdout.resume();
  child.stderr.resume();
  return new Promise((resolve) => {
    child.once('close', () => resolve(performance.now() - start));
  });
}

// Time from a letter in the outbox to the message in the thread, with a running courier, compared with
// one plain POST of the same text. Also counts the requests per reply.

import { spawn } from 'node:child_process';
import { appendFileSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { connectRest } from '../dist/discord/rest.js';
import { saveLocalServer } from '../dist/home/config-file.js';
import { openHome } from '../dist/home/home.js';
import { startWorkspace } from '../dist/workspace/server.js';
import { turnLines, watchReplies } from './reply-setup.mjs';
import { conclude, measure, median, openTmux, printTable, spread } from './support.mjs';

const ROUNDS = 30;
const LIMIT = 3;
const COURIER = new URL('../dist/bin/courier.js', import.meta.url).pathname;
const FIXTURES = new URL('../test/fixtures/claude/', import.meta.url);

await measure(async ({ folder }) => {
  const requests = [];
  const workspace = await startWorkspace({
    dir: `${folder}/workspace`,
    inspection: { request: ({ method, path }) => void requests.push(`${method} ${path}`) },
  });
  const rest = connectRest({ api: workspace.api, token: workspace.token });
  const { visible, close: stopWatching } = watchReplies(rest, workspace, /reply \d+\./);
  const tmux = openTmux(`${folder}/s`, folder);
  tmux('new-session', '-d', '-s', 'web', '-c', folder, 'cat');
  const [server, pane] = tmux('display-message', '-p', '-t', '=web:', '#{pid} #{pane_id}').split(' ');
  const home = openHome(`${folder}/home`);
  saveLocalServer(home, {
    api: workspace.api,
    token: workspace.token,
    channel: workspace.channelId,
    user: workspace.userId,
  });
  const transcript = `${folder}/transcript.jsonl`;
  writeFileSync(transcript, readFileSync(new URL('transcript.jsonl', FIXTURES)));
  const stop = JSON.parse(readFileSync(new URL('hooks/Stop.json', FIXTURES), 'utf8'));
  const courier = spawn(process.execPath, [COURIER, '--stay'], {
    env: { PATH: process.env.PATH, HOME: folder, THREADMUX_HOME: home.root },
    stdio: 'ignore',
  });

  const box = `${home.folder('outbox')}/${server}.${pane.slice(1)}`;
  mkdirSync(box);
  const isEmpty = () => readdirSync(box).length === 0;
  const words = 'Some words of an ordinary answer. '.repeat(20);

  /** A letter as `drop` writes it; the clock starts at the rename. */
  async function reply(n) {
    const text = `reply ${n}.`;
    const input = {
      ...stop,
      cwd: folder,
      transcript_path: transcript,
      prompt_id: `prompt-${n}`,
      last_assistant_message: `${text} ${words}`,
    };
    appendFileSync(transcript, turnLines(n, input.last_assistant_message));
    const place = [`tmux ${folder}/s,${server},0`, `pane ${pane}`, 'entrypoint cli', `project ${folder}`];
    const head = ['threadmux 2', ...place, ''];
    writeFileSync(`${box}/.1`, `${[...head, JSON.stringify(input)].join('\n')}\n`);
    const arrived = visible(text);
    const start = performance.now();
    renameSync(`${box}/.1`, `${box}/100000001.${n + 1}`);
    const message = await arrived;
    const took = performance.now() - start;
    while (!isEmpty()) await sleep(5);
    return { took, thread: message.channel_id };
  }

  async function post(n, thread) {
    const text = `reply ${n}.`;
    const arrived = visible(text);
    const start = performance.now();
    await Promise.all([
      arrived,
      rest.call('POST', `/channels/${thread}/messages`, {
        body: { content: `${text} ${words}`, nonce: `bare-${n}`, enforce_nonce: true },
      }),
    ]);
    return performance.now() - start;
  }

  try {
    const { thread } = await reply(0);
    const replies = [];
    const posts = [];
    let asked = 0;
    for (let n = 1; n <= ROUNDS + 5; n++) {
      const bare = await post(10_000 + n, thread);
      const before = requests.length;
      const { took } = await reply(n);
      if (n <= 5) continue; // warm-up: everything is loaded and connected after these
      posts.push(bare);
      replies.push(took);
      asked += requests.slice(before).length;
      await sleep(30);
    }
    printTable(`Until a reply is visible in its thread, median of ${ROUNDS}, interleaved`, [
      ['', 'ms', 'ms from … to', 'of a bare POST'],
      ['a bare POST', median(posts).toFixed(2), spread(posts), '1.00 x'],
      [
        'a letter in the outbox',
        median(replies).toFixed(2),
        spread(replies),
        `${(median(replies) / median(posts)).toFixed(2)} x`,
      ],
    ]);
    conclude(
      `a reply is visible no later than ${LIMIT} times a bare POST after its letter`,
      median(replies) <= LIMIT * median(posts),
    );
    conclude(`a reply costs one request (${asked} for ${ROUNDS})`, asked === ROUNDS);
  } finally {
    courier.kill('SIGKILL');
    tmux('kill-server');
    stopWatching();
    await rest.close();
    await workspace.close();
  }
});

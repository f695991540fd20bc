// Requests per message and per reply, in a session that is used steadily: one message after the other, each with its reply.
// Nothing is read, ✅ is set once, and a reply is one post.

import { setTimeout as sleep } from 'node:timers/promises';
import { answeredIn, marksOf, readSession, withProgram } from './program-setup.mjs';
import { conclude, measure, printTable, until } from './support.mjs';

const MESSAGES = 20;
const WARM_UP = 2;
/** Below the rate limit of the thread: a mark that would have to wait is skipped. 📨 is set only if typing takes longer than usual. */
const PAUSE_MS = 2_500;

const KINDS = [
  ['posts (the reply)', (one) => one.startsWith('POST') && one.endsWith('/messages')],
  ['✅ set', (one) => one.startsWith('PUT') && one.includes('✅')],
  ['👀 or 📨 set', (one) => one.startsWith('PUT') && /👀|📨/u.test(one)],
  ['👀 or 📨 removed', (one) => one.startsWith('DELETE') && one.includes('/reactions/')],
  ['reads', (one) => one.startsWith('GET')],
  ['“is typing”', (one) => one.endsWith('/typing')],
];

await measure(({ folder }) =>
  withProgram(folder, async ({ call, start, asked, counts }) => {
    const [session] = await start(1);
    for (let n = 0; n < WARM_UP + MESSAGES; n++) {
      if (n === WARM_UP) asked.length = 0;
      const next = sleep(PAUSE_MS);
      await call('POST', `/channels/${session.thread}/messages`, { content: `message ${n}` });
      await untilAnswered(session, `message ${n}`, call);
      await next;
    }
    const found = KINDS.map(([title, isIt]) => [title, asked.filter(isIt).length]);
    const others = asked.filter((one) => !KINDS.some(([, isIt]) => isIt(one)));
    printTable(`Requests of the bot for ${MESSAGES} messages and their replies`, [
      ['', 'all', 'each'],
      ...[...found, ['others', others.length], ['all', asked.length]].map(([title, count]) => [
        ...[title, String(count), (count / MESSAGES).toFixed(2)],
      ]),
    ]);
    for (const one of new Set(others)) console.log(`  ${one}`);
    const [posts, checks, set, removed, reads] = found.map(([, count]) => count);
    const changes = asked.filter((one) => one.includes('/reactions/'));
    conclude(
      'a message costs one change per mark and no read, and a reply costs one post',
      [posts, checks].every((count) => count === MESSAGES) &&
        set === removed &&
        new Set(changes).size === changes.length &&
        [reads, others.length, counts.refused].every((count) => count === 0),
    );
  }),
);

function untilAnswered(session, text, call) {
  return until(async () => {
    const { messages } = await readSession(session, call);
    const isMarked = messages.some((one) => one.content === text && marksOf(one) === '✅');
    return isMarked && messages.some((one) => answeredIn(one) === text);
  }, 30);
}

// Many sessions at once: bursts of messages into 30 panes and a reply to each, while the gateway is cut every 10 s, on a
// server with Discord's rate limits. Nothing may be lost, repeated or out of order in either direction, and every mark has to be right.
// usage: node bench/load.mjs [seconds]

import { setTimeout as sleep } from 'node:timers/promises';
import { answeredIn, marksOf, readSession, withProgram } from './program-setup.mjs';
import { conclude, measure, printTable } from './support.mjs';

const SECONDS = Number(process.argv[2] ?? 180);
const SESSIONS = 30;
const BURST = 3;
const BURST_EVERY_MS = 20_000;
const CUT_EVERY_MS = 10_000;
const SETTLES_WITHIN_MS = 180_000;

await measure(({ folder }) =>
  withProgram(folder, async ({ workspace, gateway, call, start, asked, counts }) => {
    const sessions = await start(SESSIONS);
    asked.length = 0; // creating the threads is not counted
    const { cuts } = await talk(sessions, call, gateway);
    const state = await untilSettled(sessions, call, workspace);
    report({ state, cuts, asked, counts });
  }),
);

async function talk(sessions, call, gateway) {
  const until = Date.now() + SECONDS * 1_000;
  let cuts = 0;
  const cutting = setInterval(() => {
    cuts++;
    gateway.cutAll();
  }, CUT_EVERY_MS);
  await Promise.all(
    sessions.map(async (session, at) => {
      await sleep((at * BURST_EVERY_MS) / SESSIONS);
      for (let burst = 0; Date.now() < until; burst++) {
        const next = sleep(BURST_EVERY_MS);
        for (let n = 0; n < BURST; n++) {
          const content = `${session.name} message ${burst * BURST + n}`;
          session.sent.push(content);
          await call('POST', `/channels/${session.thread}/messages`, { content });
        }
        await next;
      }
    }),
  );
  clearInterval(cutting);
  return { cuts };
}

async function untilSettled(sessions, call, workspace) {
  const deadline = Date.now() + SETTLES_WITHIN_MS;
  for (;;) {
    const state = [];
    for (const session of sessions) state.push(await stateOf(session, call, workspace));
    if (state.every((one) => one.settled) || Date.now() > deadline) return state;
    await sleep(2_000);
  }
}

function report({ state, cuts, asked, counts }) {
  const sum = (key) => state.reduce((total, one) => total + one[key], 0);
  const rows = [
    ['messages sent', 'sent'],
    ['typed once', 'typedOnce'],
    ['lost', 'lost'],
    ['typed twice', 'doubled'],
    ['sessions out of order', 'disordered'],
    ['marked ✅ alone', 'marked'],
    ['notices with ⚠️', 'warned'],
    ['replies posted once', 'replied'],
    ['replies posted twice', 'repliesDoubled'],
    ['threads with replies out of order', 'repliesDisordered'],
  ].map(([title, key]) => [title, String(sum(key))]);
  const count = (isIt) => asked.filter(isIt).length;
  const checks = count((one) => one.startsWith('PUT') && one.includes('✅'));
  printTable(`${SESSIONS} sessions for ${SECONDS} s, the gateway cut ${cuts} times`, [
    ...rows,
    ['✅ set', String(checks)],
    ['⚠️ set at any time', String(count((one) => one.startsWith('PUT') && one.includes('⚠️')))],
    ['posts', String(count((one) => one.startsWith('POST') && one.endsWith('/messages')))],
    ['reads of messages', String(count((one) => /^GET .*\/messages/.test(one)))],
    ['requests answered', String(counts.requests)],
    ['of these with 429', String(counts.refused)],
  ]);
  for (const { wrong } of state) for (const line of wrong) console.log(`  ${line}`);
  const all = sum('sent');
  conclude(
    'everything is typed and answered once and in order, every mark is right, and no request was refused',
    ['typedOnce', 'marked', 'replied'].every((key) => sum(key) === all) &&
      ['doubled', 'disordered', 'warned', 'repliesDoubled', 'repliesDisordered'].every((key) => sum(key) === 0) &&
      checks === all &&
      counts.refused === 0,
  );
}

async function stateOf(session, call, { botId }) {
  const { name, sent } = session;
  const { typed, messages } = await readSession(session, call);
  const times = (list, text) => list.filter((one) => one === text).length;
  const said = messages.filter(({ author }) => author.id === botId).map(({ content }) => content);
  const echoes = messages.filter(({ author }) => author.id === botId).map(answeredIn);
  const ours = messages.filter(({ author }) => author.id !== botId);
  const unmarked = ours.filter((message) => marksOf(message) !== '✅');
  const warnings = said.filter((content) => content.startsWith('⚠️'));
  const count = (isIt) => sent.filter(isIt).length;
  const counted = {
    sent: sent.length,
    typedOnce: count((text) => times(typed, text) === 1),
    lost: count((text) => times(typed, text) === 0),
    doubled: count((text) => times(typed, text) > 1),
    disordered: inOrder([...new Set(typed)], sent) ? 0 : 1,
    marked: ours.length - unmarked.length,
    warned: warnings.length,
    replied: count((text) => times(echoes, text) === 1),
    repliesDoubled: count((text) => times(echoes, text) > 1),
    repliesDisordered: inOrder(echoes.filter(Boolean).toReversed(), sent) ? 0 : 1,
  };
  return {
    ...counted,
    settled: counted.marked === sent.length && counted.replied === sent.length,
    wrong: [
      ...unmarked.map((message) => `${name}: ${message.content} has [${marksOf(message)}]`),
      ...warnings.map((content) => `${name}: ${content.slice(0, 150)}`),
    ],
  };
}

/** Whether what is there has the order in which it was sent. */
function inOrder(texts, sent) {
  return texts.join('\n') === sent.filter((text) => texts.includes(text)).join('\n');
}

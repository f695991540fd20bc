// Time from a written message to its submission, here and over ssh, compared with typing it with a fixed pause of 300 ms
// before Enter; and to its first reaction while a dialog is open. The fake Claude Code takes 40 ms for each input, like the real one.

import { typeMessage } from '../dist/tmux/type-message.js';
import { nextPrompt, tell, untilMarked, withPanes } from './pane-setup.mjs';
import { conclude, measure, median, printTable, spread } from './support.mjs';

const MESSAGES = 25;
const WARM_UP = 3;
const MARKED = 5;
const READS_MS = 40;
const SESSIONS = [
  { host: 'laptop', session: 'here' },
  { host: 'far', session: 'there' },
];

await measure((place) =>
  withPanes(place, SESSIONS, {}, async ({ panes, rest, say }) => {
    for (const { record } of panes) await tell(record, 'slow', READS_MS);
    const rows = [['', 'median ms', 'ms from … to', 'of the pause']];
    const ratios = [];
    for (const pane of panes) {
      const times = { message: [], paused: [], marked: [] };
      for (let n = 0; n < WARM_UP + MESSAGES; n++) {
        const message = await written(pane, n);
        const paused = await typedWithPause(pane, n);
        if (n < WARM_UP) continue;
        times.message.push(message);
        times.paused.push(paused);
      }
      for (let n = 0; n < MARKED; n++) times.marked.push(await reacted(pane, n));
      const paused = median(times.paused);
      const where = pane.host === 'laptop' ? 'here' : 'over ssh';
      for (const [what, list] of [
        [`typed with a pause of 300 ms, ${where}`, times.paused],
        [`written → submitted, ${where}`, times.message],
        [`written → 📨 under a dialog, ${where}`, times.marked],
      ])
        rows.push([what, median(list).toFixed(1), spread(list), `${(median(list) / paused).toFixed(2)} x`]);
      ratios.push(median(times.message) / paused, median(times.marked) / paused);
    }
    printTable(`A message until it is submitted, ${MESSAGES} messages`, rows);
    conclude(
      'a message is submitted, or marked, in less time than typing it with a fixed pause takes',
      ratios.every((ratio) => ratio < 1),
    );

    async function written({ record, thread }, n) {
      const submitted = nextPrompt(record.cwd);
      const began = performance.now();
      const { id } = await say(thread, `message ${n}`);
      const took = (await submitted) - began;
      await untilMarked(rest, thread, id);
      return took;
    }

    /** As before: look at nothing, wait, press Enter. */
    async function typedWithPause({ record, tmux }, n) {
      const submitted = nextPrompt(record.cwd);
      const began = performance.now();
      const id = String((BigInt(Date.now()) - 1_420_070_400_000n) << 22n);
      await typeMessage(tmux, { pane: record, command: record.command }, { id, text: `paused ${n}` });
      return (await submitted) - began;
    }

    async function reacted({ record, thread }, n) {
      await tell(record, 'dialog', 'make');
      const began = performance.now();
      const { id } = await say(thread, `waits ${n}`);
      await untilMarked(rest, thread, id, ['📨']);
      const took = performance.now() - began;
      await tell(record, 'close');
      await untilMarked(rest, thread, id);
      return took;
    }
  }),
);

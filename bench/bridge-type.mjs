// Time from a message to its Enter key in a pane of another host, without the settle pause, compared with
// one plain `ssh host true` over an open connection. Also counts the execs per message.

import { bareSsh, nextPrompt, untilMarked, withPanes } from './pane-setup.mjs';
import { conclude, measure, median, printTable, spread } from './support.mjs';

const MESSAGES = 40;
const WARM_UP = 5;

await measure(async ({ folder, start }) => {
  const sessions = [{ host: 'far', session: 'web' }];
  await withPanes({ folder, start }, sessions, { settleMs: 0 }, async ({ panes: [pane], rest, ssh, say }) => {
    const { record, thread } = pane;
    const bare = await bareSsh(folder);
    const times = { message: [], bare: [] };
    const execs = [];
    for (let n = 0; n < WARM_UP + MESSAGES; n++) {
      const [before, submitted] = [await ssh.ask('counts'), nextPrompt(record.cwd)];
      const began = performance.now();
      const { id } = await say(thread, `message ${n}`);
      const endedAt = await submitted;
      await untilMarked(rest, thread, id); // without hooks the bridge confirms it with one more look
      const after = await ssh.ask('counts');
      const bareTook = await bare();
      if (n < WARM_UP) continue;
      times.message.push(endedAt - began);
      times.bare.push(bareTook);
      execs.push(after.times.slice(before.execs).filter((at) => at < performance.timeOrigin + endedAt).length);
    }
    const ratio = median(times.message) / median(times.bare);
    printTable(`A message into a pane over ssh, ${MESSAGES} messages, no settle pause`, [
      ['', 'median ms', 'ms from … to', 'of one ssh'],
      ['bare `ssh host true`', median(times.bare).toFixed(1), spread(times.bare), '1.0 x'],
      ['written → Enter', median(times.message).toFixed(1), spread(times.message), `${ratio.toFixed(1)} x`],
    ]);
    const { connections } = await ssh.ask('counts');
    // On a busy machine a message takes so long that the state of the session is looked at meanwhile.
    const each = median(execs);
    conclude(
      `a message costs ${each} execs (at most ${Math.max(...execs)}) over ${connections - 1} connection, and at most 6 bare ones in time`,
      each === 2 && connections === 2 && ratio <= 6,
    );
    await bare.close();
  });
});

// Whether an agent reports to us; and explains, once per session, why the replies of an agent without our hooks do not appear.

import { setTimeout as sleep } from 'node:timers/promises';
import { driverOf } from '../agents/list.ts';
import type { ThreadRecord } from '../threads/registry.ts';
import type { JourneyOptions } from './journey.ts';

/** Whether the agent reports what was submitted. */
export function isHeard(record: ThreadRecord | undefined): boolean {
  return record?.claudeSession !== '' && driverOf(record?.agent ?? '').guarantees.receipt === 'hook';
}

/** An agent that has just started reports within `heardWithinMs`. */
export async function tellUnheard(thread: string, heardWithinMs: number, options: JourneyOptions): Promise<void> {
  const { registry } = options.threads;
  if (registry.get(thread)?.toldUnheard) return;
  await sleep(heardWithinMs, undefined, { signal: options.signal });
  const record = registry.get(thread);
  if (record === undefined || record.claudeSession !== '' || record.toldUnheard) return;
  registry.change(thread, { toldUnheard: true });
  const on = options.hosts.isLocal(record.host) ? '' : ` --host ${record.host}`;
  const install = `Run \`threadmux install${on}\` on ${options.config.host} once and restart the agent (\`claude --continue\`); until then, use \`!screen\`.`;
  await options.outcomes.say(thread, [thread, 'unheard', record.panePid], {
    content: `ℹ️ This agent runs without our hooks, so its replies do not appear here. ${install}`,
    silent: true,
  });
}

// Whether an agent reports to us; and explains, once per session, why the replies of an agent without our hooks do not appear.

import { setTimeout as sleep } from 'node:timers/promises';
import type { AgentDriver } from '../agents/driver.ts';
import { driverOf } from '../agents/list.ts';
import type { ThreadRecord } from '../threads/registry.ts';
import type { JourneyOptions } from './message-journey.ts';

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
  await options.outcomes.postNotice(thread, [thread, 'unheard', record.panePid], {
    content: `ℹ️ ${unheardText(driverOf(record.agent), on, options.config.host)}`,
    silent: true,
  });
}

/** `on`: the option that names another host, or empty. */
export function unheardText({ name, title, extension }: AgentDriver, on: string, here: string): string {
  const missing = `This ${title} runs without our hooks, so its replies do not appear here.`;
  const run = (command: string, how = '') =>
    `${missing} Run \`${command}\` on ${here} once and restart it${how}; until then, use \`!screen\`.`;
  if (name === 'claude') return run(`threadmux install${on}`, ' (`claude --continue`)');
  if (extension !== undefined) return run(`threadmux install${on} --agent ${name}`);
  return `${missing} They do if threadmux starts it: \`!new <name> --agent ${name}\`. \`!screen\` shows what it says.`;
}

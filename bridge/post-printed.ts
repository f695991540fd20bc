// Posts what a slash command printed. It is read from the transcript on the session's host, because no hook reports it.

import { setTimeout as sleep } from 'node:timers/promises';
import { driverOf } from '../agents/list.ts';
import type { Log } from '../core/log.ts';
import { narrowText } from '../core/narrow-text.ts';
import { screenBlock } from '../threads/notices.ts';
import type { ThreadRecord } from '../threads/registry.ts';
import type { HostList } from '../tmux/host-list.ts';
import type { Outcomes } from './outcomes.ts';

interface PrintedOptions {
  readonly hosts: HostList;
  readonly recordOf: (thread: string) => ThreadRecord | undefined;
  readonly say: Outcomes['say'];
  readonly log: Log;
  readonly signal: AbortSignal;
}

export interface RanCommand {
  readonly thread: string;
  readonly message: string;
  /** When it was typed (`Date.now`). */
  readonly at: number;
  /** A hook reported it: the agent answers, and prints at most a line. */
  readonly isTurn: boolean;
}

/** Some commands, such as /compact, print only after a minute. */
const PAUSES_MS = [200, 500, 1_000, 2_000, 4_000, 8_000, 15_000, 30_000, 60_000];
const PAUSES_OF_TURN_MS = [1_000];
/** Clocks of files and programs may differ a little. */
const TOLERANCE_S = 1.5;
const REMEMBERED = 500;

export function createPostPrinted({ hosts, recordOf, say, log, signal }: PrintedOptions) {
  const seen = new Set<string>();

  /** True if the command has ended, with or without output. */
  async function look({ thread, message, at }: RanCommand): Promise<boolean> {
    const record = recordOf(thread); // /clear starts another transcript
    const printed = driverOf(record?.agent ?? '').commands?.printed;
    if (record === undefined || printed === undefined || record.transcript === '') return true;
    const output = await hosts.get(record.host).sh(printed.script, [record.transcript], {
      doing: 'read what the command printed',
      timeoutMs: 10_000,
      maxBytes: 2 ** 20,
      signal,
    });
    const since = (Date.now() - at) / 1_000 + TOLERANCE_S;
    const news = printed.parse(output).filter(({ uuid, age }) => age <= since && !seen.has(uuid));
    for (const { uuid } of news) remember(uuid);
    const text = news.flatMap((one) => (one.text === '' ? [] : [one.text])).join('\n');
    if (text !== '')
      await say(thread, [message, 'printed', news[0]?.uuid ?? ''], { content: shown(text), silent: true });
    return news.length > 0;
  }

  function remember(uuid: string): void {
    seen.add(uuid);
    if (seen.size > REMEMBERED) for (const first of seen) return void seen.delete(first);
  }

  return async (ran: RanCommand): Promise<void> => {
    try {
      for (const pauseMs of ran.isTurn ? PAUSES_OF_TURN_MS : PAUSES_MS) {
        await sleep(pauseMs, undefined, { signal });
        if (await look(ran)) return;
      }
    } catch (error) {
      if (!signal.aborted) log.info('what a command printed', { because: (error as Error).message });
    }
  };
}

function shown(text: string): string {
  return screenBlock(narrowText(text));
}

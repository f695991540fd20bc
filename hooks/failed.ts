// The turn ended with an error, or a usage limit was reached.

import type { EventOf } from '../agents/event.ts';
import { textsOf } from '../agents/turn.ts';
import { untrustedText } from '../core/untrusted-text.ts';
import { limitNotice, reachedLimit } from '../threads/limit-record.ts';
import { type EventOutcome, type EventReport, turnOf } from './events.ts';
import { postTexts } from './post-texts.ts';

export async function handleFailed(event: EventOf<'failed'>, report: EventReport): Promise<EventOutcome> {
  const { context, rest, driver } = report;
  const { transcript, turn: promptId } = event;
  const key = turnOf(report);
  const read = driver.turns?.read(transcript, { promptId, files: context.files }).catch(() => undefined); // the failure must be told
  const turn = read === undefined ? context.reported.of(key) : await read;
  await context.progress.stop(key);
  await postTexts(report, textsOf(turn));
  const { notice, ...limited } = limitOf(event, report) ?? {};
  const said = untrustedText(event.details ?? '').trim();
  const quoted = said === '' ? '' : `\n> ${said.split('\n').join('\n> ')}`;
  const resets = notice === undefined ? '' : `\n${notice.text}`;
  const text = `⚠️ ${driver.title} stopped: ${untrustedText(event.error, 300)}.${quoted}${resets}`;
  return {
    state: 'idle',
    ...limited,
    say: { text, components: notice?.components ?? [] },
    after: () => context.progress.end(key, rest, 'failed', turn),
  };
}

/** Undefined if it is no usage limit, or its reset time is not known. */
function limitOf(event: EventOf<'failed'>, { letter, context, directory, thread, driver }: EventReport) {
  const resetsAt = driver.resetOf?.(event, letter.writtenAt);
  if (resetsAt === undefined) return undefined;
  const onLimit = context.threads.destinationOf({ host: context.host.name, directory })?.project.onLimit ?? 'tell';
  const limit = reachedLimit(thread.limit, { letter: letter.id, at: letter.writtenAt, resetsAt, onLimit });
  return { limit, notice: limitNotice(limit, onLimit) };
}

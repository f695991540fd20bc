// Stop: Claude has finished a reply. Its last text comes with the hook; earlier texts of the turn
// that were not shown yet are in the transcript.

import { homedir } from 'node:os';
import type { StopInput } from '../claude/hook-input.ts';
import { waitUntilSettled } from '../claude/settle.ts';
import { readTurn, type Turn } from '../claude/transcript.ts';
import { takeAttachments } from './attachments.ts';
import type { Outcome, Report } from './event.ts';
import type { Saying } from './fit.ts';
import { stripBlocks } from './strip.ts';

export async function stop(input: StopInput, report: Report): Promise<Outcome> {
  const { desk, rest, thread } = report;
  // Older versions call Stop before the reply is in the transcript.
  if (input.last_assistant_message === undefined) await waitUntilSettled(input.transcript_path);
  const turn = await readTurn(input.transcript_path, { promptId: input.prompt_id });
  const reply = replyOf(turn, input.last_assistant_message, (id) =>
    desk.shown.has(input.session_id, id),
  );
  const say = saying(reply.texts.join('\n\n'), input, report);
  return {
    state: 'idle',
    ...(say === undefined ? {} : { say }),
    async after() {
      desk.shown.add(input.session_id, input.prompt_id ?? '', reply.ids);
      await desk.progress.end(thread.thread, rest, 'done');
    },
  };
}

export interface Reply {
  readonly texts: readonly string[];
  /** The ids of all texts of the turn, shown now or before. */
  readonly ids: readonly string[];
}

/** The texts of a turn that were not shown yet, in order; the hook's own word for the last one. */
export function replyOf(
  turn: Turn | undefined,
  last: string | undefined,
  isShown: (id: string) => boolean,
): Reply {
  const all = (turn?.messages ?? []).flatMap(({ texts }) => texts);
  const texts = all.filter(({ uuid }) => !isShown(uuid)).map(({ text }) => text);
  const isNew = last !== undefined && last.trim() !== '' && last.trim() !== all.at(-1)?.text.trim();
  return { texts: isNew ? [...texts, last] : texts, ids: all.map(({ uuid }) => uuid) };
}

function saying(
  reply: string,
  input: StopInput,
  { desk, session, letter }: Report,
): Saying | undefined {
  const text = stripBlocks(reply, desk.config.strip);
  if (text.trim() === '') return undefined;
  const attached = takeAttachments(text, {
    roots: [desk.home.folder('files'), letter.project || input.cwd],
    cwd: input.cwd,
    homeDir: homedir(),
  });
  const refusals = attached.refused.map((why) => `📎 not attached: ${why}`);
  return {
    text: [attached.text.trim(), ...refusals].filter(Boolean).join('\n'),
    header: desk.header(session, letter.project || input.cwd),
    footer: desk.footer(input.session_id),
    files: attached.files,
  };
}

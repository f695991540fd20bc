// Posts, updates and closes the message of a prompt.

import { setTimeout as sleep } from 'node:timers/promises';
import type { AskedEvent } from '../../agents/event.ts';
import { driverOf } from '../../agents/list.ts';
import { isThreadmuxError } from '../../core/errors.ts';
import type { Prompt, PromptProgress } from '../../core/prompt.ts';
import type { ShownPrompt } from '../../core/prompt-answer.ts';
import { keepTrying } from '../../core/retry-with-pauses.ts';
import { stableNonce } from '../../core/snowflake.ts';
import { bold, insideFence } from '../../core/untrusted-text.ts';
import { UNKNOWN_CHANNEL, UNKNOWN_MESSAGE } from '../../discord/error-codes.ts';
import {
  type ComponentRow,
  createMessage,
  editMessage,
  getMessage,
  isTooLarge,
  type MessageDraft,
  refusedWith,
} from '../../discord/messages.ts';
import type { FileUpload, Rest } from '../../discord/rest.ts';
import { unarchiveAndRetry } from '../../discord/threads.ts';
import { loadStreamRecord } from '../../home/stream-record.ts';
import type { LastEnds } from '../last-ends.ts';
import type { WaitingPrompt } from '../session-state.ts';
import type { PromptsOptions } from './locate.ts';
import { escapeCode, escapeText, jsonText } from './preview.ts';
import { isOfProgram } from './program-question.ts';
import { promptButtons } from './prompt-buttons.ts';
import {
  type createPromptFiles,
  type OpenPrompt,
  type PromptEnd,
  type PromptRecord,
  promptOf,
} from './prompt-record.ts';
import { type PromptText, permissionText, planText, promptEndText, questionText } from './prompt-text.ts';

export type PromptMessages = ReturnType<typeof createPromptMessages>;

export const PROMPT_PAUSES = { firstMs: 1_000, longestMs: 60_000 };

interface MessageParts extends Pick<PromptsOptions, 'home' | 'threads' | 'log'> {
  readonly signal: AbortSignal;
  readonly store: Pick<ReturnType<typeof createPromptFiles>, 'note'>;
  readonly ends: LastEnds;
}

export function createPromptMessages({ home, threads, log, signal, store, ends }: MessageParts) {
  function restOf({ thread }: PromptRecord): Rest | undefined {
    const server = threads.registry.get(thread)?.server ?? loadStreamRecord(home, thread)?.server;
    return threads.connections.named(server ?? '')?.rest;
  }

  async function edit({ record }: OpenPrompt, draft: Partial<MessageDraft>): Promise<void> {
    const rest = restOf(record);
    if (rest === undefined || !/^\d+$/.test(record.message)) return;
    const act = () => editMessage(rest, record.thread, record.message, draft);
    // When its session is over, the message must be right when a user opens the thread later.
    await unarchiveAndRetry(rest, record.thread, act, { archiveAgain: true });
  }

  const untilTaken = ({ record }: OpenPrompt, what: string, act: () => Promise<void>) =>
    keepTrying(act, {
      ...PROMPT_PAUSES,
      signal,
      onFailure(error) {
        log.warn(what, { id: record.id, because: (error as Error).message });
        if (isThreadmuxError(error, 'discord_refused')) throw error;
      },
    });

  /** What is to be noted; as the message 'deleted' if it was posted before and somebody has deleted it since. */
  async function post(
    { record, prompt, input }: OpenPrompt,
    gone?: string,
  ): Promise<Pick<PromptRecord, 'message' | 'tooLarge'>> {
    const rest = restOf(record);
    const { id, message, tooLarge } = record;
    if (rest === undefined || message !== '') return { message, tooLarge };
    const nonce = stableNonce('prompt', id, ...(gone === undefined ? [] : [gone]));
    const progress = { chosen: record.chosen };
    const postAs = async (shown: Prompt) => {
      const draft = {
        content: contentOf(shown, input, progress, titleOf(record)),
        files: filesOf(shown, input, titleOf(record)),
        components: promptButtons(id, shown, progress),
      };
      const create = () => createMessage(rest, record.thread, nonce, draft);
      const posted = await unarchiveAndRetry(rest, record.thread, create);
      log.info('prompt', { id, kind: shown.kind, tool: input.tool });
      return { message: posted?.id ?? 'deleted', tooLarge: shown.kind === 'too large' };
    };
    return postAs(prompt).catch((error: unknown) => {
      if (!isTooLarge(error)) throw error;
      return postAs(promptOf(input, true));
    });
  }

  /** Whether somebody has deleted its message: nobody sees what a text would answer. Then it is posted again. */
  async function isGone(one: OpenPrompt): Promise<boolean> {
    const { thread, message } = one.record;
    const rest = restOf(one.record);
    if (rest === undefined) return false;
    try {
      await getMessage(rest, thread, message);
      return false;
    } catch (error) {
      if (!refusedWith(error, UNKNOWN_MESSAGE)) throw error;
      store.note(one, await post({ ...one, record: { ...one.record, message: '' } }, message));
      return true;
    }
  }

  return {
    post,
    isGone,
    /** In the background, because a slow server must not delay the next answer; like `close`. `by`: the person who changed it. */
    show(one: OpenPrompt, by?: string): void {
      const act = async () => {
        const { record, prompt, input } = one; // as it is now: an earlier try must not undo a later change
        const progress = { chosen: record.chosen };
        const content = contentOf(prompt, input, progress, titleOf(record));
        if (record.ended === undefined)
          await edit(one, { content, components: promptButtons(record.id, prompt, progress) });
      };
      ends.until(one.record.id, untilTaken(one, 'showing a prompt', act), { by }).catch(() => {}); // it is in the log
    },
    /** Tries until the server has taken or refused it. */
    async close(one: OpenPrompt, ended: PromptEnd, buttons: readonly ComponentRow[] = []): Promise<void> {
      // What was chosen here but not submitted is not the answer.
      const isGiven = ended.kind === 'decided' || ended.kind === 'not delivered';
      const content = endText(one, { chosen: isGiven ? one.record.chosen : [] }, ended);
      // What somebody has deleted is not shown as open.
      const act = () =>
        edit(one, { content, components: buttons }).catch((error) => {
          if (!refusedWith(error, UNKNOWN_MESSAGE, UNKNOWN_CHANNEL)) throw error;
        });
      const shown = untilTaken(one, 'showing the end of a prompt', act);
      await ends.until(one.record.thread, shown, { of: one.record.id }).catch((error) => {
        // This process ends.
        if (!signal.aborted && !isThreadmuxError(error, 'discord_refused')) throw error;
      });
    },
  };
}

const POSTED_WITHIN_MS = 60_000;

/** The server may have shown the message, and a person may have tapped on it, before we have its answer or after it was lost. */
export async function untilPosted(one: OpenPrompt, isOver: () => boolean): Promise<void> {
  const deadline = performance.now() + POSTED_WITHIN_MS;
  while (one.record.message === '' && !isOver() && performance.now() < deadline) await sleep(100);
}

// What a prompt's message shows: while it is open, and when it is over.

/** For people. */
const titleOf = ({ agent }: PromptRecord) => driverOf(agent).title;

export function contentOf(prompt: Prompt, input: AskedEvent, progress: PromptProgress, title: string) {
  const { text, hint } = shownOf(prompt, input, progress, title);
  return `${text}\n${hint}`;
}

function filesOf(prompt: Prompt, input: AskedEvent, title: string): readonly FileUpload[] {
  return shownOf(prompt, input, { chosen: [] }, title).files;
}

function endText({ prompt, input, record }: OpenPrompt, progress: PromptProgress, ended: PromptEnd): string {
  const title = titleOf(record);
  return `${shownOf(prompt, input, progress, title).text}\n${lastLine(prompt, input, ended, record.headless, title)}`;
}

interface OfProgram {
  /** It has no dialog in the terminal. */
  readonly ofProgram: boolean;
}

/** As a text may answer it; nothing if it is not on the screen. */
export function asShown({ record, prompt, input }: OpenPrompt): readonly (ShownPrompt & WaitingPrompt & OfProgram)[] {
  if (record.ended !== undefined || record.message === 'deleted') return [];
  const { id, message: messageId, chosen } = record;
  const asked = prompt.kind === 'question' ? prompt.questions[chosen.length] : undefined;
  const labels = asked?.options.map(({ label }) => label) ?? [];
  const ofProgram = isOfProgram(input);
  const waits = { kind: prompt.kind, at: record.at, ofProgram, ofSubagent: ofProgram || input.subagent !== undefined };
  return [{ ...waits, id, messageId, question: asked === undefined ? 0 : chosen.length + 1, labels }];
}

function lastLine(prompt: Prompt, input: AskedEvent, ended: PromptEnd, headless: boolean, title: string): string {
  if (isOfProgram(input) && ended.kind === 'called off') return '⏹️ The program no longer waits for an answer.';
  if (isOfProgram(input) && ended.kind === 'time is up') return '⌛ Nobody answered in time.';
  if (headless && ended.kind === 'called off') return '⏹️ The agent was stopped.';
  if (headless && ended.kind === 'time is up') return '⌛ Nobody answered: denied.';
  return promptEndText(prompt, ended, title);
}

function shownOf(prompt: Prompt, asked: AskedEvent, progress: PromptProgress, title: string): PromptText {
  switch (prompt.kind) {
    case 'permission':
      return permissionText(asked, title);
    case 'plan': {
      // The user approves all of this, such as commands that may run. It comes first, so that a long text cannot hide
      // it.
      const { plan, planFilePath, ...others } = asked.input;
      // Where Claude Code keeps the same text.
      const isCopy = typeof planFilePath === 'string' && /\/plans\/[\w.-]+\.md$/.test(planFilePath);
      const rest = isCopy || planFilePath === undefined ? others : { planFilePath, ...others };
      const more = typeof plan === 'string' ? rest : asked.input;
      const text = typeof plan === 'string' ? plan : '';
      const besides = insideFence(jsonText(more), 'json');
      return planText(Object.keys(more).length === 0 ? text : `${besides}\n${text}`, title);
    }
    case 'too large':
      return {
        text: `🔔 ${title} asks for something that is too large to be shown here: ${bold(escapeText(asked.tool, 100))} in ${escapeCode(asked.cwd, 200)}`,
        hint: '-# What cannot be read whole can only be denied here. To allow it, answer in the terminal.',
        files: [],
      };
    case 'question':
      return questionText(prompt.questions, progress);
  }
}

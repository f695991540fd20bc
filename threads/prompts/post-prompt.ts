// The message of a prompt in its thread: posted, kept up to date, closed.

import { isThreadmuxError } from '../../core/errors.ts';
import { keepTrying } from '../../core/keep-trying.ts';
import type { Log } from '../../core/log.ts';
import type { Prompt } from '../../core/prompt.ts';
import { stableNonce } from '../../core/snowflake.ts';
import {
  type ComponentRow,
  createMessage,
  editMessage,
  isTooLarge,
  type MessageDraft,
} from '../../discord/messages.ts';
import type { Rest } from '../../discord/rest.ts';
import { unarchiveAndRetry } from '../../discord/threads.ts';
import type { Home } from '../../home/home.ts';
import { loadStreamRecord } from '../../home/stream-record.ts';
import type { Threads } from '../session-threads.ts';
import { promptOf } from './decision.ts';
import { promptButtons } from './prompt-buttons.ts';
import { contentOf, endText, filesOf } from './prompt-message.ts';
import type { OpenPrompt, PromptEnd, PromptRecord } from './prompt-record.ts';

export interface PromptMessages {
  /** What is to be noted; as the message 'deleted' if it was posted before and somebody has deleted it since. */
  post(one: OpenPrompt): Promise<Pick<PromptRecord, 'message' | 'tooLarge'>>;
  /** Not waited for: a slow server must not keep the next answer from being heard. */
  show(one: OpenPrompt): void;
  /** Tries until the server has taken or refused it. */
  close(one: OpenPrompt, ended: PromptEnd, buttons?: readonly ComponentRow[]): Promise<void>;
}

export const PROMPT_PAUSES = { firstMs: 1_000, longestMs: 60_000 };

export function createPromptMessages(parts: {
  readonly home: Home;
  readonly threads: Threads;
  readonly log: Log;
  readonly signal: AbortSignal;
}): PromptMessages {
  const { home, threads, log, signal } = parts;

  function restOf({ thread }: PromptRecord): Rest | undefined {
    const server = threads.registry.get(thread)?.server ?? loadStreamRecord(home, thread)?.server;
    return threads.connections.named(server ?? '')?.rest;
  }

  async function edit({ record }: OpenPrompt, draft: Partial<MessageDraft>): Promise<void> {
    const rest = restOf(record);
    if (rest === undefined || !/^\d+$/.test(record.message)) return;
    const act = () => editMessage(rest, record.thread, record.message, draft);
    // When its session is over, the message must be right for whoever opens the thread later.
    await unarchiveAndRetry(rest, record.thread, act, { archiveAgain: true });
  }

  const told = ({ record }: OpenPrompt, what: string, error: unknown) =>
    log.warn(what, { id: record.id, because: (error as Error).message });

  return {
    async post({ record, prompt, input }) {
      const rest = restOf(record);
      const { id, message, tooLarge } = record;
      if (rest === undefined || message !== '') return { message, tooLarge };
      const progress = { chosen: record.chosen };
      const postAs = async (shown: Prompt) => {
        const draft = {
          content: contentOf(shown, input, progress),
          files: filesOf(shown, input),
          components: promptButtons(id, shown, progress),
        };
        const create = () => createMessage(rest, record.thread, stableNonce('prompt', id), draft);
        const posted = await unarchiveAndRetry(rest, record.thread, create);
        log.info('prompt', { id, kind: shown.kind, tool: input.tool_name });
        return { message: posted?.id ?? 'deleted', tooLarge: shown.kind === 'too large' };
      };
      return postAs(prompt).catch((error: unknown) => {
        if (!isTooLarge(error)) throw error;
        return postAs(promptOf(input, true));
      });
    },
    show(one) {
      const { record, prompt, input } = one;
      const progress = { chosen: record.chosen };
      const components = promptButtons(record.id, prompt, progress);
      edit(one, { content: contentOf(prompt, input, progress), components }).catch((error) =>
        told(one, 'showing a prompt', error),
      );
    },
    async close(one, ended, buttons = []) {
      const { record, prompt, input } = one;
      const progress = { chosen: record.chosen };
      const content = endText(prompt, input, progress, ended, record.headless);
      await keepTrying(() => edit(one, { content, components: buttons }), {
        ...PROMPT_PAUSES,
        signal,
        onFailure(error) {
          told(one, 'showing the end of a prompt', error);
          if (isThreadmuxError(error, 'discord_refused')) throw error;
        },
      }).catch((error) => {
        // The message or its thread is gone, or this process ends.
        if (!signal.aborted && !isThreadmuxError(error, 'discord_refused')) throw error;
      });
    },
  };
}

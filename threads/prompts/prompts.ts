// Prompts: the agent asks for a permission, an answer or a plan's approval. The dialog in the terminal stays live; taps,
// texts and the terminal race for one decision, which is written down before it is acted on. Without a decision nothing
// is ever given to the hook.

import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { type PermissionRequestInput, parseHookInput } from '../../claude/hook-input.ts';
import { createInTurn } from '../../core/in-turn.ts';
import type { Log } from '../../core/log.ts';
import { stableNonce } from '../../core/nonce.ts';
import { type Answer, type Prompt, step } from '../../core/prompt.ts';
import { type AnsweredOn, isOwnMessage, type ShownPrompt } from '../../core/prompt-answer.ts';
import { createMessage, editMessage } from '../../discord/messages.ts';
import { readJson, writeJson } from '../../home/files.ts';
import type { Home } from '../../home/home.ts';
import { loadStreamRecord } from '../../home/stream-record.ts';
import type { SessionPane, Threads } from '../threads.ts';
import { createAnswers } from './answers.ts';
import { promptButtons } from './buttons.ts';
import { decisionOutput, promptOf } from './decision.ts';
import {
  type By,
  type Ended,
  loadPromptRecords,
  type PromptRecord,
  promptRecordSchema,
} from './record.ts';
import { contentOf, endText, filesOf, labelsOf } from './show.ts';
import type { Watch } from './watch.ts';

/** What the hook wrote down. */
export interface AskLetter {
  readonly ask?: string | undefined;
  readonly tmux: string;
  readonly pane: string;
  readonly project: string;
  /** Of a headless agent: its thread. */
  readonly thread?: string | undefined;
  readonly writtenAt: number;
}

export interface Prompts {
  /** Posts the prompt and waits for its answer, in the background. Safe to repeat. */
  open(letter: AskLetter, input: PermissionRequestInput): Promise<void>;
  /** The prompts that wait for an answer in this thread, oldest first. */
  inThread(thread: string): readonly ShownPrompt[];
  isOpenFor(claudeSession: string): boolean;
  /** 'over': nobody waits for it any more. 'no answer': it says nothing about what is asked now. */
  answer(given: Given): Promise<'taken' | 'no answer' | 'over'>;
  isBusy(): boolean;
  /** What an earlier process left: it goes on. */
  takeUp(): void;
  close(): void;
}

/** A tap or a text. */
export interface Given {
  readonly prompt: string;
  readonly on: AnsweredOn;
  readonly answer: Answer;
  readonly by: By;
  /** The interaction or message it came with. */
  readonly order: string;
}

export interface PromptsOptions {
  readonly home: Home;
  readonly threads: Threads;
  readonly log: Log;
  readonly sessionOf: (tmux: string, pane: string) => Promise<SessionPane | undefined>;
  readonly watch: Watch;
}

const KEPT_MS = 24 * 3_600_000;

interface Open {
  record: PromptRecord;
  readonly prompt: Prompt;
  readonly input: PermissionRequestInput;
  stop(): void;
}

export function openPrompts(options: PromptsOptions): Prompts {
  const { home, threads, log } = options;
  const answers = createAnswers(home);
  const inTurn = createInTurn();
  const open = new Map<string, Open>();
  const path = (id: string) => join(home.folder('prompts'), `${id}.json`);
  const restOf = ({ thread }: PromptRecord) => {
    const server = threads.registry.get(thread)?.server ?? loadStreamRecord(home, thread)?.server;
    return threads.connections.named(server ?? '')?.rest;
  };

  function save(one: Open, to: Partial<PromptRecord>): void {
    one.record = { ...one.record, ...to };
    writeJson(path(one.record.id), one.record);
  }

  function add(record: PromptRecord, input: PermissionRequestInput): Open {
    const one: Open = { record, input, prompt: promptOf(input), stop: () => {} };
    open.set(record.id, one);
    return one;
  }

  /** Posted before it is watched; the same nonce if it is posted again after a crash. */
  async function post(one: Open): Promise<void> {
    const { record, prompt, input } = one;
    const rest = restOf(record);
    if (rest === undefined || record.message !== '') return;
    const draft = {
      content: contentOf(prompt, input, { chosen: record.chosen }),
      files: filesOf(prompt, input),
      components: promptButtons(record.id, prompt, { chosen: record.chosen }),
    };
    const message = await createMessage(
      rest,
      record.thread,
      stableNonce('prompt', record.id),
      draft,
    );
    save(one, { message: message?.id ?? 'deleted' });
    log.info('prompt', { id: record.id, kind: prompt.kind, tool: input.tool_name });
  }

  function follow(one: Open): void {
    const { record } = one;
    one.stop = options.watch(record, one.input, answers, (how) => {
      void inTurn(record.id, () => end(one, how)).catch((error: Error) =>
        log.error('ending a prompt', { id: record.id, because: error.message }),
      );
    });
  }

  /** The first end is the only one. Written down, acted on, shown. */
  async function end(one: Open, ended: Ended, order?: string): Promise<'taken' | 'over'> {
    const { id } = one.record;
    if (!open.has(id)) return 'over';
    if (one.record.ended === undefined) {
      const by = ended.kind === 'decided' && order !== undefined ? [order] : [];
      save(one, { ended, orders: [...one.record.orders, ...by] });
    }
    return conclude(one, one.record.ended ?? ended);
  }

  async function conclude(one: Open, ended: Ended): Promise<'taken' | 'over'> {
    const { record, prompt, input } = one;
    let shown = ended;
    let result: 'taken' | 'over' = 'over';
    if (ended.kind === 'decided') {
      const given = await answers.give(record.id, decisionOutput(input, prompt, ended.decision));
      if (given === 'gone') {
        shown = { kind: 'called off' };
        save(one, { orders: [] }); // nobody took it
      } else result = 'taken';
    } else answers.release(record.id);
    one.stop();
    open.delete(record.id);
    log.info('prompt is over', { id: record.id, how: shown.kind });
    void showEnd(one, shown);
    return result;
  }

  /** A crash before it is noted as shown shows it again. */
  async function showEnd({ record, prompt, input }: Open, ended: Ended): Promise<void> {
    const rest = restOf(record);
    try {
      if (rest !== undefined && record.message !== '' && record.message !== 'deleted')
        await editMessage(rest, record.thread, record.message, {
          content: endText(prompt, input, { chosen: record.chosen }, ended, record.headless),
          components: [],
        });
      answers.clear(record.id);
      writeJson(path(record.id), { ...record, input: {}, ended, shown: true });
    } catch (error) {
      log.warn('showing the end of a prompt', { id: record.id, because: (error as Error).message });
    }
  }

  function show({ record, prompt, input }: Open): void {
    const rest = restOf(record);
    const progress = { chosen: record.chosen };
    if (rest === undefined) return;
    // Not waited for: a slow server must not keep the next answer from being heard.
    editMessage(rest, record.thread, record.message, {
      content: contentOf(prompt, input, progress),
      components: promptButtons(record.id, prompt, progress),
    }).catch((error: Error) =>
      log.warn('showing a prompt', { id: record.id, because: error.message }),
    );
  }

  async function threadOf(letter: AskLetter, cwd: string): Promise<string | undefined> {
    if (letter.thread !== undefined)
      return loadStreamRecord(home, letter.thread)?.kind === 'agent' ? letter.thread : undefined;
    const session = await options.sessionOf(letter.tmux, letter.pane);
    if (session === undefined) return undefined;
    const directory = letter.project || cwd;
    return (await threads.ensure(session, { directory, shell: 'no' }))?.thread;
  }

  return {
    async open(letter, input) {
      const id = letter.ask;
      if (id === undefined || open.has(id)) return;
      const thread = await threadOf(letter, input.cwd);
      if (thread === undefined) return answers.release(id); // it belongs nowhere
      const host = threads.registry.get(thread)?.host ?? '';
      const one = add(
        {
          ...{ id, thread, host, headless: letter.thread !== undefined, message: '' },
          ...{ input, at: letter.writtenAt, chosen: [], orders: [], shown: false },
        },
        input,
      );
      try {
        save(one, {});
        await post(one);
        threads.registry.change(thread, { state: 'waiting' });
        follow(one);
      } catch (error) {
        open.delete(id);
        throw error;
      }
    },
    inThread: (thread) =>
      [...open.values()]
        .filter(({ record }) => record.thread === thread && record.ended === undefined)
        .filter(({ record }) => /^\d+$/.test(record.message))
        .map(({ record, prompt }) => ({
          ...{ id: record.id, messageId: record.message },
          ...labelsOf(prompt, { chosen: record.chosen }),
        })),
    isOpenFor: (session) => [...open.values()].some(({ input }) => input.session_id === session),
    answer: ({ prompt: id, on, answer, by, order }) =>
      inTurn(id, async () => {
        const one = open.get(id);
        const record = one?.record ?? readJson(path(id), promptRecordSchema);
        if (record?.orders.includes(order)) return 'taken';
        if (one === undefined || one.record.ended !== undefined) return 'over';
        const own = { thread: one.record.thread, message: one.record.message };
        if (!isOwnMessage(on, own)) return 'no answer';
        const next = step(one.prompt, { chosen: one.record.chosen }, answer);
        if (next.kind === 'no answer') {
          log.info('not an answer', { id, because: next.because });
          return 'no answer';
        }
        if (next.kind === 'goes on') {
          save(one, { chosen: next.progress.chosen, orders: [...one.record.orders, order] });
          show(one);
          return 'taken';
        }
        // Whoever was quicker in the terminal has decided; we must not claim otherwise.
        const now = await options.watch.now(one.record, one.input);
        const ended: Ended =
          now === 'open' ? { kind: 'decided', decision: next.decision, by } : { kind: now };
        return end(one, ended, order);
      }),
    isBusy: () => open.size > 0,
    takeUp() {
      for (const record of loadPromptRecords(home)) {
        if (record.shown) {
          if (Date.now() - record.at > KEPT_MS) rmSync(path(record.id), { force: true });
          continue;
        }
        const input = readInput(record.input);
        if (input === undefined || open.has(record.id)) continue;
        const one = add(record, input);
        void inTurn(record.id, async () => {
          await post(one);
          if (record.ended !== undefined) await conclude(one, record.ended);
          else follow(one);
        }).catch((error: Error) =>
          log.error('taking up a prompt', { id: record.id, because: error.message }),
        );
      }
    },
    close() {
      for (const one of open.values()) one.stop();
    },
  };
}

function readInput(raw: unknown): PermissionRequestInput | undefined {
  try {
    const input = parseHookInput(raw);
    return input?.hook_event_name === 'PermissionRequest' ? input : undefined;
  } catch {
    return undefined; // written by another version
  }
}

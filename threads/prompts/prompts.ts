// Prompts: the agent asks for a permission, an answer or a plan's approval. Taps, texts and the dialog in the terminal
// race for one decision, which is written down before it is acted on; without one nothing is given to the hook.

import { setMaxListeners } from 'node:events';
import type { AskedEvent } from '../../agents/event.ts';
import { isThreadmuxError } from '../../core/errors.ts';
import { createKeyedQueue } from '../../core/keyed-queue.ts';
import { nextPromptStep } from '../../core/prompt.ts';
import { isOwnMessage } from '../../core/prompt-answer.ts';
import { keepTrying } from '../../core/retry-with-pauses.ts';
import { UNKNOWN_CHANNEL } from '../../discord/error-codes.ts';
import { refusedWith } from '../../discord/messages.ts';
import { createLastEnds } from '../last-ends.ts';
import { createPromptFinisher, type TakenAnswer } from './finish-prompt.ts';
import { createHookAnswers, withRemoteAnswers } from './hand-answer-to-hook.ts';
import type { PromptsOptions } from './locate.ts';
import { type AskLetter, isAgentOn, locatePrompt, newPromptRecord, type PromptPlace } from './locate.ts';
import { asShown, createPromptMessages, PROMPT_PAUSES, untilPosted } from './post-prompt.ts';
import { isAskedBy, isOfProgram } from './program-question.ts';
import {
  createPromptFiles,
  type GivenAnswer,
  inputOf,
  keptInput,
  loadPromptRecords,
  type OpenPrompt,
  type PromptEnd,
  promptOf,
  startPromptSweeps,
} from './prompt-record.ts';
import type { WatchedPrompt } from './watch-prompt.ts';

export interface Prompts {
  /** Posts the prompt and waits for its answer, in the background. Safe to repeat. */
  open(letter: AskLetter, input: AskedEvent, host: string): Promise<void>;
  /** Oldest first; without those that were answered but whose hook does not have the answer yet. */
  inThread(thread: string): ReturnType<typeof asShown>;
  isAnswered(thread: string): boolean;
  /** A text that `by` wrote then (`performance.now`) may have been meant for a prompt of this thread that is over, or for an earlier question of this prompt. */
  hasJustEnded(threadOrPrompt: string, at: number, by?: string): boolean;
  isOpenFor(claudeSession: string): boolean;
  resolve(host: string, claudeSession: string, ask: string): void; // the agent there reports an answer in the terminal, with its own id
  answer(given: GivenAnswer): Promise<TakenAnswer>;
  /** Why the hook of this prompt does not have its answer yet; empty if nothing is known. */
  waitsBecause(id: string): string;
  isBusy(): boolean;
  /** Continues with the prompts of an earlier process. */
  takeUp(): void;
  close(): void;
}

const MOST_OF_A_HOST = 50; // a hostile host could fill the memory with open prompts

interface Open extends OpenPrompt {
  isUnsure?: boolean; // its posting failed, but it may be on the screen; its letter comes again
  watched?: WatchedPrompt;
  stop(): void;
}

export function openPrompts(options: PromptsOptions): Prompts {
  const { home, threads, log } = options;
  const closing = new AbortController();
  const { signal } = closing;
  setMaxListeners(0, signal); // as many as there are prompts waiting
  const answers = withRemoteAnswers(createHookAnswers(home), options);
  const store = createPromptFiles(home);
  const ends = createLastEnds();
  const cards = createPromptMessages({ home, threads, log, signal, store, ends });
  const inTurn = createKeyedQueue();
  const open = new Map<string, Open>();
  const over = new Map<string, Open>(); // ended, but their message is not updated yet
  const ending = createPromptFinisher({
    ...options,
    answers,
    cards,
    store,
    signal,
    isAskedAgain: ({ record, input }) =>
      [...open.values()].some((other) => other.input.session === input.session && other.record.at > record.at),
  });
  const isKnown = (id: string) => open.has(id) || over.has(id);
  const sweeps = startPromptSweeps({ ...options, answers, isOpen: isKnown });
  const failed = (id: string) => (error: Error) => log.error('ending a prompt', { id, because: error.message });
  const act = ({ record: { id } }: Open, what: () => Promise<unknown>) => inTurn(id, what).catch(failed(id));
  const endSoon = (one: Open, how: PromptEnd) => void act(one, () => end(one, how));

  function add(record: OpenPrompt['record'], input: AskedEvent): Open {
    sweeps.added();
    const one: Open = { record, input, prompt: promptOf(input, record.tooLarge), stop: () => {} };
    open.set(record.id, one);
    return one;
  }

  /** Drops the prompt; only the dialog in the terminal remains. */
  function forget(id: string, because: string): void {
    log.info('prompt not asked', { id, because });
    answers.forget(id);
    open.delete(id);
    store.remove(id);
  }

  /** Posted before it is watched; with the same nonce if it is posted again after a crash. */
  async function begin(one: Open, elsewhere?: (gone: string) => Promise<PromptPlace | undefined>) {
    const { id, thread } = one.record;
    const posted = await cards.post(one).catch(async (error: unknown) => {
      if (!refusedWith(error, UNKNOWN_CHANNEL)) throw error;
      const place = await elsewhere?.(thread);
      if (place === undefined) return { message: '' };
      store.note(one, place);
      return cards.post(one);
    });
    if (posted.message === '') return forget(id, 'there is no thread for it');
    store.note(one, posted);
    if (one.record.orders.length > 0) cards.show(one); // an earlier process may have been stopped before it was shown
    one.prompt = promptOf(one.input, one.record.tooLarge);
    threads.registry.change(one.record.thread, isOfProgram(one.input) ? {} : { state: 'waiting' });
    one.watched = options.watch(one.record, one.input);
    one.stop = one.watched.follow(answers, (how) => endSoon(one, how));
    if (signal.aborted) one.stop();
  }

  /** Only the first end counts. It is stored, acted on and shown. */
  async function end(one: Open, ended: PromptEnd, order?: string): Promise<TakenAnswer> {
    if (!open.has(one.record.id)) return 'over';
    if (one.record.ended === undefined) {
      const by = ended.kind === 'decided' && order !== undefined ? [order] : [];
      const write = ended.kind === 'decided' ? store.save : store.note;
      write(one, { ended, orders: [...one.record.orders, ...by] });
      ends.note(one.record.thread); // from now on, it is no longer shown as open
    }
    return conclude(one, one.record.ended ?? ended);
  }

  async function conclude(one: Open, ended: PromptEnd): Promise<TakenAnswer> {
    const { id } = one.record;
    if (ending.revoked(one)) {
      if (one.watched === undefined) void takeUpOne(one);
      return 'over';
    }
    const result = await ending.act(one, ended, () => endSoon(one, ended));
    if (result === 'waits') return result;
    one.stop();
    over.set(id, one);
    open.delete(id);
    void ending
      .show(one)
      .catch(failed(id))
      .finally(() => over.delete(id));
    return result;
  }

  /** Tries until it is posted or its hook is gone. */
  async function takeUpOne(one: Open): Promise<void> {
    const { id, message } = one.record;
    const take = async () => (message === '' && !answers.isWaiting(id) ? forget(id, 'its hook is gone') : begin(one));
    await keepTrying(take, {
      ...PROMPT_PAUSES,
      signal,
      onFailure: (error) => log.warn('taking up a prompt', { id, because: (error as Error).message }),
    }).catch((error) => {
      if (!signal.aborted) throw error;
    });
  }

  return {
    async open(letter, input, host) {
      const id = letter.ask;
      const before = open.get(id ?? '');
      if (id === undefined || (isKnown(id) && !before?.isUnsure)) return;
      // A host may report only its own panes and agents.
      if (letter.thread !== undefined && !isAgentOn(host, letter.thread, options)) return;
      answers.from(id, host, letter.asker ?? 0);
      if (store.read(id)?.ended !== undefined) return; // its letter was read again
      // Its hook was killed, so the agent itself reports the dialog. What may be on the screen gets its end.
      if (!answers.isWaiting(id) && !before?.isUnsure) return forget(id, 'its hook is gone');
      const find = (gone?: string) => locatePrompt(options, host, letter, input.cwd, gone);
      const place = await find();
      if (place === undefined) return forget(id, 'it belongs nowhere');
      const ofHost = [...open.values(), ...over.values()].filter(({ record }) => record.host === place.host);
      const isFull = ofHost.length >= MOST_OF_A_HOST && !options.hosts.isLocal(host);
      if (isFull && before === undefined) return forget(id, 'its host has too many open prompts');
      const kept = keptInput(input);
      const one = add(newPromptRecord(id, place, letter, kept), kept.input);
      try {
        store.note(one, {});
        await begin(one, find);
      } catch (error) {
        if (isThreadmuxError(error, 'discord_refused')) open.delete(id);
        else one.isUnsure = true;
        throw error;
      }
    },
    inThread: (thread) => [...open.values()].filter(({ record }) => record.thread === thread).flatMap(asShown),
    isAnswered: (thread) =>
      [...open.values(), ...over.values()].some(({ record: one }) => one.thread === thread && one.ended),
    hasJustEnded: ends.isJustBefore,
    isOpenFor: (session) =>
      [...open.values()].some(({ input, record: { id } }) => isAskedBy(session, input) && answers.isWaiting(id)),
    resolve(host, session, ask) {
      for (const one of open.values())
        if (one.record.host === host && one.input.session === session && one.input.ask === ask)
          endSoon(one, { kind: 'answered' });
    },
    answer: ({ prompt: id, on, answer, by, order }) =>
      inTurn(id, async () => {
        const one = open.get(id);
        if (one !== undefined) await untilPosted(one, () => !open.has(id) || signal.aborted);
        const record = (one ?? over.get(id))?.record ?? store.read(id);
        if (record?.undelivered === order) return 'undelivered';
        if (record?.orders.includes(order)) return one?.record.ended ? 'waits' : 'taken';
        if (one === undefined || one.record.ended !== undefined) return 'over';
        if (!isOwnMessage(on, one.record)) return 'no answer';
        if (answer.action === 'text' && (await cards.isGone(one))) return 'no answer';
        const next = nextPromptStep(one.prompt, { chosen: one.record.chosen }, answer);
        if (next.kind === 'no answer') {
          log.info('not an answer', { id, because: next.because });
          return 'no answer';
        }
        if (next.kind === 'goes on') {
          store.save(one, { chosen: next.progress.chosen, orders: [...one.record.orders, order] });
          cards.show(one, by.id);
          return 'taken';
        }
        // If the terminal was faster, its answer counts.
        const now = (await one.watched?.now()) ?? 'open';
        const ended: PromptEnd = now === 'open' ? { kind: 'decided', decision: next.decision, by } : { kind: now };
        return end(one, ended, order);
      }),
    waitsBecause: (id) => open.get(id)?.waitsBecause ?? '',
    isBusy: () => open.size + over.size > 0,
    takeUp() {
      sweeps.now();
      for (const record of loadPromptRecords(home)) {
        const { id, ended } = record;
        if (record.shown || isKnown(id)) continue;
        answers.from(id, record.host, record.asker);
        const input = inputOf(record);
        const one = input && add(record, input);
        if (one === undefined) forget(id, 'another version has written it');
        else if (ended === undefined || ending.revoked(one)) void takeUpOne(one);
        else void act(one, () => conclude(one, ended));
      }
    },
    close() {
      closing.abort();
      sweeps.close();
      for (const one of open.values()) one.stop();
    },
  };
}

// The messages of one terminal: what they show, which of them may still change, and what was too much to show.
// Messages and attached files, one after the other, are always the complete text.

import { TOO_MANY_EDITS_OF_OLD_MESSAGE } from '../../discord/error-codes.ts';
import { deleteMessage, refusedWith } from '../../discord/messages.ts';
import type { Rest } from '../../discord/rest.ts';
import { type OpenStreamMessage, type PostStreamOptions, postStreamParts, type StreamPart } from '../post-stream.ts';
import {
  floodDone,
  floodNow,
  isFloodDone,
  planTextMessages,
  REFUSED,
  type Slice,
  sliceOf,
  slicesOf,
} from './message-plan.ts';
import { linesIn, refusedForGood, TRIES } from './output-reader.ts';
import type { TerminalState, TextStore } from './state.ts';

export interface PostedTerminal {
  /** Takes over messages that were posted after the known ones. Those with a file are deleted and posted again. */
  adopt(messages: readonly OpenStreamMessage[]): Promise<void>;
  /** How many bytes of text can be added before `show` must be called. */
  room(): number;
  /** Adds text that can no longer change. */
  add(text: string): void;
  /** Someone wrote in the thread: later output goes below that message. */
  cut(): void;
  /** Updates the thread. `calm`: there was little output recently. `final`: nothing will change after this. */
  show(live: string, how: { readonly calm: boolean; readonly final: boolean }): Promise<void>;
  state(): Pick<TerminalState, 'from' | 'open' | 'cuts' | 'last' | 'posted' | 'flood' | 'flooded'>;
}

interface PostedTerminalOptions {
  readonly rest: Rest;
  readonly thread: string;
  readonly store: TextStore;
  readonly signal: AbortSignal;
  /** Distinguishes this terminal's messages from those of another terminal in the same thread. */
  readonly salt: number;
  /** The largest attached file. */
  readonly fileBytes: number;
}

/** After this many files of one flood, its text is dropped except for the end. */
const FILES_OF_A_FLOOD = 4;
const AT_ONCE = 2 * 1024 * 1024;

interface Hidden {
  readonly id: string;
  /** The index of the part, its refused content, and the length of its text. */
  readonly at: number;
  readonly content: string;
  readonly length: number;
}

export function openPostedTerminal(options: PostedTerminalOptions, from: TerminalState | undefined): PostedTerminal {
  const { rest, thread, store, signal } = options;
  let start = from?.from ?? 0;
  let open: readonly OpenStreamMessage[] = from?.open ?? [];
  let cuts: readonly number[] = from?.cuts ?? [];
  let last = from?.last ?? '';
  let posted = from?.posted ?? 0;
  let flood = from?.flood;
  let flooded = from?.flooded ?? false;
  let isShowing = false;
  let isCutLater = false;
  /** How often Discord has refused something since everything was last shown. */
  let refusals = 0;
  /** Messages that replace something that Discord refused. */
  let hidden: readonly Hidden[] = [];
  let tail = flood === undefined ? store.slice(start, store.kept().length).toString('utf8') : '';

  /** Afterwards the first `sealed` messages are final, and the others begin at `next`. */
  async function put(parts: readonly (StreamPart & Partial<Slice>)[], sealed: number, next: number): Promise<void> {
    const before = open;
    const count = posted - before.length;
    const showing: PostStreamOptions = {
      rest,
      thread,
      signal,
      nonce: (at) => [options.salt, before[at]?.id ?? count + at],
      onShown(now) {
        open = now.filter((message) => message !== undefined);
        posted = Math.max(posted, count + now.length);
        last = open.at(-1)?.id ?? last;
      },
      instead(at, error) {
        const known = before[at]?.content ?? '';
        if (!refusedForGood(error)) return undefined;
        refusals++;
        if (refusals < TRIES && known !== REFUSED) return undefined;
        return cutOff(parts, at, sliceOf(known) ?? '') ? undefined : { content: REFUSED };
      },
    };
    const isHidden = (part: StreamPart) => hidden.some(({ content }) => content === part.content);
    const wanted = parts.map((part) => (isHidden(part) ? { content: REFUSED } : part));
    const shown = await postStreamParts(before, wanted, showing).catch(async (error: unknown) => {
      if (refusedWith(error, TOO_MANY_EDITS_OF_OLD_MESSAGE)) await renew();
      throw error;
    });
    refusals = 0;
    hidden = parts.flatMap(({ content, text = '' }, at) => {
      const message = shown[at];
      return message?.content === REFUSED ? { id: message.id, at, content, length: text.length } : [];
    });
    open = shown.slice(sealed).filter((message) => message !== undefined);
    start = next;
  }

  /** What was shown before stays: only the newer text is refused. */
  function cutOff(parts: readonly Partial<Slice>[], at: number, known: string): boolean {
    const { text = '' } = parts[at] ?? {};
    if (flood !== undefined || known === '' || known === text || !text.startsWith(known)) return false;
    addCuts([endOf(parts, at - 1) + known.length]);
    return true;
  }

  function addCuts(more: readonly number[]): void {
    cuts = [...new Set([...cuts, ...more])].sort((a, b) => a - b);
  }

  /** Discord limits the edits of a message older than an hour, so the open messages are posted again. */
  async function renew(): Promise<void> {
    for (const { id } of open) await deleteMessage(rest, thread, id, { signal });
    open = [];
  }

  async function showText(live: string, final: boolean): Promise<void> {
    if (!final && open.length > 0 && (tail + live).trim() === '') return; // the screen is being redrawn
    cuts = cuts.filter((cut) => cut <= tail.length + live.length); // cuts after the end of the text no longer apply
    const plan = planTextMessages(tail, live, open.length, cuts);
    const sealed = plan.kind === 'flood' ? plan.slices.length : plan.final;
    const text = plan.slices
      .slice(0, sealed)
      .map((slice) => slice.text)
      .join('');
    const next = start + Buffer.byteLength(text);
    if (plan.kind === 'text') {
      await put(plan.slices, final ? plan.slices.length : sealed, next);
      // What follows a refused part must not become part of it.
      addCuts(hidden.map(({ at }) => endOf(plan.slices, at)));
      tail = tail.slice(text.length);
      cuts = cuts.map((cut) => cut - text.length).filter((cut) => cut > 0);
      return;
    }
    const lines = linesIn(tail.slice(text.length));
    await put([...plan.slices, { content: floodNow(lines, live) }], sealed, next);
    flood = { lines, before: 0, files: 0 };
    flooded = true;
    tail = '';
    cuts = [];
  }

  async function endFlood(live: string, final: boolean): Promise<void> {
    if (flood === undefined) return;
    const slices = slicesOf(live);
    const end = store.kept().length;
    await put([attached(end), ...slices], final ? slices.length + 1 : 1, end);
    flood = undefined;
  }

  /** The flood has reached the size of a file. */
  async function passOn(live: string): Promise<void> {
    if (flood === undefined) return;
    const end = store.kept().length;
    if (flood.files < FILES_OF_A_FLOOD) {
      await put([attached(end), { content: floodNow(0, live) }], 1, end);
      flood = { lines: 0, before: 0, files: flood.files + 1 };
    } else {
      const kept = store.slice(end - Math.floor(options.fileBytes / 2), end);
      const rest = kept.subarray(kept.indexOf('\n') + 1);
      start = end - rest.length;
      flood = { ...flood, before: flood.lines - linesIn(rest.toString('utf8')) };
    }
  }

  function lengthOf({ id, content }: OpenStreamMessage): number {
    const instead = hidden.find((message) => message.id === id);
    return instead?.length ?? sliceOf(content)?.length ?? 0;
  }

  function cutHere(): void {
    isCutLater = false;
    const shown = open.reduce((sum, message) => sum + lengthOf(message), 0);
    if (flood === undefined && shown > (cuts.at(-1) ?? 0)) cuts = [...cuts, shown];
  }

  async function show(live: string, { calm, final }: Parameters<PostedTerminal['show']>[1]): Promise<void> {
    if (flood === undefined) await showText(live, final);
    if (flood === undefined) return;
    if (store.kept().length - start >= options.fileBytes) await passOn(live);
    if (calm || final) await endFlood(live, final);
    else await put([{ content: floodNow(flood.lines, live) }], 0, start);
  }

  function attached(end: number): StreamPart {
    const { lines, before } = flood ?? { lines: 0, before: 0 };
    const content = floodDone(lines, lines - before);
    const data = store.slice(start, end);
    return data.length === 0 ? { content } : { content, files: [{ name: 'output.txt', data }] };
  }

  return {
    async adopt(messages) {
      const withFile = messages.filter(({ content }) => isFloodDone(content));
      for (const { id } of withFile) await deleteMessage(rest, thread, id, { signal });
      open = [...open, ...messages.filter((message) => !withFile.includes(message))];
      posted += messages.length;
      last = messages.at(-1)?.id ?? last;
    },
    room() {
      const left = options.fileBytes - (store.kept().length - start);
      return flood === undefined ? AT_ONCE : Math.max(1, Math.min(AT_ONCE, left));
    },
    add(text) {
      if (flood === undefined) tail += text;
      else flood = { ...flood, lines: flood.lines + linesIn(text) };
    },
    cut() {
      // What is being shown now may be in the thread already, above what the user wrote.
      if (isShowing) isCutLater = true;
      else cutHere();
    },
    async show(live, how) {
      isShowing = true;
      await show(live, how).finally(() => {
        isShowing = false;
        if (isCutLater) cutHere();
      });
    },
    state: () => ({
      from: start,
      open: [...open],
      cuts: [...cuts],
      last,
      posted,
      ...(flood === undefined ? {} : { flood }),
      flooded,
    }),
  };
}

/** Where in the text this slice ends. */
function endOf(slices: readonly Partial<Slice>[], at: number): number {
  return slices.slice(0, at + 1).reduce((end, { text = '' }) => end + text.length, 0);
}

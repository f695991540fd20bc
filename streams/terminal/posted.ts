// The messages of one terminal: what they show, which of them may still change, and what was too much to show.
// Messages and attached files, one after the other, are the whole text.

import { TOO_MANY_EDITS_OF_OLD_MESSAGE } from '../../discord/error-codes.ts';
import { deleteMessage, refusedWith } from '../../discord/messages.ts';
import type { Rest } from '../../discord/rest.ts';
import { type OpenStreamMessage, type PostStreamOptions, postStreamParts, type StreamPart } from '../post-stream.ts';
import { linesIn, refusedForGood, TRIES } from './output.ts';
import { floodDone, floodNow, isFloodDone, planTextMessages, REFUSED, type Slice, sliceOf, slicesOf } from './plan.ts';
import type { TerminalState, TextStore } from './state.ts';

export interface PostedTerminal {
  /** Messages that were posted behind those we know of: shown anew, or taken away if they carry a file. */
  adopt(messages: readonly OpenStreamMessage[]): Promise<void>;
  /** How many bytes of text can be added before it has to be shown. */
  room(): number;
  /** Text that changes no more, behind all that came before. */
  add(text: string): void;
  /** Somebody wrote: what comes now stands below it. */
  cut(): void;
  /** Makes the thread show it all. `calm`: not much has come of late. `final`: nothing will change any more. */
  show(live: string, how: { readonly calm: boolean; readonly final: boolean }): Promise<void>;
  state(): Pick<TerminalState, 'from' | 'open' | 'cuts' | 'last' | 'posted' | 'flood' | 'flooded'>;
}

interface PostedTerminalOptions {
  readonly rest: Rest;
  readonly thread: string;
  readonly store: TextStore;
  readonly signal: AbortSignal;
  /** Tells this terminal's messages from those of another one in its thread. */
  readonly salt: number;
  /** A file is attached before it has more. */
  readonly fileBytes: number;
}

/** More files than these of one flood are not worth their room: its text is dropped then, but for the end. */
const FILES_OF_A_FLOOD = 4;
const AT_ONCE = 2 * 1024 * 1024;

interface Hidden {
  readonly id: string;
  /** The number of the part, what it was to show, and how long its text is. */
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
  /** How often Discord has refused something since all was shown. */
  let refusals = 0;
  /** Messages that stand for something that Discord refused. */
  let hidden: readonly Hidden[] = [];
  let tail = flood === undefined ? store.slice(start, store.kept().length).toString('utf8') : '';

  /** Afterwards the first `sealed` of the messages are final, and the others begin at `next`. */
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

  /** What was shown before stays: only what has come since is refused. */
  function cutOff(parts: readonly Partial<Slice>[], at: number, known: string): boolean {
    const { text = '' } = parts[at] ?? {};
    if (flood !== undefined || known === '' || known === text || !text.startsWith(known)) return false;
    addCuts([endOf(parts, at - 1) + known.length]);
    return true;
  }

  function addCuts(more: readonly number[]): void {
    cuts = [...new Set([...cuts, ...more])].sort((a, b) => a - b);
  }

  /** Discord lets a message that is an hour old be edited so often and no more: they are posted anew. */
  async function renew(): Promise<void> {
    for (const { id } of open) await deleteMessage(rest, thread, id, { signal });
    open = [];
  }

  async function showText(live: string, final: boolean): Promise<void> {
    if (!final && open.length > 0 && (tail + live).trim() === '') return; // between two pictures
    cuts = cuts.filter((cut) => cut <= tail.length + live.length); // what is gone is no longer cut
    const plan = planTextMessages(tail, live, open.length, cuts);
    const sealed = plan.kind === 'flood' ? plan.slices.length : plan.final;
    const text = plan.slices
      .slice(0, sealed)
      .map((slice) => slice.text)
      .join('');
    const next = start + Buffer.byteLength(text);
    if (plan.kind === 'text') {
      await put(plan.slices, final ? plan.slices.length : sealed, next);
      // What comes behind a part that was refused is none of it.
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

  /** It has grown as large as a file may be. */
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
      const shown = open.reduce((sum, message) => sum + lengthOf(message), 0);
      if (flood === undefined && shown > (cuts.at(-1) ?? 0)) cuts = [...cuts, shown];
    },
    async show(live, { calm, final }) {
      if (flood === undefined) await showText(live, final);
      if (flood === undefined) return;
      if (store.kept().length - start >= options.fileBytes) await passOn(live);
      if (calm || final) await endFlood(live, final);
      else await put([{ content: floodNow(flood.lines, live) }], 0, start);
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

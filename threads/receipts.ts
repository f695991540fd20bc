// Receipts: the agent's own reports that messages were submitted. The courier passes submitted prompts, the registry
// knows which messages were typed, and those who wait are notified. No request is needed.

import { type DeliveryRecord, NO_NOTICE, type Registry, type ThreadRecord } from './registry.ts';
import { unreportedPrompts, visibleWordsOf, withSubmitted } from './submitted-prompts.ts';

export interface Receipts {
  /** Called before it is typed, because the receipt may come before typing returns. */
  stand(thread: string, delivery: Pick<DeliveryRecord, 'id' | 'message' | 'paths' | 'words'>): void;
  /** Prompts that the agent of this thread has submitted. */
  submitted(thread: string, prompts: readonly string[], letter: ReceiptLetter): void;
  /** A turn ended that answered these prompts. */
  turnEnded(thread: string, prompts: readonly string[], letter: ReceiptLetter): void;
  /** Seen on the screen, where no hook reports. */
  seen(thread: string, id: string): void;
  unconfirmed(thread: string, id: string): void;
  /** The user was told that it is not confirmed; `notice` is undefined if that could not be posted. */
  noticed(thread: string, id: string, notice: string | undefined): void;
  /** The user was told that it was submitted. */
  corrected(thread: string, id: string): void;
  /** It was not typed. */
  withdraw(thread: string, id: string): void;
  isSubmitted(thread: string, id: string): boolean;
  /** It was typed, or typing had started. */
  isStanding(thread: string, id: string): boolean;
  /** True if the receipt is there or comes within this time. */
  wait(thread: string, id: string, ms: number): Promise<boolean>;
  /** Called for each receipt that came after "not confirmed" was posted, first for those of an earlier process. */
  onLate(listener: (thread: string, delivery: DeliveryRecord) => void): void;
}

export function createReceipts(registry: Registry): Receipts {
  const waiting = new Map<string, Set<() => void>>();
  const late: ((thread: string, delivery: DeliveryRecord) => void)[] = [];
  const deliveryOf = (thread: string, id: string) => registry.get(thread)?.deliveries.find((one) => one.id === id);
  const isSubmitted = (thread: string, id: string) => deliveryOf(thread, id)?.state === 'submitted';

  function change(thread: string, id: string, to: Partial<DeliveryRecord>): void {
    const record = registry.get(thread);
    if (record === undefined || deliveryOf(thread, id) === undefined) return;
    const deliveries = record.deliveries.map((one) => (one.id === id ? { ...one, ...to } : one));
    registry.change(thread, { deliveries });
  }

  function correct(thread: string, id: string): void {
    const delivery = deliveryOf(thread, id);
    if (delivery !== undefined && isLate(delivery)) for (const listener of late) listener(thread, delivery);
  }

  function remember(record: ThreadRecord, prompts: readonly string[], letter: ReceiptLetter): void {
    const submitted = withSubmitted(record, prompts, letter);
    if (submitted !== undefined) registry.change(record.thread, { submitted });
  }

  function wake(id: string): void {
    for (const end of waiting.get(id) ?? []) end();
  }

  function take(record: ThreadRecord, { ids, deliveries }: ConfirmedDelivery): void {
    if (ids.length === 0) return;
    registry.change(record.thread, { deliveries });
    for (const id of ids) {
      wake(id);
      correct(record.thread, id);
    }
  }

  return {
    isSubmitted,
    isStanding: (thread, id) => deliveryOf(thread, id) !== undefined,
    stand(thread, delivery) {
      const record = registry.get(thread);
      if (record === undefined || deliveryOf(thread, delivery.id) !== undefined) return;
      const typed = {
        ...delivery,
        at: Date.now(),
        state: 'typed',
        receipt: '',
        submittedAt: 0,
        notice: '',
      } as const;
      registry.change(thread, { deliveries: withDelivery(record, typed) });
    },
    submitted(thread, prompts, letter) {
      const record = registry.get(thread);
      if (record === undefined) return;
      remember(record, prompts, letter);
      take(record, confirmedBy(record.deliveries, prompts, letter));
    },
    turnEnded(thread, prompts, letter) {
      const record = registry.get(thread);
      if (record === undefined || record.stoppedAt >= letter.writtenAt) return;
      remember(record, unreportedPrompts(record, prompts), letter);
      take(record, confirmedByTurn(record.deliveries, prompts, letter, record.stoppedAt));
      registry.change(thread, { stoppedAt: letter.writtenAt });
    },
    seen(thread, id) {
      change(thread, id, { state: 'submitted' });
      wake(id);
    },
    unconfirmed(thread, id) {
      // A receipt that came in the meantime counts.
      if (!isSubmitted(thread, id)) change(thread, id, { state: 'unconfirmed' });
    },
    noticed(thread, id, notice = NO_NOTICE) {
      change(thread, id, { notice });
      correct(thread, id);
    },
    corrected: (thread, id) => change(thread, id, { notice: '' }),
    withdraw(thread, id) {
      const record = registry.get(thread);
      if (record !== undefined && deliveryOf(thread, id) !== undefined)
        registry.change(thread, { deliveries: record.deliveries.filter((one) => one.id !== id) });
    },
    wait(thread, id, ms) {
      if (isSubmitted(thread, id)) return Promise.resolve(true);
      return new Promise((resolve) => {
        const listeners = waiting.get(id) ?? new Set();
        waiting.set(id, listeners);
        const end = () => {
          clearTimeout(timer);
          listeners.delete(end);
          if (listeners.size === 0) waiting.delete(id);
          resolve(isSubmitted(thread, id));
        };
        const timer = setTimeout(end, ms);
        listeners.add(end);
      });
    },
    onLate(listener) {
      late.push(listener);
      for (const { thread, deliveries } of registry.all())
        for (const delivery of deliveries.filter(isLate)) listener(thread, delivery);
    },
  };
}

function isLate({ state, notice }: DeliveryRecord): boolean {
  return state === 'submitted' && notice !== '';
}

// Finds which typed messages a submitted prompt was. Pure. Compares words, because the agent trims prompts and replaces
// paths of images by its own marks.

/** Deliveries kept per thread, so that late receipts find their message. */
const KEPT = 200;
const KEPT_MS = 25 * 3_600_000;

function withDelivery(record: ThreadRecord, delivery: DeliveryRecord): readonly DeliveryRecord[] {
  const others = record.deliveries.filter((one) => one.message !== delivery.message);
  return [...others.filter(({ at }) => delivery.at - at < KEPT_MS), delivery].slice(-KEPT);
}

interface ConfirmedDelivery {
  readonly deliveries: readonly DeliveryRecord[];
  /** The ids of the matching deliveries; the oldest match wins. */
  readonly ids: readonly string[];
}

/** The letter that reports submitted prompts. */
interface ReceiptLetter {
  readonly id: string;
  readonly writtenAt: number;
}

/** A prompt was submitted. A letter that is read twice confirms nothing twice. */
export function confirmedBy(
  deliveries: readonly DeliveryRecord[],
  prompts: readonly string[],
  letter: ReceiptLetter,
): ConfirmedDelivery {
  if (deliveries.some(({ receipt }) => receipt === letter.id)) return { ids: [], deliveries };
  return confirmedByTurn(deliveries, prompts, letter, Number.POSITIVE_INFINITY);
}

/**
 * A turn that answered these prompts ended. Claude reads some prompts between two tools, without a hook; those that a
 * hook has reported since the last turn (`since`) are matched first.
 */
export function confirmedByTurn(
  deliveries: readonly DeliveryRecord[],
  prompts: readonly string[],
  letter: ReceiptLetter,
  since: number,
): ConfirmedDelivery {
  const open = deliveries
    .filter(({ state, submittedAt }) => state !== 'submitted' || submittedAt > since)
    .map((delivery) => ({ ...delivery, folded: folded(delivery.words), longest: longestPrompt(delivery) }));
  const ids = prompts.slice(-MOST_PROMPTS).flatMap((prompt) => {
    const near = open.filter(({ longest }) => prompt.length <= longest);
    const words = near.length === 0 ? '' : folded(prompt);
    const found = near.find((one) => (one.paths.length === 0 ? one.folded === words : isSameWithFiles(one, prompt)));
    if (found !== undefined) open.splice(open.indexOf(found), 1);
    return found === undefined || found.state === 'submitted' ? [] : [found.id];
  });
  const confirmed = (one: DeliveryRecord): DeliveryRecord =>
    ids.includes(one.id) ? { ...one, state: 'submitted', receipt: letter.id, submittedAt: letter.writtenAt } : one;
  return { ids, deliveries: deliveries.map(confirmed) };
}

const IMAGE = /\[Image #\d{1,4}\]/;

/** No turn answers so many. A hostile host could name millions, each to be compared with each message. */
const MOST_PROMPTS = 1_000;

/** An agent may put marks and spaces into what was typed, but a prompt that is much longer is another one: it is not even read. */
function longestPrompt({ words, paths }: DeliveryRecord): number {
  return 10_000 + 4 * (words.length + paths.join(' ').length);
}

function isSameWithFiles({ words, paths }: DeliveryRecord, prompt: string): boolean {
  const rest = paths.reduce((text, path) => text.replaceAll(path, ' '), prompt).split(IMAGE);
  const hasFile = rest.length > 1 || rest[0] !== prompt;
  return hasFile && folded(rest.join(' ')) === folded(words.split(IMAGE).join(' '));
}

function folded(text: string): string {
  return visibleWordsOf(text).join(' ');
}

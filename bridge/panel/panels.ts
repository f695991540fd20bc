// Keeps one message per channel up to date: the panel. Its id is remembered, so that there is never a second one, and no other message is ever touched.
// It is pinned; where the bot may not pin, it is kept the last message of the channel.

import * as z from 'zod';
import { isNewer, snowflakeTime, stableNonce } from '../../core/snowflake.ts';
import { TOO_MANY_EDITS_OF_OLD_MESSAGE, UNKNOWN_MESSAGE } from '../../discord/error-codes.ts';
import { createMessage, deleteMessage, editMessage, type MessageDraft, refusedWith } from '../../discord/messages.ts';
import { readJson, writeBestEffort } from '../../home/atomic-write.ts';
import type { ServerParts } from '../bridge-options.ts';
import type { DeclaredSessions } from '../declared/declared-parts.ts';
import { createTimedLooks } from '../declared/timed-looks.ts';
import { type NewSessionChoices, newSessionChoices, type PanelView, panelView } from './panel-rows.ts';
import { panelDraft } from './panel-text.ts';

export interface Panels {
  begin(): void;
  /** For the page of the local workspace, which shows all of it itself. */
  onView(listener: (view: PageView) => void): void;
  /** An event of the gateway. */
  heard(name: string, data: unknown): void;
  close(): void;
}

interface PageView extends PanelView {
  readonly choices: NewSessionChoices;
}

interface PanelsOptions extends ServerParts {
  readonly guildId: string;
  readonly declared: DeclaredSessions;
  readonly path: string;
  readonly lastEveryMs?: number | undefined;
}

const EVERY_MS = 2_000;
const SETTLE_MS = 100;
const RETRY_MS = 30_000;
/** How often a panel that cannot be pinned is posted again, so that it is the last message. */
const LAST_EVERY_MS = 60_000;

const panelSchema = z.object({
  /** Empty if it was deleted. */
  message: z.string(),
  /** What it shows. */
  print: z.string(),
  /** How many were posted; part of the nonce. */
  count: z.number(),
  isPinned: z.boolean().default(true),
});
type Panel = Readonly<z.output<typeof panelSchema>>;

const NO_PANEL: Panel = { message: '', print: '', count: 0, isPinned: true };
const messageSchema = z.object({ id: z.string(), channel_id: z.string() });

export function createPanels(options: PanelsOptions): Panels {
  const { rest, server, config, threads, declared, log, guildId } = options;
  const { lastEveryMs = LAST_EVERY_MS } = options;
  const panels = new Map(Object.entries(readJson(options.path, z.record(z.string(), panelSchema)) ?? {}));
  const changedAt = new Map<string, number>();
  /** Messages that we delete ourselves. */
  const removed = new Set<string>();
  /** Somebody deleted it again: until a restart there is none. */
  const deletions = new Map<string, number>();
  /** Channels with a message below the panel. */
  const buried = new Set<string>();
  let channels: readonly string[] = [];
  const listeners: ((view: PageView) => void)[] = [];
  /** Its page has a view of its own, and needs no message. */
  const isLocal = server.name === 'local';
  let shown: PageView = { rows: [], worktrees: [], choices: newSessionChoices(options) };
  let isOpen = false;

  const linkOf = (thread: string) => `https://discord.com/channels/${guildId}/${thread}`;
  const panelOf = (channel: string) => panels.get(channel) ?? NO_PANEL;

  const updates = createTimedLooks(update, (channel, error) => {
    log.info('the panel', { channel, because: error.message });
    wake(channel, RETRY_MS);
  });

  /** Everything that changes meanwhile is one edit. */
  function wake(channel: string, ms = SETTLE_MS): void {
    if (isOpen) updates.in(channel, Math.max(ms, (changedAt.get(channel) ?? 0) + EVERY_MS - Date.now()));
  }

  const wakeAll = () => {
    for (const channel of channels) wake(channel);
  };

  function onConfig(): void {
    const wanted = threads.projects().filter((one) => one.server === server.name && one.panel);
    channels = isLocal ? [server.channel] : [...new Set(wanted.map(({ channel }) => channel))];
    for (const channel of new Set([...channels, ...panels.keys()])) wake(channel);
  }

  async function update(channel: string): Promise<void> {
    // Nothing is edited twice within two seconds.
    if (Date.now() < (changedAt.get(channel) ?? 0) + EVERY_MS) return wake(channel);
    const isChanged = await (channels.includes(channel) ? show(channel) : takeAway(channel));
    if (isChanged) changedAt.set(channel, Date.now());
  }

  /** False if nothing has changed. */
  async function show(channel: string): Promise<boolean> {
    const view = panelView(channel, options);
    if (isLocal) return tellView({ ...view, choices: newSessionChoices(options) });
    const draft = panelDraft(view, linkOf);
    const print = stableNonce(JSON.stringify(draft));
    const known = panelOf(channel);
    if ((deletions.get(channel) ?? 0) > 1) return false;
    if (known.message === '') return post(channel, draft, print);
    if (buried.has(channel) && !known.isPinned) {
      const waitMs = snowflakeTime(known.message) + lastEveryMs - Date.now();
      if (waitMs <= 0) return replace(channel, draft, print);
      wake(channel, waitMs);
    }
    if (known.print === print) return false;
    try {
      await editMessage(rest, channel, known.message, draft);
      remember(channel, { ...known, print });
    } catch (error) {
      if (refusedWith(error, UNKNOWN_MESSAGE)) isGone(channel, known);
      else if (refusedWith(error, TOO_MANY_EDITS_OF_OLD_MESSAGE)) return replace(channel, draft, print);
      else throw error;
    }
    return true;
  }

  function tellView(view: PageView): boolean {
    if (JSON.stringify(view) === JSON.stringify(shown)) return false;
    shown = view;
    for (const listener of listeners) listener(view);
    return true;
  }

  async function replace(channel: string, draft: MessageDraft, print: string): Promise<boolean> {
    await takeAway(channel);
    return post(channel, draft, print);
  }

  async function takeAway(channel: string): Promise<boolean> {
    const { message } = panelOf(channel);
    if (message === '') return false;
    removed.add(message);
    await deleteMessage(rest, channel, message);
    remember(channel, { ...panelOf(channel), message: '', print: '' });
    return true;
  }

  async function post(channel: string, draft: MessageDraft, print: string): Promise<boolean> {
    const { count } = panelOf(channel);
    // With our name: two bridges in one channel have two panels.
    const message = await createMessage(rest, channel, stableNonce('panel', config.host, channel, count), draft);
    buried.delete(channel);
    const isPinned = false; // so far: we may be killed before it is
    remember(channel, { ...NO_PANEL, isPinned, count: count + 1, ...(message && { message: message.id, print }) });
    // It was posted before a crash, and then deleted.
    if (message === undefined) return post(channel, draft, print);
    if (await pin(channel, message.id)) remember(channel, { ...panelOf(channel), isPinned: true });
    return true;
  }

  async function pin(channel: string, message: string): Promise<boolean> {
    try {
      await rest.call('PUT', `/channels/${channel}/messages/pins/${message}`, { patienceMs: 0 });
      return true;
    } catch (error) {
      log.info('the panel is not pinned', { channel, because: (error as Error).message });
      return false;
    }
  }

  function posted(id: string, channel: string, { message, isPinned }: Panel): void {
    if (isPinned || !isNewer(id, message)) return;
    buried.add(channel);
    wake(channel);
  }

  function isGone(channel: string, panel: Panel): void {
    deletions.set(channel, (deletions.get(channel) ?? 0) + 1);
    remember(channel, { ...panel, message: '', print: '' });
    wake(channel);
  }

  function remember(channel: string, panel: Panel): void {
    panels.set(channel, panel);
    writeBestEffort(options.path, Object.fromEntries(panels));
  }

  return {
    begin() {
      isOpen = true;
      declared.onChange(wakeAll);
      options.states.onState(wakeAll);
      threads.registry.onChange(wakeAll);
      options.worktrees.onChange(wakeAll);
      options.live?.onReport(onConfig);
      onConfig();
    },
    onView(listener) {
      listeners.push(listener);
      listener(shown);
    },
    heard(name, data) {
      if (name !== 'MESSAGE_CREATE' && name !== 'MESSAGE_DELETE') return;
      const { id = '', channel_id: channel = '' } = messageSchema.safeParse(data).data ?? {};
      const panel = panelOf(channel);
      if (removed.delete(id) || id === '' || panel.message === '') return;
      if (name === 'MESSAGE_CREATE') posted(id, channel, panel);
      else if (panel.message === id) isGone(channel, panel);
    },
    close() {
      isOpen = false;
      void updates.close();
    },
  };
}

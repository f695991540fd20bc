// Keeps one message per channel up to date: the panel. Its id is remembered, so that there is never a second one, and no other message is ever touched.

import * as z from 'zod';
import type { ServerConfig } from '../../core/config.ts';
import { projectsOf } from '../../core/project.ts';
import { stableNonce } from '../../core/snowflake.ts';
import { TOO_MANY_EDITS_OF_OLD_MESSAGE, UNKNOWN_MESSAGE } from '../../discord/error-codes.ts';
import { createMessage, deleteMessage, editMessage, type MessageDraft, refusedWith } from '../../discord/messages.ts';
import type { Rest } from '../../discord/rest.ts';
import { readJson, writeBestEffort } from '../../home/atomic-write.ts';
import type { DeclaredSessions } from '../declared/declared-sessions.ts';
import type { BridgeParts } from '../start-server.ts';
import { keptWorktrees, type PanelRow, panelRows } from './panel-rows.ts';
import { panelDraft } from './panel-text.ts';

export interface Panels {
  begin(): void;
  /** For the page of the local workspace, which shows the rows itself. */
  onRows(listener: (rows: readonly PanelRow[]) => void): void;
  /** A message was deleted, as the gateway reports it. */
  deleted(data: unknown): void;
  close(): void;
}

interface PanelsOptions extends BridgeParts {
  readonly rest: Rest;
  readonly server: ServerConfig;
  readonly guildId: string;
  readonly declared: DeclaredSessions;
  readonly path: string;
  readonly everyMs?: number | undefined;
}

const EVERY_MS = 2_000;
const SETTLE_MS = 100;
const RETRY_MS = 30_000;

const panelSchema = z.object({
  /** Empty if it was deleted. */
  message: z.string(),
  /** What it shows. */
  print: z.string(),
  /** How many were posted; part of the nonce. */
  count: z.number(),
});
type Panel = Readonly<z.output<typeof panelSchema>>;

const deletedSchema = z.object({ id: z.string(), channel_id: z.string() });

export function createPanels(options: PanelsOptions): Panels {
  const { rest, server, config, threads, declared, log, guildId, everyMs = EVERY_MS } = options;
  const panels = new Map(Object.entries(readJson(options.path, z.record(z.string(), panelSchema)) ?? {}));
  const work = new Map<
    string,
    { timer?: NodeJS.Timeout | undefined; isBusy: boolean; isDirty: boolean; lastAt: number }
  >();
  /** Messages that we delete ourselves, because Discord accepts no more edits of them. */
  const replaced = new Set<string>();
  /** Somebody deleted it again: until a restart there is none. */
  const deletions = new Map<string, number>();
  let channels: readonly string[] = [];
  const listeners: ((rows: readonly PanelRow[]) => void)[] = [];
  /** Its page has a view of its own, and needs no message. */
  const isLocal = server.name === 'local';
  let shownRows: readonly PanelRow[] = [];
  let isOpen = false;

  const linkOf = (thread: string) => `https://discord.com/channels/${guildId}/${thread}`;

  function onConfig(): void {
    const servers = threads.connections.all().map((one) => one.server);
    const shown = projectsOf(config, servers).filter((one) => one.server === server.name && one.panel);
    channels = isLocal ? [server.channel] : [...new Set(shown.map(({ channel }) => channel))];
    wakeAll();
  }

  const wakeAll = () => {
    for (const channel of channels) wake(channel);
  };

  /** Nothing is edited twice within two seconds, and everything that changes meanwhile is one edit. */
  function wake(channel: string, atLeastMs = SETTLE_MS): void {
    const one = work.get(channel) ?? { isBusy: false, isDirty: false, lastAt: 0 };
    work.set(channel, one);
    one.isDirty = true;
    if (!isOpen || one.isBusy) return;
    one.timer ??= setTimeout(run, Math.max(atLeastMs, one.lastAt + everyMs - Date.now()), channel).unref();
  }

  async function run(channel: string): Promise<void> {
    const one = work.get(channel);
    if (one === undefined) return;
    one.timer = undefined;
    one.isDirty = false;
    one.isBusy = true;
    const isDone = await update(channel).then(
      (isNew) => {
        if (isNew) one.lastAt = Date.now();
        return true;
      },
      (error: Error) => log.info('the panel', { channel, because: error.message }),
    );
    one.isBusy = false;
    if (!isDone) wake(channel, RETRY_MS);
    else if (one.isDirty) wake(channel);
  }

  /** False if nothing has changed. */
  async function update(channel: string): Promise<boolean> {
    const rows = panelRows(channel, { ...options, server: server.name });
    if (isLocal) return tellRows(rows);
    const draft = panelDraft(rows, keptWorktrees(channel, options), linkOf);
    const print = stableNonce(JSON.stringify(draft));
    const known = panels.get(channel) ?? { message: '', print: '', count: 0 };
    if (known.print === print || (deletions.get(channel) ?? 0) > 1) return false;
    if (known.message === '') return post(channel, draft, print, known.count);
    try {
      await editMessage(rest, channel, known.message, draft);
      remember(channel, { ...known, print });
    } catch (error) {
      if (refusedWith(error, UNKNOWN_MESSAGE)) isGone(channel, known);
      else if (refusedWith(error, TOO_MANY_EDITS_OF_OLD_MESSAGE)) {
        replaced.add(known.message);
        await deleteMessage(rest, channel, known.message);
        return post(channel, draft, print, known.count);
      } else throw error;
    }
    return true;
  }

  function tellRows(rows: readonly PanelRow[]): boolean {
    if (JSON.stringify(rows) === JSON.stringify(shownRows)) return false;
    shownRows = rows;
    for (const listener of listeners) listener(rows);
    return true;
  }

  async function post(channel: string, draft: MessageDraft, print: string, count: number): Promise<boolean> {
    // With our name: two bridges in one channel have two panels.
    const message = await createMessage(rest, channel, stableNonce('panel', config.host, channel, count), draft);
    // It was posted before a crash, and then deleted.
    if (message === undefined) return post(channel, draft, print, count + 1);
    remember(channel, { message: message.id, print, count: count + 1 });
    const pin = `/channels/${channel}/messages/pins/${message.id}`;
    await rest
      .call('PUT', pin, { patienceMs: 0 })
      .catch((error: Error) => log.info('the panel is not pinned', { channel, because: error.message }));
    return true;
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
      options.live?.onReport(onConfig);
      onConfig();
    },
    onRows(listener) {
      listeners.push(listener);
      listener(shownRows);
    },
    deleted(data) {
      const { id = '', channel_id: channel = '' } = deletedSchema.safeParse(data).data ?? {};
      const panel = panels.get(channel);
      if (replaced.delete(id)) return;
      if (panel !== undefined && id !== '' && panel.message === id) isGone(channel, panel);
    },
    close() {
      isOpen = false;
      for (const { timer } of work.values()) clearTimeout(timer);
    },
  };
}

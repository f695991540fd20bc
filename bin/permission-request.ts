#!/usr/bin/env node
// What Claude Code starts when it asks for something. It prints a decision that somebody made in
// the thread, or nothing at all: whatever fails here, the dialog in the terminal stays.

import { closeSync, openSync, writeSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseHookInput } from '../claude/hook-input.ts';
import { connectRest } from '../discord/rest.ts';
import { loadPaneRecords, type PaneRecord } from '../home/pane-record.ts';
import { loadStreamRecord } from '../home/stream-record.ts';
import { permissionRequest } from '../hooks/permission-request.ts';
import { localHost } from '../tmux/host.ts';
import { tmuxOn } from '../tmux/tmux.ts';
import { readTmuxVariable } from '../tmux/whoami.ts';
import { type Context, openHookContext } from './context.ts';

/** The prompt's own turn has just begun: its thread may still be in the making. */
const THREAD_WITHIN_MS = 15_000;

async function main(): Promise<void> {
  const raw = await text(process.stdin);
  const asker = askerOf(process.env);
  if (asker === undefined) return;
  const input = parseHookInput(JSON.parse(raw));
  if (input?.hook_event_name !== 'PermissionRequest') return;
  const context = openHookContext('prompt');
  const who = await knownAs(asker, context);
  const server = context.servers.find(({ name }) => name === who?.record.server);
  if (who === undefined || server === undefined)
    return context.log.warn('prompt without a thread', { ...asker });

  const rest = connectRest({ ...server, log: context.log });
  const asked = await permissionRequest({
    ...who,
    home: context.home,
    rest,
    input,
    log: context.log,
    signal: untilToldToLeave(),
  });
  if (asked.output !== undefined) writeSync(1, `${asked.output}\n`);
  letGo();
  await asked.conclude();
  await rest.close();
}

/** Claude Code ends, or is killed: then we get a signal, or another parent. */
function untilToldToLeave(): AbortSignal {
  const leaving = new AbortController();
  for (const signal of ['SIGTERM', 'SIGHUP', 'SIGINT'] as const)
    process.on(signal, () => leaving.abort());
  const parent = process.ppid;
  setInterval(() => process.ppid !== parent && leaving.abort(), 1_000).unref();
  return leaving.signal;
}

/** Claude Code waits until these are closed, not until we are gone. Their numbers must not go to a socket. */
function letGo(): void {
  for (const stream of [1, 2]) {
    closeSync(stream);
    openSync('/dev/null', 'w');
  }
}

type Asker =
  | { readonly kind: 'pane'; readonly tmux: string; readonly pane: string }
  | { readonly kind: 'headless'; readonly thread: string };

/** A Claude inside of another one, or of a program, is neither. */
function askerOf(env: NodeJS.ProcessEnv): Asker | undefined {
  const { TMUX: tmux = '', TMUX_PANE: pane = '', THREADMUX_THREAD: thread = '' } = env;
  if (tmux === '' && /^\d+$/.test(thread)) return { kind: 'headless', thread };
  const isMain = (env.CLAUDE_CODE_ENTRYPOINT ?? 'cli') === 'cli';
  return tmux !== '' && pane !== '' && isMain ? { kind: 'pane', tmux, pane } : undefined;
}

async function knownAs(asker: Asker, context: Context) {
  if (asker.kind === 'headless') {
    const record = loadStreamRecord(context.home, asker.thread);
    return record?.kind === 'agent' ? { record } : undefined;
  }
  const record = await paneRecord(context, asker.tmux, asker.pane);
  if (record === undefined) return undefined;
  const host = localHost({ name: context.config.host, env: process.env });
  return { record, tmux: tmuxOn(host, record.socket) };
}

async function paneRecord(
  { home }: Context,
  tmux: string,
  pane: string,
): Promise<PaneRecord | undefined> {
  const server = readTmuxVariable(tmux);
  const isMine = (one: PaneRecord) =>
    one.paneId === pane && one.serverPid === server?.pid && one.shell === 'no';
  for (const deadline = Date.now() + THREAD_WITHIN_MS; ; await sleep(250)) {
    const found = loadPaneRecords(home)
      .filter(isMine)
      .sort((a, b) => b.at - a.at)[0];
    if (found !== undefined || Date.now() > deadline) return found;
  }
}

main().catch((error: Error) => {
  try {
    openHookContext('prompt').log.error('prompt failed', { because: error.stack ?? error.message });
  } catch {
    // No configuration, no log. Nothing may be printed: it would be taken for a decision.
  }
});

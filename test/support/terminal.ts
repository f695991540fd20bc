// A terminal's thread in a test: a real tmux, a real workspace, and the text of its messages and files.

import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, vi } from 'vitest';
import { silentLog } from '../../core/log.ts';
import { parseSessionName } from '../../core/session-name.ts';
import { connectRest } from '../../discord/rest.ts';
import { openHome } from '../../home/home.ts';
import type { StreamRecord } from '../../home/stream-record.ts';
import { sliceOf } from '../../streams/terminal/message-plan.ts';
import {
  type FollowOptions,
  followTerminal,
  startTerminal,
  type Terminal,
  type TerminalParts,
} from '../../streams/terminal/terminal.ts';
import { tempHome } from './temp-home.ts';
import { startTmux, type TmuxServer } from './tmux-server.ts';
import { startTestWorkspace, type TestWorkspace, type TestWorkspaceOptions, type WireMessage } from './workspace.ts';

export interface TerminalSetting {
  readonly server: TmuxServer;
  readonly workspace: TestWorkspace;
  readonly parts: TerminalParts;
  readonly thread: string;
  /** Starts a command; `follow` shows it. */
  start(command: string, log?: { readsPerSegment?: number; maxBytes?: number }): Promise<StreamRecord>;
  follow(record: StreamRecord, options?: FollowOptions): Terminal;
  /** Both, until it has ended. */
  run(command: string, options?: FollowOptions): Promise<StreamRecord>;
  /** Every message in the thread, oldest first. */
  messages(): Promise<WireMessage[]>;
  /** The content of the terminal's messages and files, put together. */
  text(): Promise<string>;
  /** The content of the pane in tmux, with wrapped lines joined, without spaces at line ends. */
  captured(record: StreamRecord): string;
}

export async function terminalSetting(
  options: { workspace?: TestWorkspaceOptions; home?: string; server?: TmuxServer } = {},
): Promise<TerminalSetting> {
  const server = options.server ?? startTmux();
  const workspace = await startTestWorkspace(options.workspace ?? {});
  const rest = connectRest({ token: workspace.token, api: workspace.api });
  onTestFinished(() => rest.close());
  const { id: thread } = await newThread(workspace);
  const home = options.home === undefined ? tempHome() : openHome(options.home);
  const parts: TerminalParts = {
    home,
    tmux: server.tmux,
    rest,
    botId: workspace.botId,
    log: silentLog,
    server: 'local',
  };
  const start: TerminalSetting['start'] = (command, log) =>
    startTerminal(parts, { ...wanted(thread, server.dir, command) }, log);
  const follow: TerminalSetting['follow'] = (record, how = {}) => {
    const terminal = followTerminal(parts, record, { everyMs: 100, lookMs: 100, ...how });
    onTestFinished(() => terminal.close());
    return terminal;
  };
  const messages = () => allMessages(workspace, thread);
  return {
    server,
    workspace,
    parts,
    thread,
    start,
    follow,
    async run(command, how) {
      const terminal = follow(await start(command), how);
      await terminal.ended;
      return terminal.record();
    },
    messages,
    text: async () => reassemble(workspace, await messages()),
    captured: ({ pane }) =>
      server.call('capture-pane', '-p', '-J', '-S', '-', '-t', pane?.paneId ?? '').replace(/ +$/gm, ''),
  };
}

export function wanted(thread: string, dir: string, command: string) {
  const name = parseSessionName(`t${thread}`);
  const record: StreamRecord = {
    thread,
    name,
    dir,
    server: 'local',
    kind: 'terminal',
    asked: command,
    order: thread,
    skipPermissions: false,
    startedAt: Date.now(),
  };
  return { thread, name, dir, command, record };
}

export async function newThread(workspace: TestWorkspace): Promise<{ id: string }> {
  const path = `/channels/${workspace.channelId}/messages`;
  const { body } = await workspace.bot('POST', path, { content: 'A terminal' });
  return (await workspace.bot('POST', `${path}/${body.id}/threads`, { name: 'terminal' })).body;
}

export async function allMessages(workspace: Pick<TestWorkspace, 'person'>, thread: string): Promise<WireMessage[]> {
  const found: WireMessage[] = [];
  for (let after = thread; ; ) {
    const page = await workspace.person.messages(thread, `after=${after}&limit=100`);
    page.sort((a, b) => (BigInt(a.id) < BigInt(b.id) ? -1 : 1));
    found.push(...page);
    if (page.length < 100) return found.filter(({ type }) => type === 0);
    after = page.at(-1)?.id ?? after;
  }
}

/** Slices and files, in the order of the messages. */
async function reassemble(
  workspace: Pick<TestWorkspace, 'person' | 'url'>,
  messages: readonly WireMessage[],
): Promise<string> {
  let text = '';
  for (const { content, attachments } of messages) {
    if (content.startsWith('⏹️')) continue;
    text += sliceOf(content) ?? '';
    for (const { url } of attachments) text += await download(workspace, url);
  }
  return text;
}

export async function download(workspace: Pick<TestWorkspace, 'person'>, url: string): Promise<string> {
  const response = await fetch(url, { headers: workspace.person.headers });
  if (!response.ok) throw new Error(`${url}: ${response.status}`);
  return Buffer.from(await response.arrayBuffer()).toString('utf8');
}

/** Checks equality byte by byte; on failure shows where they differ, and not all of both. */
export function expectText(text: string, wantedText: string): void {
  if (text === wantedText) return;
  const same = [...wantedText].findIndex((character, at) => text[at] !== character);
  const at = same === -1 ? Math.min(text.length, wantedText.length) : same;
  const around = (whole: string) => whole.slice(Math.max(0, at - 60), at + 120);
  expect({ at, length: text.length, around: around(text) }).toEqual({
    at,
    length: wantedText.length,
    around: around(wantedText),
  });
}

export const waitFor = <T>(act: () => Promise<T> | T, timeout = 15_000) => vi.waitFor(act, { timeout, interval: 50 });

export { sleep };

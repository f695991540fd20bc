// A workspace with the thread of one session, and a browser: for tests that do not need the program.

import { setTimeout as sleep } from 'node:timers/promises';
import type { BrowserContextOptions } from 'playwright-core';
import { afterEach, expect } from 'vitest';
import type { Faults } from '../support/as-discord.mjs';
import { shareAmongTests } from '../support/at-end.ts';
import { freePort } from '../support/free-port.ts';
import { startTestWorkspace, type TestWorkspace, type WireMessage } from '../support/workspace.ts';
import { openPage, person, see } from './browser.ts';

type Options = BrowserContextOptions & { title?: string; faults?: Faults; tolerate?: RegExp };

export async function openWorkspace(options: Options = {}) {
  const { title = '[agent] web', faults = {}, ...context } = options;
  const workspace = await startTestWorkspace({ faults, port: await freePort() });
  const thread = await startThread(workspace, title);
  const sheet = await openPage(context);
  const you = person(sheet.page);
  await sheet.page.goto(workspace.link);
  await see(sheet.page.locator('#sessions li, #messages li'));
  return { workspace, thread, ...sheet, you, say: sayIn(workspace, thread) };
}

/** One workspace and one page for all tests of a suite. Each test begins a session with a thread and a name of its own. */
export function shareWorkspace(options: Options = {}) {
  const shared = shareAmongTests(() => openWorkspace(options));
  afterEach(() => expect(shared().complaints.splice(0)).toEqual([]));
  let sessions = 100;
  return async (kind = '[agent]') => {
    const { workspace, page, complaints, you } = shared();
    const name = `s${++sessions}`; // none is the beginning of another
    const thread = await startThread(workspace, `${kind} ${name}`);
    return { workspace, page, complaints, you, name, thread, say: sayIn(workspace, thread) };
  };
}

export async function startThread(workspace: TestWorkspace, title: string): Promise<string> {
  const content = `\`web\` on \`laptop\`, in \`~/shop\`\nWrite here. ${title}`;
  const welcome = await workspace.bot('POST', `/channels/${workspace.channelId}/messages`, { content });
  const path = `/channels/${workspace.channelId}/messages/${welcome.body.id}/threads`;
  const made = await workspace.bot('POST', path, { name: title });
  if (made.status >= 300) throw new Error(JSON.stringify(made.body));
  return made.body.id;
}

export function sayIn(workspace: TestWorkspace, thread: string) {
  return async (content: string, more: object = {}): Promise<WireMessage> => {
    for (;;) {
      const body = { content, ...more };
      const made = await workspace.bot('POST', `/channels/${thread}/messages`, body);
      if (made.status < 300) return made.body;
      if (made.status !== 429) throw new Error(JSON.stringify(made.body));
      await sleep(made.body.retry_after * 1_000); // like every client must
    }
  };
}

export const PROMPT = 'p:aaaaaaaaaaaaaaaaaaaaaa';

export function buttons(...labels: readonly string[]) {
  return [
    {
      type: 1,
      components: labels.map((label, at) => ({ type: 2, style: 1, label, custom_id: `${PROMPT}:pick:${at}` })),
    },
  ];
}

// What a user does with a message: taps a button, waits until the message shows something else, opens the thread that it links to.

import { expect, vi } from 'vitest';
import { buttonOf, messageNow } from '../support/prompt-pane.ts';
import type { WireMessage } from '../support/workspace.ts';
import { openPageSocket } from '../workspace/raw-socket.ts';
import { type Setting, WAIT } from './bridge-setup.ts';

export const tap = ({ workspace }: Setting, message: WireMessage, label: string) =>
  workspace.person.tap(message.channel_id, message.id, buttonOf(message, label));

export const become = ({ workspace }: Setting, message: WireMessage, content: RegExp) =>
  vi.waitFor(async () => {
    const now = await messageNow(workspace, message);
    expect(now.content).toMatch(content);
    return now;
  }, WAIT);

/** The thread that a message links to. */
export const linked = (content: string) => /<#(\d+)>/.exec(content)?.[1] ?? '';

/** What only the user who tapped is told, from now on. */
export async function openWhispers({ workspace }: Setting): Promise<() => readonly string[]> {
  const page = await openPageSocket(workspace);
  return () =>
    page.heard.filter(({ t, d }) => t === 'MESSAGE_CREATE' && d.flags & 64).map(({ d }) => d.content as string);
}

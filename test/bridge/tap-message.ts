// What a user does with a message: taps a button, waits until the message shows something else, opens the thread that it links to.

import { expect, vi } from 'vitest';
import { buttonOf, messageNow } from '../support/prompt-pane.ts';
import type { WireMessage } from '../support/workspace.ts';
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

// Taps a button under a message, and waits until the message shows something else.

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

// Many messages at once: each arrives once, in the order it was written.

import { describe, expect, it, vi } from 'vitest';
import { startSetting, untilPrompts, WAIT } from './bridge-setup.ts';

const numbered = (count: number) => Array.from({ length: count }, (_, n) => `message ${n}`);

describe('a burst of messages', () => {
  it('to one session arrives once, in order, each message with its receipt', async () => {
    const setting = await startSetting({ settleMs: 10 });
    const claude = await setting.claude('web', { replies: false });
    const wanted = numbered(30);
    for (const text of wanted) await setting.say(claude, text);
    await untilPrompts(claude, wanted, 90_000);
    await vi.waitFor(
      async () => {
        const marks = (await setting.workspace.person.messages(claude.thread))
          .filter(({ content }) => content.startsWith('message '))
          .map(({ reactions = [] }) => reactions.map(({ emoji }) => emoji.name).join());
        expect(marks).toEqual(wanted.map(() => '✅'));
      },
      { timeout: 30_000, interval: 200 },
    );
    expect(claude.noted().filter(({ kind }) => kind !== 'prompt')).toEqual([]);
  });

  it('to 8 sessions at once arrives in order in each session', async () => {
    const setting = await startSetting({ settleMs: 10 });
    const claudes = await Promise.all(
      Array.from({ length: 8 }, (_, n) => setting.claude(`web-${n}`, { replies: false })),
    );
    const wanted = numbered(3);
    for (const text of wanted)
      await Promise.all(claudes.map((claude) => setting.say(claude, `${text} for ${claude.session}`)));
    for (const claude of claudes)
      await untilPrompts(
        claude,
        wanted.map((text) => `${text} for ${claude.session}`),
        60_000,
      );
    await vi.waitFor(() => expect(setting.machine.letters()).toEqual([]), WAIT);
  });
});

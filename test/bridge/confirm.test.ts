// After Enter: the confirmation that a message was submitted, and what happens without it.

import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { type ConfirmOptions, confirm } from '../../bridge/confirm.ts';
import type { TypedState } from '../../bridge/delivery-attempt.ts';
import { createSharedLook } from '../../bridge/shared-look.ts';
import { ThreadmuxError } from '../../core/errors.ts';
import { typeMessage } from '../../tmux/type-message.ts';
import type { FakeClaude } from '../support/fake-claude.ts';
import { shareSetting, untilPrompts } from './bridge-setup.ts';

const share = shareSetting();

/** A fake Claude Code with a text typed into it, and a receipt that the test controls. */
async function typed(
  text: string,
  prepare: (claude: FakeClaude) => Promise<unknown>,
  kind: 'prompt' | 'slash' = 'prompt',
) {
  const { setting, claude } = await share();
  await prepare(claude);
  const record = claude.record();
  const message: TypedState = {
    deliveryId: '1000',
    thread: { id: claude.thread, title: '[agent] web', archived: false } as TypedState['thread'],
    typed: { kind, text },
    liveAt: undefined,
  };
  const { tmux } = setting.machine.tmux;
  await typeMessage(tmux, { pane: record, command: 'node' }, { id: message.deliveryId, text }, { settleMs: 30 });
  const proof: ConfirmOptions = {
    tmux,
    record,
    signal: new AbortController().signal,
    look: createSharedLook(),
    receipt: async (ms) => {
      await sleep(ms);
      return claude.prompts().includes(text);
    },
    isHeard: () => true,
    onUnreachable: async () => {},
    waits: { confirmMs: 250, screenMs: 100 },
  };
  return { claude, message, proof, setting };
}

/** Enter is on its way to the fake Claude Code: what the test opens before would take it. */
const untilSubmitted = (claude: FakeClaude, text: string) => untilPrompts(claude, [text]);

describe('the confirmation of a message', () => {
  it('presses Enter once more when it had no effect, and never types the text twice', async () => {
    const { claude, message, proof } = await typed('hello you', (one) => one.tell('swallow', 1));
    expect((await claude.tell('close')).box).toBe('hello you');
    expect(await confirm(message, proof)).toEqual({ kind: 'submitted', by: expect.any(String), dialog: false });
    expect(claude.noted()).toEqual([{ kind: 'prompt', text: 'hello you' }]);
  });

  it('presses Enter again when tmux fails to press it', async () => {
    const { claude, message, proof } = await typed('hello you', (one) => one.tell('swallow', 1));
    let failures = 0;
    const script: typeof proof.tmux.script = async (text, args, options) => {
      if (!options?.doing?.startsWith('press a key') || failures++ > 0) return proof.tmux.script(text, args, options);
      throw new ThreadmuxError('tmux_failed', 'it did not answer in time');
    };
    const confirmed = await confirm(message, { ...proof, tmux: { ...proof.tmux, script } });
    expect(confirmed).toMatchObject({ kind: 'submitted' });
    expect(failures).toBeGreaterThan(1);
    expect(claude.noted()).toEqual([{ kind: 'prompt', text: 'hello you' }]);
  });

  it('gives up when Enter has no effect twice, and says that the text is still in the box', async () => {
    const { claude, message, proof } = await typed('hello you', (one) => one.tell('swallow', 99));
    const verdict = await confirm(message, proof);
    expect(verdict).toMatchObject({ kind: 'unproven', because: expect.stringContaining('still in the input box') });
    expect(await claude.tell('close')).toMatchObject({ box: 'hello you', swallowed: 2 });
  });

  it('does not say that a dialog took the text if Enter was pressed, or if the box is not empty', async () => {
    const { claude, message, proof } = await typed('hello', (one) => one.tell('mute', true));
    const silent = { ...proof, isCovered: true, receipt: (ms: number) => sleep(ms, false) };
    expect(await confirm(message, silent)).toMatchObject({ kind: 'unproven' });
    const next = { ...message, deliveryId: '1001' };
    expect(await confirm(next, { ...silent, look: createSharedLook() })).toMatchObject({ kind: 'swallowed' });
    await claude.tell('draft', 'half of the te');
    expect(await confirm(next, { ...silent, look: createSharedLook() })).toMatchObject({ kind: 'unproven' });
  });

  it('waits while an agent without hooks shows a screen that nobody knows, but not for another program', async () => {
    const { message, proof } = await typed('hello', (one) => one.tell('mute', true));
    const record = { ...proof.record, shell: 'found', claudeSession: '', command: 'node' } as const;
    const real = createSharedLook();
    const loading = (times: number, command: string): ConfirmOptions['look'] => {
      let looks = 0;
      return async (...args) => {
        const seen = await real(...args);
        return looks++ < times ? { ...seen, text: 'Loading', ansi: 'Loading', command } : seen;
      };
    };
    const unheard = { ...proof, record, isHeard: () => false, receipt: (ms: number) => sleep(ms, false) };
    const waits = { confirmMs: 50, screenMs: 20 };
    expect(await confirm(message, { ...unheard, waits, look: loading(30, 'node') })).toMatchObject({
      kind: 'submitted',
      by: 'screen',
    });
    expect(await confirm(message, { ...unheard, waits, look: loading(30, 'vim') })).toMatchObject({
      kind: 'unproven',
      because: expect.stringContaining('vim'),
    });
  });

  it('never submits a draft that was restored in its place', async () => {
    const { claude, message, proof } = await typed('hello', (one) => one.tell('mute', true));
    await untilSubmitted(claude, 'hello');
    await claude.tell('draft', 'hello, I was about to say');
    const verdict = await confirm(message, { ...proof, receipt: async (ms) => sleep(ms, false) });
    expect(verdict).toMatchObject({ kind: 'unproven' });
    expect(claude.prompts()).toEqual(['hello']);
    expect((await claude.tell('close')).box).toBe('hello, I was about to say');
  });

  it('waits while Claude works, and presses nothing', async () => {
    const { claude, message, proof } = await typed('queued', (one) => one.tell('busy'));
    const verdict = confirm(message, proof);
    await sleep(1_500); // longer than all unsuccessful looks
    expect(await Promise.race([verdict, 'still waiting'])).toBe('still waiting');
    await claude.tell('idle');
    expect(await verdict).toMatchObject({ kind: 'submitted' });
    expect(claude.noted()).toEqual([{ kind: 'prompt', text: 'queued' }]);
  });

  it('costs two hundred waiting messages hardly more looks than one', async () => {
    const { claude, message, proof } = await typed('queued', (one) => one.tell('busy'));
    const looks: number[] = [];
    const tmux: ConfirmOptions['tmux'] = {
      ...proof.tmux,
      script: (...args) => {
        looks.push(Date.now());
        return proof.tmux.script(...args);
      },
    };
    const all = Array.from({ length: 200 }, async (_, n) => {
      await sleep(n * 5);
      return confirm(message, { ...proof, tmux });
    });
    await sleep(2_000);
    const seconds = (Date.now() - (looks[0] ?? 0)) / 1_000;
    // One every 125 ms and the first one; each message for itself would be 200 times as many.
    expect(looks.length - 1).toBeLessThanOrEqual(2 * ((seconds * 1_000) / 125));
    expect(looks.length).toBeGreaterThan(seconds);
    await claude.tell('idle');
    expect(new Set((await Promise.all(all)).map(({ kind }) => kind))).toEqual(new Set(['submitted']));
  });

  it('looks after every wait for a single message', async () => {
    const { claude, message, proof } = await typed('queued', (one) => one.tell('busy'));
    let looks = 0;
    let waits = 0;
    const verdict = confirm(message, {
      ...proof,
      receipt: (ms) => {
        expect(looks).toBe(waits++);
        return proof.receipt(ms);
      },
      tmux: {
        ...proof.tmux,
        script: (...args) => {
          looks++;
          return proof.tmux.script(...args);
        },
      },
    });
    await vi.waitFor(() => expect(looks).toBeGreaterThan(4), { timeout: 10_000 });
    await claude.tell('idle');
    expect(await verdict).toMatchObject({ kind: 'submitted' });
  });

  it('presses nothing in a dialog', async () => {
    const { claude, message, proof } = await typed('hello', (one) => one.tell('mute', true));
    await untilSubmitted(claude, 'hello');
    await claude.tell('dialog', 'rm -rf /');
    const verdict = confirm(message, { ...proof, receipt: async (ms: number) => sleep(ms, false) });
    await sleep(2_000);
    expect(claude.noted()).toEqual([{ kind: 'prompt', text: 'hello' }]);
    await claude.tell('close');
    expect(await verdict).toMatchObject({ kind: 'unproven' });
  });

  it('of a slash command is read from the screen', async () => {
    const { message, proof } = await typed('/clear', async () => {}, 'slash');
    expect(await confirm(message, proof)).toEqual({ kind: 'submitted', by: expect.any(String), dialog: false });
  });

  it('fails when Claude exits, and says so', async () => {
    const { claude, message, proof, setting } = await typed('hello', (one) => one.tell('mute', true));
    await untilSubmitted(claude, 'hello');
    await claude.tell('exit');
    const { tmux } = setting.machine;
    await vi.waitFor(() => expect(tmux.call('list-sessions', '-F', '#S').split('\n')).not.toContain(claude.session));
    const verdict = await confirm(message, { ...proof, receipt: async (ms) => sleep(ms, false) });
    expect(verdict).toMatchObject({ kind: 'unproven', because: 'The pane is gone.' });
  });
});

describe('a message whose Enter was lost', () => {
  it('is still submitted, once, and the messages behind it follow', async () => {
    const { setting, claude } = await share();
    await claude.tell('swallow', 1);
    const first = await setting.say(claude, 'one');
    const second = await setting.say(claude, 'two');
    await setting.untilMarked(first, '✅');
    await setting.untilMarked(second, '✅');
    expect(claude.noted()).toEqual([
      { kind: 'prompt', text: 'one' },
      { kind: 'prompt', text: 'two' },
    ]);
  });
});

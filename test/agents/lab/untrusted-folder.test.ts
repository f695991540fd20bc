// An agent that is started in a folder which it does not trust asks about it: that is a card, and nothing is typed before.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { type LabAgentName, labAgents } from './packages.ts';
import { LAB_PATIENCE, startThreadmuxLab } from './threadmux-lab.ts';

/** The answer that trusts it. The others do not ask. */
const TRUST: Readonly<Partial<Record<LabAgentName, RegExp>>> = { gemini: /^Trust folder/ };

it.each(labAgents().filter((name) => name in TRUST))('%s asks whether to trust a folder by a card', async (name) => {
  const lab = await startThreadmuxLab([name]);
  onTestFinished(() => lab.stop());
  const thread = await lab.startIn('untrusted', name);
  await thread.shows((now) => now.kind === 'dialog' && now.which === 'trust');
  const message = await thread.say('not into the dialog');
  const [card, label] = await vi.waitFor(async () => {
    const labels = (await thread.all()).flatMap((one) =>
      one.components.flatMap((row) => (row as Row).components.map((button) => [one, button.label ?? ''] as const)),
    );
    const found = labels.find(([, text]) => TRUST[name]?.test(text));
    expect(found, JSON.stringify(labels.map(([, text]) => text))).toBeDefined();
    return found as (typeof labels)[number];
  }, LAB_PATIENCE);
  expect(lab.model.requests.some(({ body }) => body.includes('not into the dialog'))).toBe(false);
  await thread.tap(card, label);
  await thread.marked(message, '✅');
  await vi.waitFor(
    () => expect(lab.model.requests.some(({ body }) => body.includes('not into the dialog'))).toBe(true),
    LAB_PATIENCE,
  );
});

// AGENT_LAB_ONLY may leave it out.
it.each(labAgents().filter((name) => name === 'codex'))(
  '%s with its server does not ask, and nobody trusts the folder',
  async () => {
    const lab = await startThreadmuxLab(['codex']);
    onTestFinished(() => lab.stop());
    const thread = await lab.startIn('untrusted', 'codex');
    await thread.ready();
    const message = await thread.say('hello');
    await thread.posted(message, 'Echo: hello');
    expect(readFileSync(join(lab.dir, 'home/.codex/config.toml'), 'utf8')).not.toContain('untrusted');
  },
);

interface Row {
  readonly components: readonly { readonly label?: string }[];
}

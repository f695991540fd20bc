// A prompt on a host, while the program, the ssh clients, the collector, the script that gives the answer or `ask` itself is killed
// with SIGKILL at a step: it is decided once or not at all, and the thread never claims what did not happen.

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import type { Faults } from '../support/as-discord.mjs';
import { buttonOf, decisionIn, messageNow, promptIn, verdictOf } from '../support/prompt-pane.ts';
import { WAIT } from './bridge-setup.ts';
import { farHook, farPromptPane } from './remote-host.ts';
import { killAll, type RemoteProgram, startRemoteProgram } from './remote-program.ts';

const ALLOWED = '✅ **Allowed** — you';

async function start(faults: Faults = {}) {
  const program = await startRemoteProgram(faults);
  const { workspace, machine, far } = program;
  const pane = await farPromptPane({ machine, workspace } as never, far);
  await pane.show('dialog-permission-bash');
  const cards = async () =>
    (await workspace.person.messages(pane.thread)).filter(({ content }) => content.includes('wants to use'));
  const ask = async () => {
    const hook = farHook(far, pane, pane.input('Bash'));
    return { hook, message: await promptIn(workspace, pane.thread) };
  };
  const allow = (message: Awaited<ReturnType<typeof promptIn>>) =>
    workspace.person.tap(pane.thread, message.id, buttonOf(message, 'Allow'));
  return { ...program, pane, cards, ask, allow };
}

const kill: Readonly<Record<string, (all: RemoteProgram, script: number) => Promise<unknown>>> = {
  'the program': async (all) => {
    await all.killProgram();
    await all.up();
  },
  'the ssh connection': async (all) => expect(killAll(all.sshClients())).toBeGreaterThan(0),
  'the collector': async (all) => expect(killAll(all.collectors())).toBeGreaterThan(0),
  'the script that gives the answer': async (_, script) => killAll([script]),
};

const ANSWER_STEPS = ['give before', 'give after', 'taken before', 'taken after'] as const;

it.each(Object.keys(kill))(
  'a prompt on a host is allowed once, although %s is killed at a step of the answer',
  { timeout: 240_000 },
  async (victim) => {
    const all = await start();
    const isScript = victim === 'the script that gives the answer';
    const steps = ANSWER_STEPS.slice(0, isScript ? 2 : undefined);
    for (const at of steps) {
      const [step = '', when = ''] = at.split(' ');
      await all.pane.show('dialog-permission-bash');
      const { hook, message } = await all.ask();
      const stopped = all.stopAt(step, when as 'before' | 'after');
      await all.allow(message);
      const { script, go } = await stopped;
      await kill[victim]?.(all, script);
      go(isScript ? 'exit' : 'on');
      expect(decisionIn(await hook.printed), at).toEqual({ behavior: 'allow' });
      await all.pane.show('busy-status-line');
      all.pane.result();
      expect(await verdictOf(all.workspace, message, 30_000), at).toBe(ALLOWED);
    }
    expect(await all.cards()).toHaveLength(steps.length);
    // What a killed script leaves is removed after a day.
    const left = () => readdirSync(join(all.far.ours, 'answers')).filter((name) => !name.startsWith('.'));
    await vi.waitFor(() => expect(left()).toEqual([]), WAIT);
  },
);

describe('a prompt on a host appears once, although the program is killed', () => {
  it.each(['before', 'after'] as const)('%s it is posted', async (when) => {
    let onPost: (() => void) | undefined;
    const all = await start({
      onRequest({ method, path, body }) {
        if (method !== 'POST' || !/\/messages$/.test(path) || !JSON.stringify(body).includes('wants to use'))
          return undefined;
        const act = onPost;
        onPost = undefined;
        if (act === undefined) return undefined;
        act();
        return { kind: when === 'before' ? 'reset' : 'apply-then-reset' };
      },
    });
    const killed = new Promise<void>((resolve) => {
      onPost = () => void all.killProgram().then(resolve);
    });
    const hook = farHook(all.far, all.pane, all.pane.input('Bash'));
    await killed;
    await all.up();
    const message = await promptIn(all.workspace, all.pane.thread);
    await all.allow(message);
    expect(decisionIn(await hook.printed)).toEqual({ behavior: 'allow' });
    await all.pane.show('busy-status-line');
    expect(await verdictOf(all.workspace, message, 30_000)).toBe(ALLOWED);
    expect(await all.cards()).toHaveLength(1);
  });
});

describe('when ask is killed on a host,', () => {
  it('at any moment before its letter is posted, nobody is asked for long, and nothing is decided', async () => {
    const { far, pane, workspace, cards } = await start();
    for (const afterMs of [0, 3, 6, 10, 20, 40, 80, 160]) {
      const hook = farHook(far, pane, pane.input('Bash'));
      await sleep(afterMs);
      hook.child.kill('SIGKILL');
      expect(await hook.printed).toBe('');
    }
    await vi.waitFor(async () => {
      const letters = readdirSync(join(far.ours, 'outbox'), { recursive: true, encoding: 'utf8' });
      expect(letters.filter((name) => /\/\d+\./.test(name))).toEqual([]);
      for (const card of await cards())
        expect(JSON.stringify((await messageNow(workspace, card)).components)).not.toContain('"p:');
    }, WAIT);
  });

  it('at a step of the answer, the thread does not claim that it was allowed', { timeout: 240_000 }, async () => {
    const all = await start();
    for (const at of ANSWER_STEPS.slice(1)) {
      const [step = '', when = ''] = at.split(' ');
      const { hook, message } = await all.ask();
      const stopped = all.stopAt(step, when as 'before' | 'after');
      await all.allow(message);
      const { go } = await stopped;
      hook.child.kill('SIGKILL');
      go(step === 'give' ? 'on' : 'exit'); // its `mv` ends with it
      expect(await hook.printed).toBe('');
      await vi.waitFor(
        async () => {
          const { content } = await messageNow(all.workspace, message);
          expect(content.split('\n').at(-1), at).toMatch(/^⚠️ .*Answer in the terminal\.$/);
        },
        { ...WAIT, timeout: 40_000 },
      );
    }
    expect(await all.cards()).toHaveLength(ANSWER_STEPS.length - 1);
  });
});

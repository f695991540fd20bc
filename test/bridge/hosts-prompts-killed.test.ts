// A prompt on a host, while the program, the ssh clients, the collector, the script that gives the answer or `ask` itself is killed
// with SIGKILL at a step: it is decided once or not at all, and the thread never claims what did not happen.

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, vi } from 'vitest';
import { buttonOf, decisionIn, messageNow, promptIn, verdictOf } from '../support/prompt-pane.ts';
import { WAIT } from './bridge-setup.ts';
import { farHook, farPromptPane } from './remote-host.ts';
import { killAll, type RemoteProgram, startRemoteProgram } from './remote-program.ts';

const ALLOWED = '✅ **Allowed** — you';

async function start() {
  let onPost: { readonly when: 'before' | 'after'; act(): void } | undefined;
  const program = await startRemoteProgram({
    onRequest({ method, path, body }) {
      const trap = onPost;
      if (trap === undefined || method !== 'POST' || !/\/messages$/.test(path)) return undefined;
      if (!JSON.stringify(body).includes('wants to use')) return undefined;
      onPost = undefined;
      trap.act();
      return { kind: trap.when === 'before' ? 'reset' : 'apply-then-reset' };
    },
  });
  const { workspace, machine, far } = program;
  return {
    ...program,
    /** Kills the program before or after it posts a prompt. */
    killAtPost: (when: 'before' | 'after') =>
      new Promise<void>((resolve) => {
        onPost = { when, act: () => void program.killProgram().then(resolve) };
      }),
    /** A pane with a dialog, and the prompts that its hook asks. */
    async pane(session: string) {
      const pane = await farPromptPane({ machine, workspace } as never, far, session);
      await pane.show('dialog-permission-bash');
      const hook = () => farHook(far, pane, pane.input('Bash'));
      return {
        ...pane,
        hook,
        ask: async () => ({ hook: hook(), message: await promptIn(workspace, pane.thread) }),
        allow: (message: Awaited<ReturnType<typeof promptIn>>) =>
          workspace.person.tap(pane.thread, message.id, buttonOf(message, 'Allow')),
        cards: async () =>
          (await workspace.person.messages(pane.thread)).filter(({ content }) => content.includes('wants to use')),
      };
    },
  };
}

const kill: Readonly<Record<string, (all: RemoteProgram, scripts: readonly number[]) => Promise<unknown>>> = {
  'the program': async (all) => {
    await all.killProgram();
    await all.up();
  },
  'the ssh connection': async (all) => expect(killAll(all.sshClients())).toBeGreaterThan(0),
  'the collector': async (all) => expect(killAll(all.collectors())).toBeGreaterThan(0),
  'the script that gives the answer': async (_, scripts) => killAll(scripts),
};

/** An answer that is not taken within seconds is withdrawn: that step is the last one before the kill. */
const ANSWER_STEPS = ['give before', 'give after', 'taken after', 'taken before'] as const;

it('a prompt on a host is allowed once, whatever is killed at a step of the answer or of its post', {
  timeout: 600_000,
}, async () => {
  const all = await start();
  const panes = await Promise.all(ANSWER_STEPS.map((_, n) => all.pane(`web-${n}`)));
  let cards = 0;
  for (const victim of Object.keys(kill)) {
    const isScript = victim === 'the script that gives the answer';
    // One prompt waits at each step, and the victim is killed once for all of them.
    const asked = [];
    for (const pane of panes.slice(0, isScript ? 2 : undefined)) {
      await pane.show('dialog-permission-bash');
      asked.push({ pane, ...(await pane.ask()) });
    }
    const waiting = [];
    for (const [n, { pane, hook, message }] of asked.entries()) {
      const [step = '', when = ''] = ANSWER_STEPS[n]?.split(' ') ?? [];
      const stopped = all.stopAt(step, when as 'before' | 'after');
      await pane.allow(message);
      waiting.push({ pane, hook, message, at: `${victim}, ${step} ${when}`, ...(await stopped) });
    }
    await kill[victim]?.(
      all,
      waiting.map(({ script }) => script),
    );
    for (const { go } of waiting) go(isScript ? 'exit' : 'on');
    for (const { pane, hook, message, at } of waiting) {
      expect(decisionIn(await hook.printed), at).toEqual({ behavior: 'allow' });
      await pane.show('busy-status-line');
      pane.result();
      expect(await verdictOf(all.workspace, message, 30_000), at).toBe(ALLOWED);
    }
    cards += waiting.length;
    expect((await Promise.all(panes.map((pane) => pane.cards()))).flat()).toHaveLength(cards);
  }
  const [pane] = panes as [(typeof panes)[0]];
  for (const when of ['before', 'after'] as const) {
    const before = (await pane.cards()).length;
    await pane.show('dialog-permission-bash');
    const killed = all.killAtPost(when);
    const hook = pane.hook();
    await killed;
    await all.up();
    const message = await promptIn(all.workspace, pane.thread);
    await pane.allow(message);
    expect(decisionIn(await hook.printed), when).toEqual({ behavior: 'allow' });
    await pane.show('busy-status-line');
    pane.result();
    expect(await verdictOf(all.workspace, message, 30_000), when).toBe(ALLOWED);
    expect(await pane.cards()).toHaveLength(before + 1);
  }
  // What a killed script leaves is removed after a day.
  const left = () => readdirSync(join(all.far.ours, 'answers')).filter((name) => !name.startsWith('.'));
  await vi.waitFor(() => expect(left()).toEqual([]), WAIT);
});

it('when ask is killed on a host, nobody is asked for long, and the thread does not claim that it was allowed', {
  timeout: 600_000,
}, async () => {
  const all = await start();
  const { far, workspace } = all;
  const early = await all.pane('early');
  for (const afterMs of [0, 3, 6, 10, 20, 40, 80, 160]) {
    const hook = early.hook();
    await sleep(afterMs);
    hook.child.kill('SIGKILL');
    expect(await hook.printed).toBe('');
  }
  await vi.waitFor(async () => {
    const letters = readdirSync(join(far.ours, 'outbox'), { recursive: true, encoding: 'utf8' });
    expect(letters.filter((name) => /\/\d+\./.test(name))).toEqual([]);
    for (const card of await early.cards())
      expect(JSON.stringify((await messageNow(workspace, card)).components)).not.toContain('"p:');
  }, WAIT);

  const pane = await all.pane('late');
  for (const at of ANSWER_STEPS.slice(1)) {
    const [step = '', when = ''] = at.split(' ');
    const { hook, message } = await pane.ask();
    const stopped = all.stopAt(step, when as 'before' | 'after');
    await pane.allow(message);
    const { go } = await stopped;
    hook.child.kill('SIGKILL');
    go(step === 'give' ? 'on' : 'exit'); // its `mv` ends with it
    expect(await hook.printed).toBe('');
    await vi.waitFor(
      async () => {
        const { content } = await messageNow(workspace, message);
        expect(content.split('\n').at(-1), at).toMatch(/^⚠️ .*Answer in the terminal\.$/);
      },
      { ...WAIT, timeout: 40_000 },
    );
  }
  expect(await pane.cards()).toHaveLength(ANSWER_STEPS.length - 1);
});

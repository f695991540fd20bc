// A courier in the test's own process: real letters, real tmux, real workspace, no waiting
// for a process to start.

import { expect, onTestFinished, vi } from 'vitest';
import { runCourierHere } from '../../bin/run-courier.ts';
import { silentLog } from '../../core/log.ts';
import { loadConfig, loadLocalServer } from '../../home/config-file.ts';
import { type CourierContext, openCourierContexts } from '../../hooks/courier-context.ts';
import { takeCourierLock } from '../../hooks/courier-lock.ts';
import { type Letter, parseLetter } from '../../hooks/letter.ts';
import { postLetter } from '../../hooks/post-letter.ts';
import { openShared, type Shared } from '../../threads/shared-services.ts';
import type { Machine, PaneEnv } from './hook-process.ts';

interface TestCourier {
  readonly context: CourierContext;
  /** Handles a letter that a hook in this pane has dropped. */
  deliver(pane: PaneEnv, input: unknown, more?: Partial<LetterFacts>): Promise<void>;
}

interface LetterFacts {
  readonly entrypoint: string;
  readonly project: string;
  readonly writtenAt: number;
  /** The same for every attempt to deliver one letter. */
  readonly salt: string;
}

export function openTestCourier(machine: Machine): TestCourier {
  const shared = openTestShared(machine);
  const context = openCourierContexts(shared).of(shared.config.host);
  onTestFinished(async () => {
    context.progress.close();
    await shared.close();
  });
  return { context, deliver: (pane, input, more) => postLetter(letterOf(pane, input, more), context) };
}

/** Does what the next courier process does, until every letter is delivered. */
export async function deliverAll(machine: Machine): Promise<void> {
  const release = await takeCourierLock({ home: machine.home, log: silentLog });
  if (release === undefined) throw new Error('another courier is at work');
  const shared = openTestShared(machine);
  const stop = new AbortController();
  shared.prompts.takeUp();
  const running = runCourierHere(shared, { lingerMs: Number.POSITIVE_INFINITY, signal: stop.signal });
  try {
    await vi.waitFor(() => expect(machine.letters()).toEqual([]), { timeout: 40_000, interval: 20 });
  } finally {
    stop.abort();
    await running;
    await shared.close();
    release();
  }
}

function openTestShared(machine: Machine): Shared {
  const config = loadConfig(machine.home, machine.env);
  const local = () => {
    const server = loadLocalServer(machine.home, config);
    return server === undefined ? [] : [server];
  };
  return openShared({
    home: machine.home,
    config,
    env: machine.env,
    log: silentLog,
    hostFiles: () => ({}),
    servers: () => (config.servers.length > 0 ? config.servers : local()),
  });
}

let written = 0;

export function letterOf(pane: PaneEnv, input: unknown, more: Partial<LetterFacts> = {}): Letter {
  const { entrypoint = 'cli', project = '', salt = `letter ${written++}` } = more;
  const lines = [`tmux ${pane.TMUX}`, `pane ${pane.TMUX_PANE}`, `entrypoint ${entrypoint}`, `project ${project}`];
  const text = ['threadmux 2', ...lines, '', JSON.stringify(input), ''].join('\n');
  const reading = parseLetter(text, salt, more.writtenAt ?? Date.now());
  if (reading.kind !== 'letter') throw new Error(`this is no letter: ${reading.kind}`);
  return reading.letter;
}

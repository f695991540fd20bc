// A courier in the test's own process that asks prompts, with other times than the real one; the test answers.

import { expect, onTestFinished, vi } from 'vitest';
import { runCourierHere } from '../../bin/run-courier.ts';
import { createLog } from '../../core/log.ts';
import { loadConfig, loadLocalServer } from '../../home/config-file.ts';
import { takeCourierLock } from '../../hooks/courier-lock.ts';
import type { TakenAnswer } from '../../threads/prompts/finish-prompt.ts';
import type { PromptsOptions } from '../../threads/prompts/locate.ts';
import { loadPromptRecords, type PromptRecord } from '../../threads/prompts/prompt-record.ts';
import { openPrompts, type Prompts } from '../../threads/prompts/prompts.ts';
import { createPromptWatch } from '../../threads/prompts/watch-prompt.ts';
import { openShared, type Shared } from '../../threads/shared-services.ts';
import type { Machine } from './hook-process.ts';
import type { WireMessage } from './workspace.ts';

export interface PromptCourierOptions extends Pick<PromptsOptions, 'checkAfterMs' | 'sweepMs'> {
  readonly patienceMs?: number;
}

export interface PromptCourier {
  readonly shared: Shared;
  readonly prompts: Prompts;
  readonly log: readonly string[];
  /** The open prompts on disk. */
  open(): readonly PromptRecord[];
  answer(message: WireMessage, action: string, values?: readonly string[]): Promise<TakenAnswer>;
  /** Resolves when every open prompt was checked from now on; for a test with one prompt. */
  looked(): Promise<void>;
  stop(): Promise<void>;
  /** A user who may decide. */
  readonly by: { readonly id: string; readonly name: string };
}

export const BY = { id: '1', name: 'someone' };
let orders = 0;

export async function startPromptCourier(
  machine: Machine,
  { patienceMs, ...times }: PromptCourierOptions = {},
): Promise<PromptCourier> {
  const { home, env } = machine;
  const lines: string[] = [];
  const log = createLog((line) => lines.push(line));
  const release = await takeCourierLock({ home, log, takeOver: true });
  if (release === undefined) throw new Error('another courier is at work');
  const config = loadConfig(home, env);
  const local = loadLocalServer(home, config);
  const servers = config.servers.length > 0 || local === undefined ? config.servers : [local];
  const plain = openShared({
    home,
    config,
    env,
    log,
    servers: () => servers,
    hostFiles: () => ({}),
  });
  plain.prompts.close();
  const { hosts, threads, sessionOf, remote } = plain;
  let looks = 0;
  const counted = {
    get(thread: string) {
      looks++; // each check of a prompt starts with this call
      return threads.registry.get(thread);
    },
  };
  const patience = patienceMs === undefined ? {} : { patience: () => patienceMs };
  const watch = createPromptWatch(hosts, counted, { ...patience, lookMs: 100 });
  const prompts = openPrompts({ home, threads, log, sessionOf, hosts, remote, watch, ...times });
  const shared = { ...plain, prompts };
  prompts.takeUp();
  const stopping = new AbortController();
  const lingerMs = Number.POSITIVE_INFINITY;
  const courier = runCourierHere(shared, { lingerMs, signal: stopping.signal });
  let stopped: Promise<void> | undefined;
  const stop = () => {
    stopped ??= (async () => {
      stopping.abort();
      await courier;
      prompts.close();
      await plain.close();
      release();
    })();
    return stopped;
  };
  onTestFinished(stop);
  const by = { ...BY, id: servers[0]?.allow[0] ?? BY.id };
  const open = () => loadPromptRecords(home).filter(({ ended }) => ended === undefined);
  return {
    shared,
    prompts,
    log: lines,
    open,
    stop,
    by,
    async looked() {
      const before = looks;
      await vi.waitFor(() => expect(looks).toBeGreaterThan(before + 2), 15_000);
    },
    answer: (message, action, values = []) =>
      prompts.answer({
        prompt: loadPromptRecords(home).find((one) => one.message === message.id)?.id ?? '',
        on: { thread: message.channel_id, message: message.id },
        answer: { action, values, text: '' },
        by,
        order: `order ${++orders}`,
      }),
  };
}

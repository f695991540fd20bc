// Gives a request to the running bridge and waits for its outcome. If the bridge is restarted meanwhile, the request is carried out after that.

import { rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  newRequestId,
  type ProgramRequest,
  type RequestDone,
  requestOutcomePath,
  requestOutcomeSchema,
  requestPath,
  type StartRequest,
} from '../../bridge/program-requests.ts';
import { errorOf, ThreadmuxError } from '../../core/errors.ts';
import { readJson, writeJson } from '../../home/atomic-write.ts';
import type { Home } from '../../home/home.ts';
import { findTarget, type SessionFinder, type SessionTarget } from '../find-session.ts';
import { bridgePid } from '../running.ts';

const LOOK_MS = 60;
const TIMEOUT_MS = 90_000;

export async function askBridge(home: Home, request: ProgramRequest): Promise<RequestDone> {
  if (bridgePid(home) === undefined)
    throw new ThreadmuxError('not_running', 'threadmux is not running', { hint: 'Start it with `threadmux up`.' });
  const path = requestOutcomePath(home, request.id);
  writeJson(requestPath(home, request.id), request);
  try {
    for (const deadline = Date.now() + TIMEOUT_MS; Date.now() < deadline; await sleep(LOOK_MS)) {
      const outcome = readJson(path, requestOutcomeSchema);
      if (outcome === undefined) continue;
      if ('error' in outcome) throw errorOf(outcome.error);
      return outcome.done;
    }
  } finally {
    rmSync(requestPath(home, request.id), { force: true });
    rmSync(path, { force: true });
  }
  throw new ThreadmuxError('not_running', 'threadmux did not answer in time', {
    hint: 'Run `threadmux status` to see whether it runs. It is safe to try the same again.',
  });
}

type BridgeStart = Omit<StartRequest, 'id' | 'asker' | 'what'>;

/** Starts a session; the bridge also makes its worktree and its thread. */
export async function startByBridge(
  finder: SessionFinder,
  start: BridgeStart,
): Promise<{ readonly done: RequestDone; readonly target: SessionTarget }> {
  const done = await askBridge(finder.home, { id: newRequestId(), asker: process.pid, what: 'start', ...start });
  return { done, target: await findTarget(finder, start.name, start.host) };
}

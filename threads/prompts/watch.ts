// Watches a prompt that is open: whether the terminal was faster, whether the hook still waits, whether its time is up.

import type { PermissionRequestInput } from '../../claude/hook-input.ts';
import type { Hosts } from '../../tmux/hosts.ts';
import { tmuxOn } from '../../tmux/tmux.ts';
import type { Registry } from '../registry.ts';
import type { Answers } from './answers.ts';
import type { Ended, PromptRecord } from './record.ts';
import { type Terminal, watchTerminal } from './terminal.ts';

export interface Watch {
  (
    record: PromptRecord,
    input: PermissionRequestInput,
    answers: Answers,
    onEnd: (how: Exclude<Ended, { kind: 'decided' }>) => void,
  ): () => void;
  now(record: PromptRecord, input: PermissionRequestInput): Promise<Terminal>;
}

const HALF_A_DAY_MS = 12 * 3_600_000;
/** Claude Code waits for the hook when a background agent asks. */
const FOR_AGENTS_MS = 60_000;
/** Whoever answers in the terminal sees it in the thread within two seconds. */
const LOOK_MS = 900;

export function createWatch(hosts: Hosts, registry: Registry): Watch {
  const terminals = new Map<string, () => Promise<Terminal>>();

  function terminalOf(record: PromptRecord, input: PermissionRequestInput) {
    if (record.headless) return async () => 'open' as const;
    const known = terminals.get(record.id);
    if (known !== undefined) return known;
    const thread = registry.get(record.thread);
    if (thread === undefined) return async () => 'exited' as const;
    const tmux = tmuxOn(hosts.get(thread.host), thread.socket);
    const watched = watchTerminal(tmux, thread, {
      transcript: input.transcript_path,
      promptId: input.prompt_id,
      agentId: input.agent_id,
      tool: input.tool_name,
      input: input.tool_input,
    });
    terminals.set(record.id, watched);
    return watched;
  }

  const watch: Watch = (record, input, answers, onEnd) => {
    const deadline = record.at + patienceMs(record, input);
    let isLooking = false;
    let gone = 0;
    async function look(): Promise<void> {
      if (Date.now() > deadline) return onEnd({ kind: 'time is up' });
      const now = await terminalOf(record, input)();
      if (now !== 'open') return onEnd({ kind: now });
      // Twice in a row: a hook that has just begun may not listen yet.
      gone = answers.isWaiting(record.id) ? 0 : gone + 1;
      if (gone >= 2) onEnd({ kind: 'called off' });
    }
    const timer = setInterval(() => {
      if (isLooking) return;
      isLooking = true;
      look()
        .catch(() => {}) // the host is away: it is looked at again
        .finally(() => {
          isLooking = false;
        });
    }, LOOK_MS);
    return () => {
      clearInterval(timer);
      terminals.delete(record.id);
    };
  };
  watch.now = (record, input) => terminalOf(record, input)();
  return watch;
}

/** Where there is no terminal, nobody else can answer for a subagent. */
function patienceMs(
  { headless }: PromptRecord,
  { agent_id: agent }: PermissionRequestInput,
): number {
  return agent === undefined || headless ? HALF_A_DAY_MS : FOR_AGENTS_MS;
}

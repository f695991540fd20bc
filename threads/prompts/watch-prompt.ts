// Watches a prompt that is open: whether the terminal was faster, whether the hook still waits, whether its time is up.

import type { PermissionRequestInput } from '../../agents/claude/hook-input.ts';
import { hostFiles } from '../../hosts/host-files.ts';
import type { HostList } from '../../tmux/host-list.ts';
import { tmuxOn } from '../../tmux/tmux.ts';
import type { Registry } from '../registry.ts';
import type { HookAnswers } from './answers.ts';
import type { PromptEnd, PromptRecord } from './prompt-record.ts';
import { type WatchedTerminal, watchTerminal } from './watch-terminal.ts';

export interface WatchedPrompt extends WatchedTerminal {
  /** Calls `onEnd`, maybe more than once, until it is stopped. */
  follow(answers: HookAnswers, onEnd: (how: Exclude<PromptEnd, { kind: 'decided' }>) => void): () => void;
}

export type PromptWatch = (record: PromptRecord, input: PermissionRequestInput) => WatchedPrompt;

const HALF_A_DAY_MS = 12 * 3_600_000;
/** Claude Code waits for the hook when a background agent asks. */
const FOR_AGENTS_MS = 60_000;
/** Whoever answers in the terminal sees it in the thread within two seconds. */
export const LOOK_MS = 900;

/** Tests have less time. */
export interface WatchTimes {
  readonly patience?: typeof patienceMs;
  readonly lookMs?: number;
}

export function createPromptWatch(
  hosts: HostList,
  registry: Pick<Registry, 'get'>,
  { patience = patienceMs, lookMs = LOOK_MS }: WatchTimes = {},
): PromptWatch {
  function terminalOf(record: PromptRecord, input: PermissionRequestInput): WatchedTerminal {
    if (record.headless) return NO_TERMINAL;
    const pane = record.pane ?? registry.get(record.thread);
    if (pane === undefined) return EXITED;
    return watchTerminal(tmuxOn(hosts.get(record.host), pane.socket), pane, {
      transcript: input.transcript_path,
      promptId: input.prompt_id,
      agentId: input.agent_id,
      tool: input.tool_name,
      input: input.tool_input,
      ...(hosts.isLocal(record.host) ? {} : { files: hostFiles(hosts.get(record.host)) }),
    });
  }

  return (record, input) => {
    const terminal = terminalOf(record, input);
    const deadline = record.at + patience(record, input);
    return {
      ...terminal,
      follow(answers, onEnd) {
        let isLooking = false;
        let gone = 0;
        async function look(): Promise<void> {
          if (Date.now() > deadline) return onEnd({ kind: 'time is up' });
          if (registry.get(record.thread)?.deleted) return onEnd({ kind: 'called off' });
          const now = await terminal.now();
          if (now !== 'open') return onEnd({ kind: now });
          // Twice in a row: the agent may just have ended the hook, and the dialog with it.
          gone = answers.isWaiting(record.id) ? 0 : gone + 1;
          if (gone >= 2) onEnd({ kind: 'called off' });
        }
        function lookOnce(): void {
          if (isLooking) return;
          isLooking = true;
          look()
            .catch(() => {}) // the host is away: it is looked at again
            .finally(() => {
              isLooking = false;
            });
        }
        const timer = setInterval(lookOnce, lookMs);
        lookOnce(); // what the dialog looks like has to be known before it goes
        return () => clearInterval(timer);
      },
    };
  };
}

const NO_TERMINAL: WatchedTerminal = { now: async () => 'open', dialog: async () => undefined };
const EXITED: WatchedTerminal = { now: async () => 'exited', dialog: async () => undefined };

/** Where there is no terminal, nobody else can answer for a subagent. */
export function patienceMs(
  { headless }: Pick<PromptRecord, 'headless'>,
  { agent_id: agent }: Pick<PermissionRequestInput, 'agent_id'>,
): number {
  return agent === undefined || headless ? HALF_A_DAY_MS : FOR_AGENTS_MS;
}

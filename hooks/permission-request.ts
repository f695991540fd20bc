// PermissionRequest: Claude asks for a permission, an answer or a plan's approval. The dialog in
// the terminal stays as it is; this waits beside it, and the first answer wins. Without an answer
// nothing is ever printed.

import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { PermissionRequestInput } from '../claude/hook-input.ts';
import type { Log } from '../core/log.ts';
import { stableNonce } from '../core/nonce.ts';
import { NOTHING_YET, type Progress, type Prompt, step } from '../core/prompt.ts';
import { createMessage, editMessage } from '../discord/messages.ts';
import type { Rest } from '../discord/rest.ts';
import { takeAnswers } from '../home/answer-file.ts';
import type { Home } from '../home/home.ts';
import { openPrompt } from '../home/open-prompt.ts';
import type { PaneRecord } from '../home/pane-record.ts';
import type { Tmux } from '../tmux/tmux.ts';
import { watchTerminal } from './in-terminal.ts';
import { promptButtons } from './prompt-buttons.ts';
import { decisionOutput, type Ended, promptOf, verdictText } from './prompt-decision.ts';
import { permissionText, planText, questionText, type Shown } from './prompt-text.ts';

export interface Asking {
  readonly home: Home;
  readonly rest: Rest;
  readonly tmux: Tmux;
  readonly record: PaneRecord;
  readonly input: PermissionRequestInput;
  readonly log: Log;
  readonly waitMs?: number;
}

export interface Asked {
  /** What to print for Claude Code; undefined: nothing, the dialog stays as it is. */
  readonly output: string | undefined;
  /** Shows in the thread how it ended; to be awaited after the output was printed. */
  readonly conclude: () => Promise<void>;
}

const HALF_A_DAY_MS = 12 * 3_600_000;
/** Claude Code waits for the hook when a background agent asks. */
const FOR_AGENTS_MS = 60_000;
const ANSWERS_MS = 150;
const TERMINAL_MS = 600;

export async function permissionRequest(asking: Asking): Promise<Asked> {
  const { home, rest, record, input, log } = asking;
  const id = randomBytes(17).toString('base64url').slice(0, 22);
  const prompt = promptOf(input);
  const shown = shownOf(prompt, input, NOTHING_YET);
  const close = openPrompt(home, {
    id,
    pid: process.pid,
    thread: record.thread,
    claudeSession: input.session_id,
    at: Date.now(),
  });
  try {
    const message = await createMessage(rest, record.thread, stableNonce('prompt', id), {
      content: shown.text,
      files: shown.files,
      components: promptButtons(id, prompt, NOTHING_YET),
    });
    if (message === undefined) return nothing();
    log.info('prompt', { id, kind: prompt.kind, tool: input.tool_name, message: message.id });
    const ended = await wait(asking, id, prompt, message.id);
    return {
      output: ended.kind === 'decided' ? decisionOutput(input, prompt, ended.decision) : undefined,
      async conclude() {
        log.info('prompt is over', { id, how: ended.kind });
        const content = `${shortened(shown.text)}\n${verdictText(prompt, ended)}`;
        await editMessage(rest, record.thread, message.id, { content, components: [] });
      },
    };
  } finally {
    close();
    takeAnswers(home, id); // what came too late is for nobody
  }
}

async function wait(asking: Asking, id: string, prompt: Prompt, messageId: string): Promise<Ended> {
  const { home, rest, record, input, log } = asking;
  const limit = asking.waitMs ?? (input.agent_id === undefined ? HALF_A_DAY_MS : FOR_AGENTS_MS);
  const deadline = Date.now() + limit;
  const terminal = watchTerminal(asking.tmux, record, {
    transcript: input.transcript_path,
    promptId: input.prompt_id,
    tool: input.tool_name,
    input: input.tool_input,
  });
  let progress: Progress = NOTHING_YET;
  let lookedAt = 0;
  while (Date.now() < deadline) {
    for (const answer of takeAnswers(home, id)) {
      const next = step(prompt, progress, answer);
      if (next.kind === 'no answer') log.info('not an answer', { id, because: next.because });
      if (next.kind === 'decided') {
        // Whoever was quicker in the terminal has decided; we must not claim otherwise.
        const now = await terminal();
        return now === 'open'
          ? { kind: 'decided', decision: next.decision, by: answer.by }
          : { kind: now };
      }
      if (next.kind === 'goes on') {
        progress = next.progress;
        const { text } = shownOf(prompt, input, progress);
        await editMessage(rest, record.thread, messageId, {
          content: text,
          components: promptButtons(id, prompt, progress),
        });
      }
    }
    if (Date.now() - lookedAt >= TERMINAL_MS) {
      const now = await terminal();
      if (now !== 'open') return { kind: now };
      lookedAt = Date.now();
    }
    await sleep(ANSWERS_MS);
  }
  return { kind: 'time is up' };
}

function shownOf(prompt: Prompt, input: PermissionRequestInput, progress: Progress): Shown {
  switch (prompt.kind) {
    case 'permission':
      return permissionText(
        input.tool_name,
        input.tool_input,
        input.cwd,
        input.permission_suggestions,
      );
    case 'plan':
      return planText(String(input.tool_input.plan ?? ''));
    case 'question':
      return questionText(prompt.questions, progress);
  }
}

/** The instructions under it are of no use any more. */
function shortened(text: string): string {
  return text
    .split('\n')
    .filter((line) => !line.startsWith('-# '))
    .join('\n')
    .slice(0, 1_700);
}

function nothing(): Asked {
  return { output: undefined, conclude: async () => {} };
}

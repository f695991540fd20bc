// PermissionRequest: Claude asks for a permission, an answer or a plan's approval. The dialog in
// the terminal stays as it is; this waits beside it, and the first answer wins. A headless agent
// has no terminal, and waits for the thread alone. Without an answer nothing is ever printed.

import { randomBytes } from 'node:crypto';
import type { PermissionRequestInput } from '../claude/hook-input.ts';
import type { Log } from '../core/log.ts';
import { stableNonce } from '../core/nonce.ts';
import {
  type Decision,
  NOTHING_YET,
  type Progress,
  type Prompt,
  type Step,
  step,
} from '../core/prompt.ts';
import { createMessage, editMessage } from '../discord/messages.ts';
import type { Rest } from '../discord/rest.ts';
import { type AnswerFile, arrivedAnswers, watchAnswers } from '../home/answer-file.ts';
import type { Home } from '../home/home.ts';
import { openPrompt } from '../home/open-prompt.ts';
import type { PaneRecord } from '../home/pane-record.ts';
import type { StreamRecord } from '../home/stream-record.ts';
import type { Tmux } from '../tmux/tmux.ts';
import { type Terminal, watchTerminal } from './in-terminal.ts';
import { promptButtons } from './prompt-buttons.ts';
import { decisionOutput, type Ended, promptOf, verdictText } from './prompt-decision.ts';
import { permissionText, planText, questionText, type Shown } from './prompt-text.ts';

export type Asking = Question & (InPane | Headless);

interface InPane {
  readonly tmux: Tmux;
  readonly record: PaneRecord;
}

interface Headless {
  readonly tmux?: undefined;
  readonly record: StreamRecord;
}

interface Question {
  readonly home: Home;
  readonly rest: Rest;
  readonly input: PermissionRequestInput;
  readonly log: Log;
  readonly waitMs?: number;
  /** The hook itself is told to end: somebody pressed Esc, or Claude Code ends. */
  readonly signal?: AbortSignal;
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
/** Whoever answers in the terminal is to be believed within two seconds. */
const TERMINAL_MS = 900;
const UNWATCHED_MS = 150;
const NOBODY = { id: '', name: '' };

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
  const terminal = terminalOf(asking);
  try {
    const draft = {
      content: `${shown.text}\n${shown.hint}`,
      files: shown.files,
      components: promptButtons(id, prompt, NOTHING_YET),
    };
    const nonce = stableNonce('prompt', id);
    const call = asking.signal === undefined ? {} : { signal: asking.signal };
    const message = await createMessage(rest, record.thread, nonce, draft, call);
    if (message === undefined) return nothing();
    log.info('prompt', { id, kind: prompt.kind, tool: input.tool_name, message: message.id });
    const { ended, progress } = await wait(asking, terminal, id, prompt, message.id);
    return {
      output: ended.kind === 'decided' ? decisionOutput(input, prompt, ended.decision) : undefined,
      async conclude() {
        log.info('prompt is over', { id, how: ended.kind });
        const content = `${shownOf(prompt, input, progress).text}\n${verdictOf(asking, prompt, ended)}`;
        await editMessage(rest, record.thread, message.id, { content, components: [] });
      },
    };
  } finally {
    close();
  }
}

function terminalOf(asking: Asking): () => Promise<Terminal> {
  const { input } = asking;
  if (asking.tmux === undefined) return async () => 'open';
  return watchTerminal(asking.tmux, asking.record, {
    transcript: input.transcript_path,
    promptId: input.prompt_id,
    agentId: input.agent_id,
    tool: input.tool_name,
    input: input.tool_input,
  });
}

async function wait(
  asking: Asking,
  terminal: () => Promise<Terminal>,
  id: string,
  prompt: Prompt,
  messageId: string,
): Promise<{ ended: Ended; progress: Progress }> {
  const { home, log, signal } = asking;
  const deadline = Date.now() + (asking.waitMs ?? patienceOf(asking));
  const answers = watchAnswers(home, UNWATCHED_MS);
  signal?.addEventListener('abort', answers.wake); // Claude Code gives us a moment, not more
  let progress: Progress = NOTHING_YET;

  /** Goes through what has come; the first answer that decides is the only one that is taken further. */
  async function takeAnswers(): Promise<Ended | undefined> {
    let ended: Ended | undefined;
    for (const { answer, take, refuse } of arrivedAnswers(home, id)) {
      const next = meaning(prompt, progress, answer, ended !== undefined);
      if (next.kind === 'no answer') {
        log.info('not an answer', { id, because: next.because });
        refuse();
      } else if (next.kind === 'goes on') {
        take();
        progress = next.progress;
        show(asking, id, prompt, progress, messageId);
      } else {
        ended = await decided(terminal, next.decision, answer?.by ?? NOBODY);
        if (ended.kind === 'decided') take();
        else refuse();
      }
    }
    return ended;
  }

  try {
    for (let lookedAt = 0; Date.now() < deadline; ) {
      if (signal?.aborted) return { ended: { kind: 'called off' }, progress };
      const ended = await takeAnswers();
      if (ended !== undefined) return { ended, progress };
      if (Date.now() - lookedAt >= TERMINAL_MS) {
        const now = await terminal();
        if (now !== 'open') return { ended: { kind: now }, progress };
        lookedAt = Date.now();
      }
      await answers.next(Math.min(TERMINAL_MS, Math.max(0, deadline - Date.now())));
    }
    return { ended: { kind: 'time is up' }, progress };
  } finally {
    answers.close();
  }
}

function meaning(
  prompt: Prompt,
  progress: Progress,
  answer: AnswerFile | undefined,
  isOver: boolean,
): Step {
  if (answer === undefined) return { kind: 'no answer', because: 'it is for another prompt' };
  if (isOver) return { kind: 'no answer', because: 'it is decided' };
  return step(prompt, progress, answer);
}

/** Whoever was quicker in the terminal has decided; we must not claim otherwise. */
async function decided(
  terminal: () => Promise<Terminal>,
  decision: Decision,
  by: AnswerFile['by'],
): Promise<Ended> {
  const now = await terminal();
  return now === 'open' ? { kind: 'decided', decision, by } : { kind: now };
}

/** Where there is no terminal, nobody else can answer for a subagent. */
function patienceOf({ tmux, input }: Asking): number {
  return tmux === undefined ? HALF_A_DAY_MS : patienceMs(input);
}

export function patienceMs({ agent_id: agent }: PermissionRequestInput): number {
  return agent === undefined ? HALF_A_DAY_MS : FOR_AGENTS_MS;
}

/** Not waited for: a server that is slow or away must not keep the next answer from being heard. */
function show(
  { rest, record, input, log }: Asking,
  id: string,
  prompt: Prompt,
  progress: Progress,
  messageId: string,
): void {
  const { text, hint } = shownOf(prompt, input, progress);
  editMessage(rest, record.thread, messageId, {
    content: `${text}\n${hint}`,
    components: promptButtons(id, prompt, progress),
  }).catch((error: Error) => log.warn('showing a prompt', { id, because: error.message }));
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

function verdictOf({ tmux }: Asking, prompt: Prompt, ended: Ended): string {
  if (tmux === undefined && ended.kind === 'called off') return '⏹️ The agent was stopped.';
  if (tmux === undefined && ended.kind === 'time is up') return '⌛ Nobody answered: denied.';
  return verdictText(prompt, ended);
}

function nothing(): Asked {
  return { output: undefined, conclude: async () => {} };
}

// Watches an open prompt: whether it was answered in the terminal, whether the hook still waits, and whether its time
// is up.

import { setTimeout as sleep } from 'node:timers/promises';
import type { AgentDriver } from '../../agents/driver.ts';
import type { AskedEvent } from '../../agents/event.ts';
import { driverOf } from '../../agents/list.ts';
import { hasDialog } from '../../agents/screen-fingerprint.ts';
import { openTool } from '../../agents/turn.ts';
import { type FileSource, localFileSource } from '../../home/file-source.ts';
import { hostFiles } from '../../hosts/host-files.ts';
import type { HostList } from '../../tmux/host-list.ts';
import { lookAtPane, type PaneLook } from '../../tmux/look.ts';
import { type Tmux, tmuxOn } from '../../tmux/tmux.ts';
import { screenOf } from '../read-pane.ts';
import type { Registry } from '../registry.ts';
import type { HookAnswers } from './hand-answer-to-hook.ts';
import { type LookBudget, openLookBudget } from './look-budget.ts';
import { programPatienceMs } from './program-question.ts';
import type { PromptEnd, PromptPane, PromptRecord } from './prompt-record.ts';

export interface WatchedPrompt extends WatchedTerminal {
  /** Calls `onEnd`, maybe more than once, until it is stopped. */
  follow(answers: HookAnswers, onEnd: (how: Exclude<PromptEnd, { kind: 'decided' }>) => void): () => void;
}

export type PromptWatch = (record: PromptRecord, input: AskedEvent) => WatchedPrompt;

const HALF_A_DAY_MS = 12 * 3_600_000;
/** Claude Code waits for the hook when a background agent asks. */
const FOR_AGENTS_MS = 60_000;
/** An answer in the terminal is shown in the thread within two seconds. */
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
  const budgets = new Map<string, LookBudget>();
  function budgetOf(host: string): LookBudget {
    const budget = budgets.get(host) ?? openLookBudget();
    budgets.set(host, budget);
    return budget;
  }

  function terminalOf(record: PromptRecord, input: AskedEvent): WatchedTerminal {
    if (record.headless) return NO_TERMINAL;
    const pane = record.pane ?? registry.get(record.thread);
    if (pane === undefined) return EXITED;
    return watchTerminal(tmuxOn(hosts.get(record.host), pane.socket), pane, {
      asked: input,
      driver: driverOf(record.agent),
      budget: budgetOf(record.host),
      files: hosts.isLocal(record.host) ? localFileSource : hostFiles(hosts.get(record.host)),
    });
  }

  return (record, input) => {
    const terminal = terminalOf(record, input);
    const deadline = record.at + (programPatienceMs(input) ?? patience(record, input));
    return {
      ...terminal,
      follow(answers, onEnd) {
        let isLooking = false;
        let gone = 0;
        async function look(): Promise<void> {
          if (Date.now() > deadline) return onEnd({ kind: 'time is up' });
          if (registry.get(record.thread)?.deleted) return onEnd({ kind: 'called off' });
          const now = await terminal.now('again');
          if (now !== 'open') return onEnd({ kind: now });
          // Twice in a row: the agent may just have ended the hook, and the dialog with it.
          gone = answers.isWaiting(record.id) ? 0 : gone + 1;
          if (gone >= 2) onEnd({ kind: 'called off' });
        }
        const turns = budgetOf(record.host).follow();
        function lookOnce(): void {
          if (isLooking || !(turns.isDue() || hosts.isLocal(record.host))) return;
          isLooking = true;
          look()
            .catch(() => {}) // the host is away: it is looked at again
            .finally(() => {
              isLooking = false;
            });
        }
        const timer = setInterval(lookOnce, lookMs);
        lookOnce(); // what the dialog looks like has to be known before it goes
        let isFollowed = true;
        return () => {
          clearInterval(timer);
          if (isFollowed) turns.stop();
          isFollowed = false;
        };
      },
    };
  };
}

const NO_TERMINAL: WatchedTerminal = { now: async () => 'open', isOnScreen: async () => false };
const EXITED: WatchedTerminal = { now: async () => 'exited', isOnScreen: async () => false };

/** Where there is no terminal, nobody else can answer for a subagent. */
export function patienceMs(
  { headless }: Pick<PromptRecord, 'headless'>,
  { subagent }: Pick<AskedEvent, 'subagent'>,
): number {
  return subagent === undefined || headless ? HALF_A_DAY_MS : FOR_AGENTS_MS;
}

// Checks whether the dialog in the terminal is still open. Some agents do not tell a waiting hook about an answer there: the
// screen shows it at once, the transcript after the tool has run.

interface AskedOnScreen {
  readonly asked: AskedEvent;
  readonly driver: AgentDriver;
  /** Where the transcript is. */
  readonly files: FileSource;
  readonly budget: LookBudget;
}

/** `answered`: a permission was allowed or denied, also with Esc, or a question answered. `called off`: a question got no answer. */
type TerminalDialog = 'open' | 'answered' | 'called off' | 'exited';

/** So many looks at a box without ever a dialog: it was answered before the first look. */
const NEVER_SEEN = 5;
/** The transcript has the result a moment after the dialog has gone. */
const WRITTEN_AFTER_MS = [0, 300, 700];

interface WatchedTerminal {
  /** It remembers what it has seen. 'open' if it is not sure. `again`: it is asked regularly, so the transcript is not always read. */
  now(again?: 'again'): Promise<TerminalDialog>;
  /** Whether the screen shows its dialog, or one that begins like it. */
  isOnScreen(): Promise<boolean>;
}

function watchTerminal(
  tmux: Tmux,
  record: Omit<PromptPane, 'socket'>,
  { asked, driver, files: all, budget }: AskedOnScreen,
): WatchedTerminal {
  const words = tellingWords(asked);
  // The dialog of an agent in the background comes after us, and its turn is not the one we can read.
  const isMain = asked.subagent === undefined;
  const isShown = showsDialog(asked, driver);
  let toolId: string | undefined;
  let seen: 'nothing' | 'a dialog' | 'this dialog' = 'nothing';
  let boxes = 0;

  const ended = (isError: boolean) => (isError && asked.kind === 'question' ? 'called off' : 'answered');

  async function inTranscript(files = all): Promise<TerminalDialog> {
    const { turns } = driver;
    if (turns === undefined || asked.transcript === '') return 'open';
    if (toolId === undefined) {
      const turn = await turns.read(asked.transcript, { promptId: asked.turn, files });
      toolId = turn === undefined ? undefined : openTool(turn, asked.tool, asked.input)?.id;
      if (toolId === undefined && isMain && turn !== undefined && turn.state !== 'running')
        return ended(turn.state === 'interrupted');
    }
    const outcome = toolId && (await turns.toolAnswered(asked.transcript, toolId, { files }));
    return outcome === undefined ? 'open' : ended(outcome === 'error');
  }

  /** The screen does not show whether a question was answered or cancelled. */
  async function howItEnded(): Promise<TerminalDialog> {
    for (const pauseMs of asked.kind === 'question' && isMain && driver.turns !== undefined ? WRITTEN_AFTER_MS : []) {
      await sleep(pauseMs);
      const how = await inTranscript().catch(() => 'open' as const);
      if (how !== 'open') return how;
    }
    return 'answered';
  }

  async function onScreen(): Promise<TerminalDialog> {
    const first = await glance();
    if (first === 'open') return first;
    // One look may catch a half-drawn screen, or a command that has the foreground; two in a row do not.
    await sleep(120);
    return glance();
  }

  async function glance(): Promise<TerminalDialog> {
    const pane = await lookAtPane(tmux, record).catch(() => undefined);
    if (pane === undefined) return 'open';
    if (pane.kind === 'gone' || pane.dead || pane.panePid !== record.panePid) return 'exited';
    const { screen, dialog, mine } = read(pane);
    if (screen.kind === 'shell') return 'exited';
    if (!isShown) return 'open';
    const box = !dialog && (screen.kind === 'empty' || screen.kind === 'draft');
    if (mine) seen = 'this dialog';
    else if (dialog && seen === 'nothing') seen = 'a dialog';
    boxes = box ? boxes + 1 : 0;
    const isOver =
      (seen === 'this dialog' && dialog && !mine) || (box && (seen !== 'nothing' || (isMain && boxes > NEVER_SEEN)));
    return isOver ? 'answered' : 'open';
  }

  function read(pane: PaneLook) {
    const screen = screenOf(pane, record, driver);
    const dialog = screen.kind === 'dialog' || hasDialog(pane.text, driver.screen);
    const text = squashed(pane.text);
    return { screen, dialog, mine: dialog && words.some((some) => text.includes(some)) };
  }

  return {
    async now(again) {
      const shown = await onScreen();
      if (shown !== 'open') return shown === 'answered' ? howItEnded() : shown;
      const reading = again === undefined ? inTranscript() : budget.read(all, inTranscript);
      return (await reading.catch(() => undefined)) ?? 'open';
    },
    async isOnScreen() {
      const pane = await lookAtPane(tmux, record).catch(() => undefined);
      if (pane?.kind !== 'pane' || pane.dead || pane.panePid !== record.panePid) return false;
      const { screen, dialog, mine } = read(pane);
      // A dialog that shows none of the input (a plan, a tool of a server) cannot be told from others.
      const isIt = screen.kind !== 'shell' && (mine || (dialog && words.length === 0));
      return isIt && (await inTranscript().catch(() => 'open')) === 'open';
    },
  };
}

/** Whether its dialog is on the screen while the hook waits, and only the screen tells when it is answered there. */
function showsDialog({ kind, ask }: AskedEvent, { guarantees }: AgentDriver): boolean {
  return ask === undefined && (kind === 'question' ? guarantees.question : guarantees.permission) === 'api';
}

/** What the dialog is sure to show: the beginning of the command, the file, or one of the questions. */
function tellingWords({ input, questions }: AskedEvent): readonly string[] {
  const path = typeof input.file_path === 'string' ? input.file_path.split('/').at(-1) : undefined;
  const asked = questions.map(({ question }) => question);
  const candidates = asked.length > 0 ? asked : [input.command ?? path ?? input.url];
  return candidates
    .filter((one) => typeof one === 'string')
    .map((one) => squashed(one.split('\n')[0] ?? '').slice(0, 20))
    .filter((one) => one !== '');
}

/** The terminal may break lines anywhere. */
function squashed(text: string): string {
  return text.replace(/\s/g, '');
}

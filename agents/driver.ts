// What threadmux knows of an agent: how it is started, what it reports, how its screen is read, how it is typed into and
// answered, and what it guarantees. Everything above agents/ uses only this interface and the list in agents/list.ts.

import type { PromptDecision } from '../core/prompt.ts';
import type { AgentEvent, AskedEvent } from './event.ts';
import type { AgentScreen, PaneFacts, ShownText } from './screen.ts';

export interface AgentDriver {
  /** As in the configuration and in `--agent`: "codex". */
  readonly name: string;
  /** For people: "Codex". */
  readonly title: string;
  /** What tmux calls its program (`pane_current_command`). "node" is too common to be listed: such an agent is recognised by its hooks or screen. */
  readonly programs: readonly string[];
  readonly guarantees: AgentGuarantees;
  launch(options: LaunchOptions): Launch;
  /** The input of its hook or plugin. Undefined for an event that we do not use; throws if it cannot be read. */
  readEvent(json: unknown): AgentEvent | undefined;
  readonly screen: ScreenReader;
  readonly typing: TypingRules;
  /** What `ask` prints for this decision. Undefined: it cannot be answered through its hook or API. */
  answer(asked: AskedEvent, decision: PromptDecision): string | undefined;
}

/** Shown in the welcome of a thread and in docs/agents.md. */
export interface AgentGuarantees {
  /** Who proves that a message was submitted. */
  readonly receipt: 'hook' | 'screen';
  /** `api`: answered while the dialog in the terminal stays live. `hook`: the terminal shows no dialog meanwhile. `keys`: by keys on the recognised dialog. */
  readonly permission: 'api' | 'hook' | 'keys' | 'none';
  readonly question: 'api' | 'hook' | 'keys' | 'none';
  /** Texts between tools are posted when they are written. */
  readonly textBetweenTools: boolean;
  /** `kept`: a message is submitted and the draft stays. `waits`: the message waits until the draft is gone. */
  readonly draft: 'kept' | 'waits';
  /** The end of a turn is reported in every case: reply, interruption, failure, cancelled dialog. Otherwise the screen tells it. */
  readonly everyEnd: boolean;
  readonly resume: boolean;
  readonly headless: boolean;
}

export interface LaunchOptions {
  /** The program and its arguments, from the configuration. */
  readonly command: readonly string[];
  /** Model, mode and more arguments, as the driver writes them on the command line. */
  readonly settings: { readonly model?: string; readonly permissionMode?: string; readonly args?: readonly string[] };
  /** Go on with the newest conversation of the directory, or with this one. */
  readonly resume?: 'newest' | { readonly session: string };
  /** The folder with `drop`, `ask` and the files of the drivers, on the session's host. */
  readonly scripts: string;
  /** threadmux's home on the session's host. */
  readonly home: string;
  readonly directory: string;
  /** What its program prints for `--version`, if that is known. */
  readonly version?: string;
  /** Only on the machine of the bridge: the path of Node.js and of the compiled program. */
  readonly local?: { readonly node: string; readonly dist: string };
}

/** How the pane's program is started. It changes no file of the user's. */
export interface Launch {
  readonly argv: readonly string[];
  /** Not secret: it may be on a command line. */
  readonly environment: Readonly<Record<string, string>>;
  /** Why the guarantees are weaker than usual in this start, for the welcome; undefined if they are not. */
  readonly weaker?: string;
}

export interface ScreenReader {
  /** `ansi` is the unchanged output of `capture-pane -e -p`. */
  read(ansi: string, facts?: PaneFacts): AgentScreen;
  /** A line that every dialog has, as an extended regular expression for tmux; undefined if they have none in common. */
  readonly dialogLine?: string;
  /** Whether the box contains exactly this text; `maybe` if it shows a placeholder or a part of it. */
  boxHolds(screen: AgentScreen, text: string): 'yes' | 'no' | 'maybe';
  /** How often the screen shows this text as submitted. */
  timesShown(screen: string, text: string): number;
}

export interface TypingRules {
  /** Why this text must not be typed; undefined if it may. */
  refuse(text: string): string | undefined;
  /** Lines (extended regular expressions) that the screen must show while the text is typed, so that a dialog that opens meanwhile gets nothing. */
  boxLines(screen: string, text: string, size: { readonly width: number; readonly height: number }): readonly string[];
  /** What the box shows once it has taken the text; undefined: wait the whole pause before Enter. */
  shownText(text: string): ShownText | undefined;
  /** A key that puts a draft aside, and what confirms it; undefined: a message waits until the draft is gone. */
  readonly stash?: { readonly key: string; readonly confirmed: string };
  /** A text entered while the agent works is reported late, merged or never: type only when it is idle. */
  readonly onlyWhenIdle: boolean;
  /** The key that interrupts. */
  readonly interrupt: readonly string[];
}

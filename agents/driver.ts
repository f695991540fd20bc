// What threadmux knows of an agent: how it is started, what it reports, how its screen is read, how it is typed into and
// answered, and what it guarantees. Everything above agents/ uses only this interface and the list in agents/list.ts.

import type { PromptDecision } from '../core/prompt.ts';
import type { SessionSettings } from '../core/session-settings.ts';
import type { AgentEvent, AskedEvent, EventOf } from './event.ts';
import type { HeadlessRunner } from './headless.ts';
import type { AgentDialog, AgentScreen, PaneFacts, ShownText } from './screen.ts';
import type { SlashCommands } from './slash-command.ts';
import type { TurnReader } from './turn.ts';

export interface AgentDriver {
  /** As in the configuration and in `--agent`: "codex". */
  readonly name: string;
  /** For people: "Codex". */
  readonly title: string;
  /** What tmux calls its program (`pane_current_command`). "node" is too common to be listed: such an agent is recognised by its hooks or screen. */
  readonly programs: readonly string[];
  /** The variables of our own environment that its sessions on this machine get, beside the common ones: its keys and settings. */
  readonly variables: readonly string[];
  readonly guarantees: AgentGuarantees;
  /** Files of ours that the agent loads, below the folder of `drop` and `ask`, such as "opencode/plugin.js". */
  readonly files?: readonly string[];
  /** `launch` needs to know the version of the program. */
  readonly asksVersion?: boolean;
  launch(options: LaunchOptions): Launch;
  /** The input of its hook or plugin. Undefined for an event that we do not use; throws if it cannot be read. */
  readEvent(json: unknown): AgentEvent | undefined;
  readonly screen: ScreenReader;
  readonly typing: TypingRules;
  /** What `ask` prints for this decision. Undefined: it cannot be answered through its hook or API. */
  answer(asked: AskedEvent, decision: PromptDecision): string | undefined;
  /** Reads the texts and tools of a turn from its transcript. Without it, the events carry them: `said`, `tool`, `idle`. */
  readonly turns?: TurnReader;
  /** Texts that begin with "/" and are commands of the agent. Without it, they are typed as they are, unless `refuse` says no. */
  readonly commands?: SlashCommands;
  /** How it runs without a terminal (`!agent`). Without it, it cannot. */
  readonly headless?: HeadlessRunner;
  /** Without it, `launch` is enough for its reports. */
  readonly extension?: AgentExtension;
  /** How the permission mode of a running agent is changed. Without it, a mode counts at the next start. */
  readonly modes?: ModeKeys;
  /** How the model is changed while it runs; without it, a model counts at the next start. */
  readonly model?: ModelCommand;
  /** When a usage limit that stopped a turn is reset; undefined if the turn failed for another reason, or no time is known. */
  resetOf?(failed: EventOf<'failed'>, at: number): number | undefined;
  /** The option that waits for the reset, in the dialog about a usage limit. */
  limitChoice?(dialog: AgentDialog): number | undefined;
}

/** Files below the user's home that make an agent report to us, where `launch` alone cannot. `install` writes and removes them. */
interface AgentExtension {
  /** Also sessions that we start report only with it. */
  readonly isNeeded?: boolean;
  /** All of its files are in this folder, below the user's home; there may be files of others. */
  folder(paths: ExtensionPaths): string;
  /** By their paths in the folder. */
  files(paths: ExtensionPaths): Readonly<Record<string, string>>;
}

export interface ExtensionPaths {
  /** The folder of `drop` and `ask`, on the same host. */
  readonly scripts: string;
  /** threadmux's home on the same host. */
  readonly home: string;
}

/** Shown in the welcome of a thread and in docs/agents.md. */
export interface AgentGuarantees {
  /** Who proves that a message was submitted. */
  readonly receipt: 'hook' | 'screen';
  /**
   * `api`: answered through `ask` while the dialog in the terminal stays live. `hook`: through `ask`, and the terminal shows no dialog
   * meanwhile. `keys`: by keys on the recognised dialog. `never`: it does not ask.
   */
  readonly permission: 'api' | 'hook' | 'keys' | 'none' | 'never';
  readonly question: 'api' | 'hook' | 'keys' | 'none' | 'never';
  /** Texts between tools are posted when they are written. */
  readonly textBetweenTools: boolean;
  /** `kept`: a message is submitted and the draft stays. `waits`: the message waits until the draft is gone. */
  readonly draft: 'kept' | 'waits';
  /** The end of a turn is reported in every case: reply, interruption, failure, cancelled dialog. Otherwise the screen tells it. */
  readonly everyEnd: boolean;
  readonly resume: boolean;
}

export interface LaunchOptions {
  /** The program and its arguments, from the configuration. */
  readonly command: readonly string[];
  /** Model, mode and more arguments, which the driver puts on the command line. */
  readonly settings: Pick<SessionSettings, 'model' | 'permissionMode' | 'args'>;
  /** Go on with the newest conversation of the directory, or with this one. */
  readonly resume?: 'newest' | { readonly session: string } | undefined;
  /** The folder with `drop`, `ask` and the files of the drivers, on the session's host. */
  readonly scripts: string;
  /** threadmux's home on the session's host. */
  readonly home: string;
  readonly directory: string;
  /** The name of another host; undefined on the machine of the bridge. */
  readonly host?: string;
  /** Whether its extension is installed; undefined if it has none, or nobody has looked. */
  readonly hasExtension?: boolean | undefined;
  /** What its program prints for `--version`, if that is known. */
  readonly version?: string | undefined;
  /** Only on the machine of the bridge: the path of Node.js and of the compiled program. */
  readonly local?: { readonly node: string; readonly dist: string };
  /** A file on the session's host with settings for Claude Code that add our hooks; undefined if there is none. */
  readonly hookSettings?: string | undefined;
}

/** How the pane's program is started. It changes no file of the user's. */
export interface Launch {
  readonly argv: readonly string[];
  /** Not secret: it may be on a command line. */
  readonly environment: Readonly<Record<string, string>>;
  /** Why the guarantees are weaker than usual in this start, for the welcome: plain sentences without Markdown. Undefined if they are not. */
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
  /** Why this text must not be typed, in a sentence for people; undefined if it may. */
  refuse(text: string): string | undefined;
  /** What is typed instead of a text, so that the agent reads it as text and does not act on its first or last characters. */
  guard?(text: string): string;
  /** Lines (extended regular expressions) that the screen must show while the text is typed, so that a dialog that opens meanwhile gets nothing. */
  boxLines(screen: string, text: string, size: { readonly width: number; readonly height: number }): readonly string[];
  /** What the box shows once it has taken the text; undefined: wait the whole pause before Enter. */
  shownText(text: string): ShownText | undefined;
  /** A key that puts a draft aside, and what confirms it; undefined: a message waits until the draft is gone. */
  readonly stash?: { readonly key: string; readonly confirmed: string };
  /** A line (extended regular expression) that the screen shows while a turn ends: Enter waits until it is gone, for two seconds at most. */
  readonly turnEnds?: string;
  /** A text entered while the agent works is reported late, merged or never: type only when it is idle. */
  readonly onlyWhenIdle: boolean;
  /** The key that interrupts. */
  readonly interrupt: readonly string[];
}

export interface ModeKeys {
  /** It goes to the next mode. */
  readonly key: string;
  /** What the screen says while something works in the background, beside an empty box. */
  readonly background: RegExp;
  /** The settings that the modes on the screen stand for. */
  readonly names: Readonly<Record<string, NonNullable<SessionSettings['permissionMode']>>>;
}

/**
 * The name of our extension in the settings of an agent. Several machines may have installed threadmux on one host: each has its own.
 * `home`: threadmux's home on that host.
 */
export function extensionName(home: string): string {
  const [, machine] = /\/for\/([\w.-]+)$/.exec(home) ?? [];
  return machine === undefined ? 'threadmux' : `threadmux-${machine.toLowerCase().replace(/[^a-z0-9-]/g, '-')}`;
}

/** The parts of an agent's configured command: a subcommand comes between its program and its options. */
export function splitCommand(command: readonly string[]): {
  readonly program: readonly string[];
  readonly options: readonly string[];
} {
  const at = command.findIndex((word, index) => index > 0 && word.startsWith('-'));
  return at < 0 ? { program: command, options: [] } : { program: command.slice(0, at), options: command.slice(at) };
}

interface ModelCommand {
  command(model: string): string;
  /** Whether it was taken, by what the command printed. */
  isTaken(printed: string): boolean;
}

// What the pane of an agent shows, in the same words for all agents. Only a visible, empty box that has the focus counts as
// safe to type into; everything that is not recognised is `unknown`, and nothing is typed into it.

export type AgentScreen =
  | {
      readonly kind: 'empty';
      readonly busy: boolean;
      readonly queued: boolean;
      readonly stashed: boolean;
      /** The permission mode, if the agent shows one. */
      readonly mode: string;
    }
  | { readonly kind: 'draft'; readonly text: string; readonly busy: boolean; readonly stashed: boolean }
  | { readonly kind: 'menu'; readonly text: string }
  | { readonly kind: 'shellMode'; readonly text: string }
  /** The box is visible, but something else has the focus. */
  | { readonly kind: 'aside' }
  | ({ readonly kind: 'dialog' } & AgentDialog)
  /** A list of all agents or a subagent's conversation: text submitted there goes to another agent. */
  | { readonly kind: 'agents' }
  | { readonly kind: 'subagent' }
  | { readonly kind: 'transcript' }
  | { readonly kind: 'copyMode' }
  | { readonly kind: 'shell'; readonly suspended: boolean }
  | { readonly kind: 'dead' }
  | { readonly kind: 'otherProgram'; readonly command: string }
  | { readonly kind: 'unknown' };

export interface AgentDialog {
  /** "permission", "question", "plan", "trust", … or "unknown". */
  readonly which: string;
  /** A panel that the user opened with a command or a key: Esc closes it, and nothing waits for an answer. */
  readonly full: boolean;
  /** `choice`: one option is highlighted and Enter takes it. `panel`: it only shows something. */
  readonly form: 'choice' | 'panel' | 'unknown';
  /** Empty if a part of the dialog is not on the screen. */
  readonly title: string;
  /** Everything between the title and the keys that is not an option; wrapped lines are whole again. */
  readonly text: readonly string[];
  readonly options: readonly AgentDialogOption[];
  /** The list has options that are scrolled out of sight. */
  readonly hasMore: boolean;
  /** A text field is open that is not an option: letters are written into it. */
  readonly field: 'empty' | 'full' | undefined;
  /** The line of keys, as the dialog shows it. */
  readonly help: string;
}

/** Its beginning is not on the screen: another dialog may look the same. In a list that the user opened, nothing is approved. */
export function isCutDialog(screen: AgentScreen): boolean {
  return screen.kind === 'dialog' && !screen.full && screen.title === '';
}

export interface AgentDialogOption {
  /** The number that the dialog shows; the same option may have another one in another version. */
  readonly number: number | undefined;
  readonly label: string;
  /** The explanation beside or below the label. */
  readonly about: string;
  /** Enter takes this one. */
  readonly selected: boolean;
  /** The key that takes it at once, as tmux names it. */
  readonly key?: string;
  /** It is a text field while it is highlighted: `empty` or `full`. Before that it is `closed`. */
  readonly field?: 'closed' | 'empty' | 'full';
}

/**
 * What tmux reports about the pane at the same moment. Only these facts reveal a dead pane, copy mode, a shell or another
 * program. Pass the cursor whenever possible: text on the screen cannot imitate it.
 */
export interface PaneFacts {
  readonly cursorX?: number;
  readonly cursorY?: number;
  /** Programs that draw their own cursor hide the terminal's. */
  readonly cursorShown?: boolean;
  readonly width?: number;
  readonly height?: number;
  readonly paneDead?: boolean;
  readonly inMode?: boolean;
  readonly title?: string;
  readonly currentCommand?: string;
  /** The value of `currentCommand` when the agent last reported from this pane. */
  readonly agentCommand?: string;
}

/**
 * The box goes from the last line that begins with `from`, and has one that begins with `to` below it, to that one. Both are basic regular
 * expressions, by bytes. Spaces and line breaks do not count.
 */
export interface ShownText {
  readonly from: string;
  readonly to: string;
  /** The box contains exactly this; empty if the text is too long for that. */
  readonly whole: string;
  /** The box contains one of these. */
  readonly parts: readonly string[];
  /** Enter comes after the whole pause, even if the text is seen at once. */
  readonly late?: true;
}

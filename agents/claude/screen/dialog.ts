// Reads the dialog that Claude Code shows: what it is, its text, its options and its keys. A dialog that this file does not
// know is still a dialog, `unknown`; nothing here decides whether typing is safe.

import { withSpacesShown } from '../../agent-rows.ts';
import type { AgentDialog, AgentDialogOption } from '../../screen.ts';
import { type AnsiRow, isHint } from './box.ts';
import { readOptions, TICK } from './dialog-options.ts';
import { readDialogText, STEPS } from './dialog-text.ts';

type DialogName = (typeof KINDS)[number][0] | 'unknown';

interface Dialog extends AgentDialog {
  readonly which: DialogName;
}

/** `columns`: the width of the pane. Pass it whenever possible: no text in a dialog is as wide as its upper edge. */
export function findDialog(rows: readonly AnsiRow[], columns?: number): Dialog | undefined {
  const lines = rows.map((row) => row.text);
  const width = Math.max(...lines.map((line) => line.length));
  const top = topOf(lines, columns);
  const said = lines.slice(top).join('\n').trimEnd();
  const asked = (['permission', 'plan'] as const).find((name) => asks(name, lines.slice(top), top > 0));
  const isKind = ([name, one]: (typeof KINDS)[number]) => (asked === undefined ? one.test(said) : name === asked);
  const [which, words, full] = KINDS.find(isKind) ?? (['unknown', /./, false] as const);
  const start = which === 'btw' ? lines.findLastIndex((line) => words.test(line)) : top;
  const body = rows.slice(start, rows.findLastIndex((row) => row.text !== '') + 1);
  const { help, from } = helpOf(body.map((row) => row.text));
  const list = readOptions(body.slice(0, from), width, which === 'resume' || which === 'rewind');
  const isOpen = list.options.some((option) => option.selected) || help !== '' || TALL.test(said);
  if (!isOpen) return undefined;
  const options = UNCHOSEN.has(which) ? [] : list.options.length > 0 ? list.options : keyOptions(which, help);
  const form = formOf(which, options);
  const isBegun = start === 0 && !lines[0]?.startsWith('Welcome to '); // its upper part is off the screen
  const isCut = isBegun || (form === 'unknown' && !full && (list.hasMore || hidesServers(said, options)));
  const used = form === 'panel' || options !== list.options ? new Set<number>() : list.rows;
  // A dialog with options has no field for a code: such words are a part of what it asks.
  const shown = (text: string) => (list.options.length > 0 ? text : text.replace(CODE, '$1'));
  const isCommand = which === 'permission';
  const { title, text } = readDialogText(
    body
      .slice(0, from)
      .map((row, at) => (used.has(at) ? undefined : shown(isCommand ? withSpacesShown(row).text : row.text))),
    isCommand ? undefined : width,
  );
  return {
    which,
    full,
    form,
    title: TITLES[which] ?? (isCut ? '' : title),
    text: title !== '' && (isCut || which in TITLES) ? [title, ...text] : text,
    options: form === 'panel' ? [] : options,
    hasMore: list.hasMore,
    field: fieldOf(body),
    help,
  };
}

/** Only five servers are shown at a time, and at the last one nothing says that there are more. */
function hidesServers(said: string, options: readonly AgentDialogOption[]): boolean {
  const [, count = 0] = /^ *(\d+) new MCP servers/u.exec(said) ?? [];
  return options.filter(({ label }) => TICK.test(label)).length < Number(count);
}

/**
 * Its question stands directly above its options: a command or a plan may contain the words of any other dialog. `isWhole`: the first line
 * is that of the dialog, and not one of the command.
 */
function asks(what: 'permission' | 'plan', lines: readonly string[], isWhole: boolean): boolean {
  const words = what === 'plan' ? PLAN_END : PERMISSION;
  const asked = lines.findLastIndex((line) => words.test(line));
  const first = lines.find((line) => line !== '') ?? '';
  const isOther = isWhole && KINDS.some(([name, one]) => name !== what && one.test(first));
  return asked >= 0 && !isOther && lines.slice(asked + 1, asked + 5).some((line) => FIRST_OPTION.test(line));
}

const PERMISSION = /^ *Do you want (?:to|Claude)\b/mu;
/** Some versions draw a rule across the screen between the plan and this line. */
const PLAN_END = /^ *\S{1,40} has written up a plan\b/u;
const PLAN_BEGIN = /^ *Ready to code\?$/u;
const FIRST_OPTION = /^ *(?:❯ *)?1\. /u;

function formOf(which: DialogName, options: readonly AgentDialogOption[]): Dialog['form'] {
  if (PANELS.has(which)) return 'panel';
  const isMarked = options.filter((option) => option.selected).length === 1 || options.some(({ key }) => key);
  const isMultiple = options.some(({ label }) => TICK.test(label));
  return isMarked && !isMultiple ? 'choice' : 'unknown';
}

/** They only show something. */
const PANELS: ReadonlySet<DialogName> = new Set<DialogName>([
  ...(['cost', 'status', 'settings', 'help', 'btw', 'tasks', 'stats', 'hooks', 'skills', 'agents', 'doctor'] as const),
]);

/** Their lines are not options that Enter answers: settings, lists with tabs, a slider. */
const UNCHOSEN: ReadonlySet<DialogName> = new Set<DialogName>([
  ...(['config', 'permissions', 'plugin', 'effort', 'search'] as const),
]);

/** For dialogs whose first line is a row of tabs. */
const TITLES: Partial<Readonly<Record<DialogName, string>>> = {
  cost: 'Usage',
  status: 'Status',
  config: 'Settings',
  settings: 'Settings',
  stats: 'Statistics',
  help: 'Help',
  permissions: 'Permissions',
  plugin: 'Plugins',
  agents: 'Agents',
  btw: 'Side question',
};

/** Matched in this order against the whole dialog; true for a panel that the user opened. */
const KINDS = [
  ['auto-mode', /^ *(?:Make auto mode your default|Auto mode can['’]t check)/mu, false],
  ['trust', /^ *(?:Accessing workspace|Do you trust the files)|\bI trust this folder$/mu, false],
  [
    'onboarding',
    /^ *(?:Let['’]s get started|To change this later, run \/theme|Security notes:$)|\(ctrl\+t to disable\)$(?!\n)/mu,
    false,
  ],
  ['key', /^ *Detected a custom API key/mu, false],
  ['bypass', /^ *WARNING: Claude Code running in Bypass/mu, false],
  ['server', /^ *(?:\d+ )?[Nn]ew MCP servers? found/mu, false],
  ['question', /^(?:← )? *[☐☒] \S|^ *Review your answers|^ *\d+\. Chat about this/mu, false],
  ['plan', /^ *(?:Exit plan mode\?|Ready to code\?)|\bhas written up a plan\b/mu, false],
  ['permission', PERMISSION, false],
  ['limit', /\bStop and wait for limit to reset$/mu, false],
  ['login', /^ *Login$|^ *Select login method|^ *Paste code here if prompted/mu, true],
  ['rewind', /^ *Rewind$/mu, true],
  ['model', /^ *Select model$/mu, true],
  ['config', /⌕ Search settings|^ *No settings match/mu, true],
  ['cost', /^ *Total cost:/mu, true],
  ['status', /^ *Version: +\d/mu, true],
  ['stats', /^ *Overview +Models$/mu, true],
  ['settings', /^ *Settings +Status +Config/mu, true],
  ['help', /^ *(?:Claude Code v[\d.]+ +General|Help +)/mu, true],
  ['resume', /^ *Resume session/mu, true],
  ['permissions', /^ *Permissions:? +/mu, true],
  ['search', /^ *Search prompts/mu, true],
  ['theme', /^ *Theme$/mu, true],
  ['memory', /^ *Memory$/mu, true],
  ['hooks', /^ *Hooks$/mu, true],
  ['effort', /^ *Effort$/mu, true],
  ['export', /^ *Export [Cc]onversation/mu, true],
  ['agents', /^ *Agents +Running/mu, true],
  ['btw', /^ *\/btw /mu, true],
  ['tasks', /^ *(?:Background tasks|Shell details)/mu, true],
  ['skills', /^ *Skills$/mu, true],
  ['plugin', /^ *Plugins +Discover/mu, true],
  ['add', /^ *Add directory to workspace$/mu, true],
  ['doctor', /^ *Diagnostics$|Run \/feedback to report details\.$/mu, true],
] as const;

/** Dialogs that may be too tall to show their line of keys: by their first line, or by their last one. */
const TALL =
  /^ *(?:Settings +Status +Config|Search prompts|Help +General|Overview +Models$|Shell details$|Permissions +\w|Auto mode can['’]t check)|\(ctrl\+t to disable\)$(?!\n)/mu;

/** The code of a login: Claude Code shows its end, which must not be repeated. */
const CODE = /^( *Paste code here if prompted >)(.*)$/u;
/** A search field above a list does not count. */
const FRAMED = /^( *│ )[^⌕│]*│$/u;

/** A line to write in, in a frame or after a `>`. */
function fieldOf(rows: readonly AnsiRow[]): Dialog['field'] {
  for (const { text, cells } of rows) {
    const [, , code] = CODE.exec(text) ?? [];
    if (code !== undefined) return code.trim() === '' ? 'empty' : 'full';
    const [, edge] = FRAMED.exec(text) ?? [];
    if (edge !== undefined) return isHint([cells.slice(edge.length, text.length - 1)]) ? 'empty' : 'full';
    if (/^ *> /u.test(text)) return 'full';
  }
  return undefined;
}

/** The first line below the last rule across the screen; the rules inside a question and below a plan do not count. */
function topOf(lines: readonly string[], columns: number | undefined): number {
  const isTop = (line: string) =>
    (columns === undefined || (line.length === columns && !UNEQUAL.test(line))) && TOP.test(line);
  const top = lines.findLastIndex(isTop);
  const below = lines[top + 1] ?? '';
  if (PLAN_END.test(below))
    return 1 + lines.findLastIndex((line, at) => isTop(line) && PLAN_BEGIN.test(lines[at + 1] ?? ''));
  if (!CHAT.test(below)) return 1 + (OPTION_NUMBER.test(below) ? lines.slice(0, top).findLastIndex(isTop) : top);
  // A question begins in the first column, so its text can contain such an edge: the first one is its own.
  const first = lines.findIndex((line, at) => isTop(line) && STEPS.test(lines[at + 1] ?? ''));
  return 1 + (first < 0 ? lines.slice(0, top).findLastIndex(isTop) : first);
}

/** The last line of a question, below a rule; it has no number beside previews. */
const CHAT = /^ *(?:❯ *)?(?:\d+\. )?Chat about this$/u;

/**
 * In newer versions a notice may overwrite a part of the upper edge. Only the edge reaches both sides of the pane: a rule in the text of a
 * dialog, such as a command to approve, must not hide what is above it.
 */
const TOP = /^─{10,}$|^[ ▔].*▔$/u;
/** Characters that may have another number of columns than units: a short line with them could look as long as the edge. */
const UNEQUAL = /[^ -~¡-¬®-ÿ\u2010-\u2027\u2030-\u205e\u2190-\u2bff]/u;

const OPTION_NUMBER = /^ *(?:❯ *)?\d+\. /u;
const OPTION_ROW = /^ *(?:❯|\d+\. |(?:[↑↓] )?\[.?\])/u;
const KEYS = /\b(?:esc|enter|tab|shift\+tab)(?:\/\S{1,20})? to \w+/iu;
/** A long line of keys is wrapped. */
const FIRST_KEYS = /^ *(?:[←→↑↓/]+|ctrl\+\w) to \w+ .*·/iu;

/** From the first line of the last block that names keys. The options may be in the same block, and are no keys. */
function helpOf(lines: readonly string[]): { readonly help: string; readonly from: number } {
  const start =
    1 +
    Math.max(
      lines.lastIndexOf(''),
      lines.findLastIndex((line) => OPTION_ROW.test(line)),
    );
  const from = lines.findIndex((line, at) => at >= start && (KEYS.test(line) || FIRST_KEYS.test(line)));
  if (!lines.slice(start).some((line) => KEYS.test(line))) return { help: '', from: lines.length };
  const help = lines.slice(from).map((line) => line.trim());
  return { help: help.join(' '), from };
}

const TMUX_KEYS: Readonly<Record<string, string>> = { enter: 'Enter', 'shift+tab': 'BTab' };

/** Some questions have keys instead of options: "Enter to stay in auto mode · shift+Tab to leave". */
function keyOptions(which: DialogName, help: string): readonly AgentDialogOption[] {
  if (which !== 'auto-mode' && which !== 'onboarding') return [];
  return help.split(' · ').flatMap((part) => {
    const [, name = '', words = ''] = /^(?:Press )?(Enter|shift\+Tab) to (.+?)…?$/iu.exec(part.trim()) ?? [];
    const key = TMUX_KEYS[name.toLowerCase()];
    if (key === undefined) return [];
    return [{ number: undefined, label: capital(words), about: '', selected: false, key }];
  });
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

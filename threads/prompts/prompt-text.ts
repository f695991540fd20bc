// The text of a prompt in the thread: everything that the user needs to decide. Characters that hide text (bidi
// overrides, zero-width characters, fences) are made visible.

import type { AskedEvent } from '../../agents/event.ts';
import type { Prompt, PromptDecision, PromptProgress, PromptQuestion } from '../../core/prompt.ts';
import { splitMessage } from '../../core/split.ts';
import { bold, neutralise } from '../../core/untrusted-text.ts';
import type { FileUpload } from '../../discord/rest.ts';
import {
  DESCRIPTION_ROOM,
  escapeCode,
  escapeText,
  fitsCode,
  fitsPlain,
  jsonText,
  preview,
  upload,
  withoutGaps,
} from './preview.ts';
import type { PromptEnd } from './prompt-record.ts';

export interface PromptText {
  /** At most `ROOM` long, so that the lines below it always fit. */
  readonly text: string;
  /** How to answer; left out when the prompt is closed. */
  readonly hint: string;
  /** All of it, if it is too long for a message. */
  readonly files: readonly FileUpload[];
}

export const PROMPT_TEXT_LIMIT = 1_600;
const TOOL_ROOM = 100;
const FOLDER_ROOM = 200;
const RULE_ROOM = 130;
const MOST_RULES = 100;

/** `always`: what "always" would allow. `title`: of the agent. */
export function permissionText(
  { tool, input, cwd, always: names }: Pick<AskedEvent, 'tool' | 'input' | 'cwd' | 'always'>,
  title: string,
): PromptText {
  const about = typeof input.description === 'string' ? escapeText(input.description, DESCRIPTION_ROOM) : '';
  const always = names === undefined ? undefined : rules(names);
  const above = `🔔 ${title} wants to use ${bold(escapeText(tool, TOOL_ROOM))}${about === '' ? '' : `: ${about}`}`;
  const isCut = !fitsPlain(tool, TOOL_ROOM) || !fitsCode(cwd, FOLDER_ROOM);
  const where = `in ${escapeCode(cwd, FOLDER_ROOM)}${isCut ? `; tool and folder are whole in ${escapeCode('request.json')}` : ''}`;
  const below = [where, ...(always === undefined ? [] : [always.text])];
  const room = PROMPT_TEXT_LIMIT - [above, ...below].join('\n').length - 1;
  const what = preview(tool, input, room);
  return {
    text: [above, what.text, ...below].join('\n'),
    hint: '-# `allow` or `yes` allows it once; anything else you write denies it, with your words as the reason.',
    files: [
      ...what.files,
      ...(always?.files ?? []),
      ...(isCut ? [upload('request.json', JSON.stringify({ tool, cwd }, null, 2))] : []),
    ],
  };
}

export function planText(plan: string, title: string): PromptText {
  // Escaping never makes a text shorter, so this is more than what fits.
  const whole = plan.trimStart();
  const text = withoutGaps(whole);
  const begin = text.slice(0, 2 * PROMPT_TEXT_LIMIT);
  const [first = '*(it is empty)*', ...rest] = splitMessage(neutralise(begin), { limit: PROMPT_TEXT_LIMIT - 80 });
  const isAttached = rest.length > 0 || begin.length < text.length || text !== whole || hidesPart(plan);
  const note = isAttached ? '\n*The whole plan is attached.*' : '';
  return {
    text: `📋 ${title} has a plan:\n${first}${note}`,
    hint: '-# `approve` starts it; anything else you write goes back as feedback.',
    files: isAttached ? [upload('plan.md', plan, neutralise)] : [],
  };
}

/** More questions get less space each. The file that is posted with the first question has all of them. */
const PIECES = [PROMPT_TEXT_LIMIT, 300, 120, 60, 30, 12];

export function questionText(questions: readonly PromptQuestion[], progress: PromptProgress): PromptText {
  const asked = questions[progress.chosen.length];
  const isLong = questions.some(
    ({ header, question, options }, at) =>
      options.some(({ preview }) => preview) ||
      // Only the beginning of a long text is processed.
      [header, question, ...options.flatMap(({ label, description }) => [label, description])].some(
        (text) => text.length > PROMPT_TEXT_LIMIT,
      ) ||
      !firstLines(linesOf(questions, at, longAnswers(at))).isWhole,
  );
  let shown = { text: '', isWhole: false };
  for (const piece of PIECES)
    if (!shown.isWhole) shown = firstLines(linesOf(questions, progress.chosen.length, progress.chosen, piece));
  return {
    text: shown.text,
    hint: hintOf(asked, isLong),
    files: isLong ? [upload('questions.txt', everything(questions), neutralise)] : [],
  };
}

/** Limits the earlier answers that are shown above a question, because they can have any length. */
const ANSWER_ROOM = 120;
const longAnswers = (count: number) => Array<string>(count).fill('x'.repeat(ANSWER_ROOM));

/** One after the other: there may be thousands of options, and only those that fit are processed. */
function* linesOf(
  questions: readonly PromptQuestion[],
  at: number,
  chosen: readonly string[],
  piece = PROMPT_TEXT_LIMIT,
): Generator<string> {
  const asked = questions[at];
  const show = (text: string) => escapeText(text, piece);
  const short = (text: string) => escapeText(text, asked === undefined ? piece : Math.min(piece, ANSWER_ROOM));
  if (asked === undefined) yield '❓ Your answers:';
  for (const [index, answer] of chosen.entries())
    yield `✔ ${bold(short(questions[index]?.header ?? ''))}: ${short(answer)}`;
  if (asked === undefined) return;
  const count = questions.length === 1 ? '' : ` (${at + 1} of ${questions.length})`;
  yield `❓ ${bold(show(asked.header))}${count}: ${show(asked.question)}`;
  for (const [index, { label, description }] of asked.options.entries())
    yield `${bold(`${index + 1}.`)} ${show(label)}${description === '' ? '' : ` — ${show(description)}`}`;
}

function firstLines(lines: Iterable<string>): { readonly text: string; readonly isWhole: boolean } {
  const kept: string[] = [];
  let length = -1;
  for (const line of lines) {
    length += line.length + 1;
    if (length > PROMPT_TEXT_LIMIT) return { text: cutLines(kept), isWhole: false };
    kept.push(line);
  }
  return { text: kept.join('\n'), isWhole: true };
}

/** With room for the sign that there is more. */
function cutLines(kept: string[]): string {
  while (kept.join('\n').length > PROMPT_TEXT_LIMIT - 2) kept.pop();
  return [...kept, '…'].join('\n');
}

function hintOf(asked: PromptQuestion | undefined, isLong: boolean): string {
  if (asked === undefined) return '-# Tap, or write `submit`.';
  const several = asked.multiSelect ? ' Several: with commas.' : '';
  const file = isLong ? ' `questions.txt` has all of it.' : '';
  if (asked.onlyOptions) return `-# Tap, or write a number or a label.${file}`;
  if (asked.options.length === 0) return `-# Tap, or write your answer.${file}`;
  return `-# Tap, or write a number, a label or your own words.${several}${file}`;
}

function everything(questions: readonly PromptQuestion[]): string {
  return questions
    .map(({ header, question, options }) =>
      [
        `${header}: ${question}`,
        ...options.map(({ label, description, preview }, at) =>
          [`${at + 1}. ${label} — ${description}`, ...(preview ? [preview] : [])].join('\n'),
        ),
      ].join('\n'),
    )
    .join('\n\n');
}

/** Everything that "always" would change, because the user must see it before tapping. */
function rules(whole: readonly string[]): { readonly text: string; readonly files: readonly FileUpload[] } {
  const names = whole.slice(0, MOST_RULES).map((name) => escapeCode(name, RULE_ROOM));
  const text = `*Always allow* would add: ${names.join(', ')}`;
  const isCut = whole.length > MOST_RULES || whole.some((name) => !fitsCode(name, RULE_ROOM));
  if (text.length <= 420 && !isCut) return { text, files: [] };
  return {
    text: `*Always allow* would add ${whole.length} rules: ${names[0]}, … all of them in ${escapeCode('always.json')}`,
    files: [upload('always.json', jsonText(whole))],
  };
}

/** The last line of a prompt that is over: who answered what, and where. */
export function promptEndText(prompt: Prompt, ended: PromptEnd, title: string): string {
  switch (ended.kind) {
    case 'answered':
      return '🖥️ Answered in the terminal.';
    case 'exited':
      return `⏹️ ${title} has exited.`;
    case 'called off':
      return '⏹️ Cancelled in the terminal.';
    case 'time is up':
      return '⌛ Not answered here in time. Answer in the terminal, where the dialog is still open.';
    case 'not delivered':
      return '⚠️ Your answer did not reach the agent. Answer in the terminal.';
    case 'abandoned':
      return '⚠️ The agent still asks, but can no longer be answered from here. Answer in the terminal.';
    case 'decided':
      return `${decisionText(prompt, ended.decision)} — ${escapeText(ended.by.name, 60) || 'you'}`;
  }
}

function decisionText(prompt: Prompt, decision: PromptDecision): string {
  switch (decision.kind) {
    case 'allow':
      if (prompt.kind === 'plan') return '✅ **Approved**';
      return decision.always ? '✅ **Always allowed**' : '✅ **Allowed**';
    case 'deny':
      return `⛔ ${bold(prompt.kind === 'plan' ? 'Rejected' : 'Denied')}${decision.reason === '' ? '' : `: ${escapeText(decision.reason, 250)}`}`;
    case 'answers':
      return `✅ ${bold(escapeText(decision.answers.join(' · '), 250))}`;
  }
}

// Detects Markdown that hides part of its text. Such text is also attached as a file, so that the user sees all of it.

/** A spoiler, a link with its own text, a link definition, a time, an emoji, a mention, an escaped character or line break. */
const HIDES = /\|\||\]\(|\]\[|\]:|<t:|<a?:|<id:|<[@#/]|\\[!-/:-@[-`{-~\n]/;

/** Discord reads the rest of a fence's line as the language and does not show it. */
const FENCE = /(?:`{3}|~{3})[`~]*([^\n]*)/g;

/** Words that can only be a language there. */
const LANGUAGES = new Set(
  `bash c c++ console cpp cs csharp css csv diff dockerfile env go graphql html http ini java javascript js json json5 jsonc
  jsonl jsx kotlin less lua makefile markdown md mermaid nginx nix perl php plaintext powershell proto protobuf py python
  rb ruby rs rust scala scss sh shell sql svelte svg swift terraform text toml ts tsx txt typescript vue xml yaml yml zsh`.split(
    /\s+/,
  ),
);

/** Lists and quotes in each other, so many that their text has no place on a small screen. */
const DEEP = /^[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+|>[ \t]*){7}/m;

export function hidesPart(markdown: string): boolean {
  if (HIDES.test(markdown) || DEEP.test(markdown)) return true;
  for (const [, info = ''] of markdown.matchAll(FENCE)) {
    const word = info.trim().toLowerCase();
    if (word !== '' && !LANGUAGES.has(word)) return true;
  }
  return false;
}

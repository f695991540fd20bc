// What the card of a dialog shows, and what its buttons mean. Pure. Text is at most 60 columns wide, so that a phone shows it.

import { createHash } from 'node:crypto';
import { describeScreen } from '../../agents/describe-screen.ts';
import { type AgentDialog, isCutDialog } from '../../agents/screen.ts';
import { withoutAge } from '../../agents/screen-fingerprint.ts';
import { bold, insideFence, neutralise, untrustedText, wordsInPlace } from '../../core/untrusted-text.ts';
import { textForm } from '../../discord/interactions.ts';
import { button, type ComponentRow, type MessageDraft, row } from '../../discord/messages.ts';
import type { PaneRef } from '../../tmux/pane.ts';

const WIDTH = 60;
const ROOM = 1_500;
const TITLE_ROOM = 200;
const BUTTON_ROOM = 80;
const MOST_BUTTONS = 5;
const MOST_OPTIONS = 25;

/**
 * Identifies what a tap would answer: the pane, and everything that the dialog says. Not the highlighted option, which somebody
 * at the terminal may move. In a list that the user opened, also not how long ago something was; in a command to approve, "1 home ago"
 * is no clock. `historyLines`: what was scrolled out of the pane, which differs if two dialogs look the same because their beginning was.
 */
export function dialogPrint(pane: PaneRef, dialog: AgentDialog, historyLines = 0): string {
  const { which, full, form, title, text, options, help } = dialog;
  // What is being written does not make it another dialog.
  const said = which === 'add' ? [] : full ? text.map(withoutAge) : text;
  const chosen = options.map(({ label, about, field }) => {
    if (field !== undefined) return '';
    const words = label.replace(MARK, '');
    return full ? words : [words, about];
  });
  const hidden = isCutDialog({ kind: 'dialog', ...dialog }) ? historyLines : 0;
  const asked = [which, title, said, ...(form === 'unknown' ? [options, full || help] : [chosen]), hidden];
  const facts = [pane.serverPid, pane.paneId, pane.panePid, ...asked];
  return createHash('sha256').update(JSON.stringify(facts)).digest('base64url').slice(0, 16);
}

/** An option that was taken has it until the dialog is gone. */
export const MARK = / ✔$/u;

/** One line for people, with all Markdown escaped. */
export function dialogTitle(dialog: AgentDialog, agent: string): string {
  return untrustedText(
    dialog.title === '' ? describeScreen({ kind: 'dialog', ...dialog }, agent) : dialog.title,
    TITLE_ROOM,
  );
}

/** All of a title that is cut above. */
function longTitle({ title }: AgentDialog): readonly string[] {
  return neutralise(title).length > TITLE_ROOM ? [title, ''] : [];
}

export function cardDraft(dialog: AgentDialog, print: string, agent: string): MessageDraft {
  const lines = [
    ...longTitle(dialog),
    ...dialog.text,
    ...(dialog.form === 'choice' ? explained(dialog) : listed(dialog)),
  ];
  const cut = dialog.title === '' ? '-# ⚠️ A part of it is not on the screen. Read it in the terminal first.' : '';
  const { text, isCut } = block(lines);
  const more = isCut ? `-# ⚠️ The end does not fit here: ${WHOLE} has all of it.` : '';
  const content = [`🔔 ${bold(dialogTitle(dialog, agent))}`, cut, text, more, link(dialog), hint(dialog)]
    .filter(Boolean)
    .join('\n');
  const data = new TextEncoder().encode(wordsInPlace(neutralise(lines.join('\n'))));
  return { content, components: cardButtons(dialog, print), files: isCut ? [{ name: WHOLE, data }] : [] };
}

const WHOLE = 'dialog.txt';

/** A panel as one or two messages. */
export function panelTexts(dialog: AgentDialog, head: string): readonly string[] {
  const lines = wrapped(dialog.text);
  const cut = fitting(lines);
  const shown = (part: readonly string[]) => {
    const { text, isCut } = block(part);
    return isCut ? `${text}\n-# ⚠️ The end does not fit here. \`!screen\` shows it.` : text;
  };
  if (cut === lines.length) return [`${head}\n${shown(lines)}`];
  return [`${head}\n${shown(lines.slice(0, cut))}`, shown(lines.slice(cut))];
}

/** What a button of a card does. */
export type TapAction =
  | { readonly do: 'choose'; readonly option: number }
  | { readonly do: 'press'; readonly key: string }
  /** Shows the options that are scrolled out of sight. */
  | { readonly do: 'scroll' };

export type CardAction = TapAction | { readonly do: 'write'; readonly into: FieldName };

/** Where a text is written: an option by its place in the list, or the only field of a dialog. */
export type FieldName = number | keyof typeof FORMS;

/** What the form asks for. */
const FORMS = {
  login: { title: 'The code of the login page', isShort: true, most: 500 },
  add: { title: 'The path of the directory', isShort: true, most: 500 },
} as const;

export function cardForm(customId: string, into: FieldName) {
  const { title, ...limits } = typeof into === 'number' ? { title: 'In your own words', most: 1_000 } : FORMS[into];
  return textForm(customId, title, limits);
}

const CUSTOM_ID = /^dialog:([\w-]{16}):(?:(\d{1,2})|(pick)|(more)|key-([A-Z][A-Za-z]+)|write-(\d{1,2}|login|add))$/;

export interface CardButton {
  readonly print: string;
  readonly action: CardAction;
}

/** `picked`: the value of a menu. Undefined if it is not a button of a card. */
export function parseCardId(customId: string, picked: string | undefined): CardButton | undefined {
  const [, print = '', index, pick, more, key, into] = CUSTOM_ID.exec(customId) ?? [];
  if (print === '') return undefined;
  if (more !== undefined) return { print, action: { do: 'scroll' } };
  if (key !== undefined) return { print, action: { do: 'press', key } };
  if (into === 'login' || into === 'add') return { print, action: { do: 'write', into } };
  if (into !== undefined) return { print, action: { do: 'write', into: Number(into) } };
  const option = Number(pick === undefined ? index : picked);
  return Number.isInteger(option) ? { print, action: { do: 'choose', option } } : undefined;
}

function cardButtons(dialog: AgentDialog, print: string): readonly ComponentRow[] {
  const id = (what: string | number) => `dialog:${print}:${what}`;
  const key = (label: string, name: string) => button(label, id(`key-${name}`));
  const closes = /\besc(?:\/\S{1,20})? to ((?:\w| ){1,20})/iu.exec(dialog.help)?.[1];
  const cancel = closes === undefined ? [] : [key(`Esc: ${closes}`, 'Escape')];
  if (dialog.form !== 'choice') {
    const sideways = /[←→]/u.test(dialog.help) ? [key('←', 'Left'), key('→', 'Right')] : [];
    const into = fieldNameOf(dialog);
    if (into !== undefined) return [row(button(`✏️ ${FORMS[into].title}`, id(`write-${into}`), 'good'), ...cancel)];
    const tick = /\bspace to /iu.test(dialog.help) ? [key('Space', 'Space')] : [];
    const take = isCutDialog({ kind: 'dialog', ...dialog }) ? [] : [...tick, key('Enter', 'Enter')];
    const keys = [key('Esc', 'Escape'), key('↑', 'Up'), key('↓', 'Down'), ...take];
    return [row(...keys), ...(sideways.length > 0 ? [row(...sideways)] : [])];
  }
  const more = dialog.hasMore ? [button('More…', id('more'))] : [];
  const options = dialog.options
    .map((option, at) => ({ ...option, at }))
    .filter(({ field }) => field === undefined)
    .slice(0, MOST_OPTIONS);
  const at = dialog.options.findIndex(({ field }) => field === 'closed' || field === 'empty');
  const write = at < 0 ? [] : [button(`✏️ ${short(dialog.options[at]?.label ?? '', 70)}`, id(`write-${at}`))];
  const last = [...write, ...more, ...cancel];
  const others = last.length > 0 ? [row(...last)] : [];
  if (options.length <= MOST_BUTTONS)
    return [row(...options.map(({ label, at }) => button(short(label), id(at)))), ...others];
  const menu = options.map(({ label, about, at }) => ({
    label: short(label, 100),
    value: String(at),
    ...(about === '' ? {} : { description: short(about, 100) }),
  }));
  return [
    { type: 1, components: [{ type: 3, custom_id: id('pick'), placeholder: 'Choose', options: menu }] },
    ...others,
  ];
}

/** The field that a text from here can be written into, if it is not an option. */
function fieldNameOf({ which, field }: AgentDialog): keyof typeof FORMS | undefined {
  return field === 'empty' && (which === 'login' || which === 'add') ? which : undefined;
}

function hint(dialog: AgentDialog): string {
  const { form, field, options } = dialog;
  if (fieldNameOf(dialog) !== undefined) return '';
  // A text that somebody has begun is theirs, and a list with several answers takes the text in another way.
  if (
    field !== undefined ||
    options.some((option) => option.field === 'full' || /^\[.\] Type some/u.test(option.label))
  )
    return '-# Text can be written in the terminal only.';
  return form === 'choice' ? '' : '-# The buttons press these keys in the terminal.';
}

/** What a button has no room for. */
function explained({ options, text }: AgentDialog): readonly string[] {
  const lines = options.flatMap(({ label, about }) =>
    about === '' && neutralise(label).length <= BUTTON_ROOM ? [] : [`${label}${about === '' ? '' : `: ${about}`}`],
  );
  return lines.length > 0 && text.length > 0 ? ['', ...lines] : lines;
}

/** With the line of keys, which the buttons press. */
function listed({ options, text, help }: AgentDialog): readonly string[] {
  const lines = options.map(({ label, about, selected }) => [selected ? '❯' : ' ', label, about].join(' ').trimEnd());
  const gap = lines.length > 0 && text.length > 0 ? [''] : [];
  return [...gap, ...lines, ...(help === '' || text.includes(help) ? [] : ['', help])];
}

/** The page where one logs in. Only Claude's own: anything could be written on a screen. */
const LOGIN_PAGE =
  /^ *(https:\/\/(?:claude\.com|claude\.ai|platform\.claude\.com|console\.anthropic\.com)\/[\x21-\x7e]{1,1000})$/u;

function link({ which, text }: AgentDialog): string {
  const [, address] = (which === 'login' && text.map((line) => LOGIN_PAGE.exec(line)).find((found) => found)) || [];
  return address === undefined ? '' : `<${address.replaceAll('>', '%3E')}>`;
}

function short(label: string, longest = BUTTON_ROOM): string {
  const points = [...neutralise(label)];
  return points.length <= longest ? points.join('') : `${points.slice(0, longest - 1).join('')}…`;
}

/** Nothing in it may be hidden: people answer by it. */
function block(lines: readonly string[]): { readonly text: string; readonly isCut: boolean } {
  const all = wrapped(lines);
  if (all.every((line) => line.trim() === '')) return { text: '', isCut: false };
  let shown = all.slice(0, Math.max(fitting(all), 1));
  const fenced = () => insideFence(wordsInPlace(shown.join('\n')));
  while (fenced().length > ROOM && shown.length > 1) shown = shown.slice(0, -1);
  return { text: fenced(), isCut: shown.length < all.length };
}

/** How many of the lines have room. */
function fitting(lines: readonly string[]): number {
  let length = -1;
  const over = lines.findIndex((line) => {
    length += line.length + 1;
    return length > ROOM;
  });
  return over < 0 ? lines.length : over;
}

function wrapped(lines: readonly string[]): readonly string[] {
  return lines.map((line) => neutralise(line).trimEnd()).flatMap(wrapLine);
}

/** Breaks at spaces; a word that is longer than the line is cut. */
function wrapLine(line: string): readonly string[] {
  if (line.length <= WIDTH) return [line];
  const [indent = ''] = /^ {0,12}/.exec(line) ?? [];
  const out: string[] = [];
  let rest = line.trimStart();
  const room = WIDTH - indent.length;
  while (rest.length > room) {
    const space = rest.lastIndexOf(' ', room);
    const isInPair = /[\ud800-\udbff]/.test(rest.charAt(room - 1)); // half a character could not be sent
    const at = space > 0 ? space : isInPair ? room - 1 : room;
    out.push(indent + rest.slice(0, at).trimEnd());
    rest = rest.slice(at).trimStart();
  }
  return [...out, indent + rest];
}

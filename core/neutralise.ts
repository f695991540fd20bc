// Makes everything in a text visible before a user is asked to approve it: characters that are invisible or reorder their
// neighbours are spelled out, and nothing in the text can end the code block that shows it.

/** Control, format, ignorable, private-use and unusual space characters, and half surrogate pairs. Line feed, tab and space stay. */
const HIDDEN = /(?![\n\t ])[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/gu;

/** The legitimate uses of such characters: a variation selector after a symbol, a keycap, a joiner between two emoji. */
const EMOJI =
  /[0-9#*]\ufe0f\u20e3|\p{Extended_Pictographic}\ufe0f?\p{Emoji_Modifier}?(?:\u200d\p{Extended_Pictographic}\ufe0f?\p{Emoji_Modifier}?)*/gu;

export function neutralise(text: string): string {
  let shown = '';
  let from = 0;
  for (const { index, 0: emoji } of text.matchAll(EMOJI)) {
    shown += text.slice(from, index).replace(HIDDEN, spelledOut) + emoji;
    from = index + emoji.length;
  }
  return shown + text.slice(from).replace(HIDDEN, spelledOut);
}

/**
 * A code block that its text cannot close. Discord ends a block at the next three backticks anywhere and does not support
 * longer fences, so every third backtick of a run is spelled out.
 */
export function insideFence(text: string, language = ''): string {
  const safe = text.replace(/``(`)/g, (_, third: string) => `\`\`${spelledOut(third)}`);
  return `\`\`\`${language.replace(/[^\w+#.-]/g, '')}\n${safe.trim() === '' ? '⟨empty⟩' : safe}\n\`\`\``;
}

export function spelledOut(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return `⟨U+${code.toString(16).toUpperCase().padStart(4, '0')}⟩`;
}

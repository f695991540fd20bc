// Text that a person is asked to approve shows everything it holds: what is invisible, reorders its neighbours or
// hides bytes is spelled out, and nothing in it can end the code block it is shown in.

/** Control, format, ignorable, private-use, half and odd-space characters; line feed, tab and plain space stay. */
const HIDDEN =
  /(?![\n\t ])[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/gu;

/** What those characters are for: one variation sign after a symbol, a keycap, a joiner between two emoji. */
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
 * A code block that its text cannot close. Discord ends a block at the next three backticks wherever they stand and
 * knows no longer fence, so every third backtick of a run is spelled out.
 */
export function insideFence(text: string, language = ''): string {
  const held = text.replace(/``(`)/g, (_, third: string) => `\`\`${spelledOut(third)}`);
  return `\`\`\`${language.replace(/[^\w+#.-]/g, '')}\n${held.trim() === '' ? '⟨empty⟩' : held}\n\`\`\``;
}

export function spelledOut(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return `⟨U+${code.toString(16).toUpperCase().padStart(4, '0')}⟩`;
}

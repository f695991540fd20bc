// Quotes words for a shell; no other file does. The result is the same word in sh, bash, zsh, fish and a tmux configuration:
// everything is in single quotes except ' and \, which fish reads differently inside them.

export function quoteShellWord(word: string): string {
  if (word.includes('\0')) throw new RangeError('a command line cannot contain a NUL');
  if (word === '') return "''";
  return `'${word.replace(/['\\]/g, (special) => `'\\${special}'`)}'`;
}

export function quoteShellWords(words: readonly string[]): string {
  return words.map(quoteShellWord).join(' ');
}

/** Reverses `quote`; undefined for text that `quote` did not write. */
export function unquoteShellWord(text: string): string | undefined {
  if (!/^(?:'[^'\\]*'|\\['\\])+$/.test(text)) return undefined;
  return text.replace(/'([^'\\]*)'|\\(['\\])/g, (_, plain?: string, special?: string) =>
    special === undefined ? (plain ?? '') : special,
  );
}

// The one place that quotes for a shell. The form means the same word in sh, bash, zsh, fish and in a
// tmux configuration: everything in single quotes but ' and \, which fish reads differently inside them.

export function quote(word: string): string {
  if (word.includes('\0')) throw new RangeError('a NUL cannot be in a command line');
  if (word === '') return "''";
  return `'${word.replace(/['\\]/g, (special) => `'\\${special}'`)}'`;
}

export function quoteAll(words: readonly string[]): string {
  return words.map(quote).join(' ');
}

/** The word that `quote` made this of, or undefined if somebody else wrote it. */
export function unquote(text: string): string | undefined {
  if (!/^(?:'[^'\\]*'|\\['\\])+$/.test(text)) return undefined;
  return text.replace(/'([^'\\]*)'|\\(['\\])/g, (_, plain?: string, special?: string) =>
    special === undefined ? (plain ?? '') : special,
  );
}

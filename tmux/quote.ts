// The one place that quotes for a shell. The form means the same word in bash, zsh, dash and fish:
// the usual '\'' alone is read differently by fish, where a backslash inside quotes is special.

export function quote(word: string): string {
  if (word.includes('\0')) throw new RangeError('a NUL cannot be in a command line');
  if (word === '') return "''";
  return `'${word.replace(/['\\]/g, (special) => `'\\${special}'`)}'`;
}

export function quoteAll(words: readonly string[]): string {
  return words.map(quote).join(' ');
}

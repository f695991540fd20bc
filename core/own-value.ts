// Looks a word from outside up in a table. A plain `table[word]` also finds what every object has: "constructor" is a function.

export function ownValue<T>(table: Readonly<Record<string, T>>, word: string): T | undefined {
  return Object.hasOwn(table, word) ? table[word] : undefined;
}

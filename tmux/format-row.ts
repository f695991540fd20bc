// Rows of values printed by tmux, separated by tabs and newlines. The format replaces both inside values, so that no title,
// path or name can break a row.

/** A tmux format that prints the given variables as one row. */
export function rowFormat(variables: readonly string[]): string {
  return variables.map((variable) => `#{s|[\t\n]|?|:${variable}}`).join('\t');
}

/** The values of one row by variable; undefined if the line is not such a row. */
export function readRow<Variable extends string>(
  variables: readonly Variable[],
  line: string,
): Readonly<Record<Variable, string>> | undefined {
  const values = line.split('\t');
  if (values.length !== variables.length) return undefined;
  return Object.fromEntries(variables.map((variable, index) => [variable, values[index] ?? ''])) as Record<
    Variable,
    string
  >;
}

// Rows of values as tmux prints them. A tab ends a value and a newline ends a row, whatever a title,
// a path or a name may hold: tmux replaces both inside values before it prints them.

/** A tmux format that prints the given variables as one row. */
export function rowFormat(variables: readonly string[]): string {
  return variables.map((variable) => `#{s|[\t\n]|?|:${variable}}`).join('\t');
}

/** The values of one row by their variables; undefined for a line that is not such a row. */
export function readRow<Variable extends string>(
  variables: readonly Variable[],
  line: string,
): Readonly<Record<Variable, string>> | undefined {
  const values = line.split('\t');
  if (values.length !== variables.length) return undefined;
  return Object.fromEntries(
    variables.map((variable, index) => [variable, values[index] ?? '']),
  ) as Record<Variable, string>;
}

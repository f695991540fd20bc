// Finds the name that a mistyped word was probably meant to be. Pure.

/** Undefined if none is near. */
export function nearestName(word: string, names: readonly string[]): string | undefined {
  const wanted = word.toLowerCase().slice(0, 40);
  if (wanted.length < 2) return undefined;
  const most = wanted.length <= 3 ? 1 : 2;
  const [best] = names
    .map((name) => ({ name, distance: name.startsWith(wanted) && wanted.length > 1 ? 0.5 : distance(wanted, name) }))
    .sort((a, b) => a.distance - b.distance);
  return best !== undefined && best.distance <= most ? best.name : undefined;
}

/** How many letters must be added, removed, replaced or swapped with a neighbour. */
function distance(a: string, b: string): number {
  const rows = [Array.from({ length: b.length + 1 }, (_, at) => at)];
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const at = (up: number, left: number) => rows[i - up]?.[j - left] ?? Number.POSITIVE_INFINITY;
      const isSwapped = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      row[j] = Math.min(
        at(1, 0) + 1,
        (row[j - 1] ?? 0) + 1,
        at(1, 1) + (a[i - 1] === b[j - 1] ? 0 : 1),
        isSwapped ? at(2, 2) + 1 : Number.POSITIVE_INFINITY,
      );
    }
    rows.push(row);
  }
  return rows[a.length]?.[b.length] ?? Number.POSITIVE_INFINITY;
}

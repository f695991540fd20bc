// Blocks the person does not want to see on the phone: a coach's header, a signature.

export function stripBlocks(text: string, patterns: readonly string[]): string {
  const stripped = patterns.reduce(
    (rest, pattern) => rest.replace(new RegExp(pattern, 'gmu'), ''),
    text,
  );
  return stripped === text ? text : stripped.replace(/\n{3,}/g, '\n\n').trim();
}

// Parses a text only if it has changed: what is listed again and again is mostly the same.

/** `parse` must be pure, and nobody may change its result. One text is kept per key. */
export function createLastParsed<T>(parse: (text: string) => T): (key: string, text: string) => T {
  const last = new Map<string, { readonly text: string; readonly parsed: T }>();
  return (key, text) => {
    const known = last.get(key);
    if (known?.text === text) return known.parsed;
    const parsed = parse(text);
    last.set(key, { text, parsed });
    return parsed;
  };
}

// Parses JSON from other programs and refuses deep nesting. JSON.parse accepts any depth, but recursive code that uses the
// value afterwards (JSON.stringify, a comparison) would overflow the stack.

export const MOST_LEVELS = 100;

/** Throws a SyntaxError, as JSON.parse does. */
export function parseJson(text: string, most = MOST_LEVELS): unknown {
  const value: unknown = JSON.parse(text);
  let level = [value].filter(isObject);
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > most) throw tooDeep(most);
    level = level.flatMap((one) => Object.values(one).filter(isObject));
  }
  return value;
}

/** Undefined if the text is not JSON, such as half a file or half a line. */
export function parsedJson(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

export function tooDeep(most: number): SyntaxError {
  return new SyntaxError(`it is nested more than ${most} levels deep`);
}

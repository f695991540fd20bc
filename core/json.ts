// Parses JSON from other programs and refuses deep nesting. JSON.parse accepts any depth, but recursive code that uses the
// value afterwards (JSON.stringify, a comparison) would overflow the stack. What agents and hosts wrote may also have only so
// many values: ten million empty objects need only 30 MB of text, but gigabytes of memory and many seconds.

export const MOST_LEVELS = 100;
export const MOST_VALUES = 200_000;

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

/** What an agent or another host wrote. Throws a SyntaxError, as JSON.parse does. */
export function parseForeignJson(text: string): unknown {
  if (hasTooManyValues(text)) throw new SyntaxError(`it has more than ${MOST_VALUES} values`);
  return parseJson(text);
}

/** Undefined if the text is not JSON, or has too many values. */
export function parsedForeignJson(text: string): unknown {
  return hasTooManyValues(text) ? undefined : parsedJson(text);
}

/** Counts what begins or separates values, outside of strings. */
function hasTooManyValues(text: string): boolean {
  if (text.length <= MOST_VALUES) return false;
  let isInString = false;
  for (let at = 0, values = 1; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) isInString = !isInString;
    else if (isInString) at += code === BACKSLASH ? 1 : 0;
    else if ((code === COMMA || code === BRACKET || code === BRACE) && ++values > MOST_VALUES) return true;
  }
  return false;
}

const [QUOTE, BACKSLASH, COMMA, BRACKET, BRACE] = [0x22, 0x5c, 0x2c, 0x5b, 0x7b];

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

export function tooDeep(most: number): SyntaxError {
  return new SyntaxError(`it is nested more than ${most} levels deep`);
}

/** JSON leaves control characters and those that turn words around as they are, and a terminal may act on them. */
export function harmless(json: string): string {
  return json.replace(
    /[\x7f-\x9f]|\p{Bidi_Control}/gu,
    (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

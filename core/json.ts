// JSON from outside.

/** Undefined if the text is not JSON, such as half a file or half a line. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

// Cuts the texts that agents report or write into their transcripts, so that both are cut at the same place. Pure.

/** Far longer than any agent writes or a person pastes. What is longer is searched, compared and split for seconds. */
const LONGEST_REPLY = 1_000_000;
const LONGEST_PROMPT = 4_000_000;

export function cutReply(text: string): string {
  return cutAt(text, LONGEST_REPLY);
}

export function cutPrompt(text: string): string {
  return cutAt(text, LONGEST_PROMPT);
}

function cutAt(text: string, most: number): string {
  if (text.length <= most) return text;
  // Copied, because a part of a string keeps the whole string in memory.
  const begin = Buffer.from(text.slice(0, most)).toString();
  return `${begin}\n… (${text.length - most} more characters were left out)`;
}

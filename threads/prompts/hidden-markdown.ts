// Whether Markdown shows less than it holds. What a person approves is shown whole, or comes as a file, too.

/** A spoiler, a link with a text of its own, a link's definition, a time, an emoji, a mention, an escaped sign. */
const HIDES = /\|\||\]\(|\]\[|\]:|<t:|<a?:|<id:|<[@#/]|\\[!-/:-@[-`{-~]/;

/** The rest of the line behind a fence says which language follows, and is not shown. */
const FENCE = /(?:`{3}|~{3})[`~]*([^\n]*)/g;

/** Words that can say nothing else there. */
const LANGUAGES = new Set(
  `bash c c++ console cpp cs csharp css csv diff dockerfile env go graphql html http ini java javascript js json json5 jsonc
  jsonl jsx kotlin less lua makefile markdown md mermaid nginx nix perl php plaintext powershell proto protobuf py python
  rb ruby rs rust scala scss sh shell sql svelte svg swift terraform text toml ts tsx txt typescript vue xml yaml yml zsh`.split(
    /\s+/,
  ),
);

export function hidesPart(markdown: string): boolean {
  if (HIDES.test(markdown)) return true;
  for (const [, info = ''] of markdown.matchAll(FENCE)) {
    const word = info.trim().toLowerCase();
    if (word !== '' && !LANGUAGES.has(word)) return true;
  }
  return false;
}

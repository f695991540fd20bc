// The user's own slash commands and skills: files on the session's host, of the user, of the project and of plugins. Their
// names and descriptions come from outside: a name that Claude Code would not accept is dropped.

import { cleanInbound } from '../../../core/untrusted-text.ts';
import type { SlashCommand } from '../../slash-command.ts';

/**
 * Arguments: the transcript of the session (its folder tells where Claude Code keeps its files) and its directory.
 * Prints one record per file: kind, path below its root, beginning of the file. Projects may have commands in every
 * folder from the directory up to the top of the repository. An agent may have put a link there: of a file that is not in the
 * folder, only the name is printed.
 */
export const LIST_OWN_COMMANDS = `c=$HOME/.claude; case $1 in */projects/*/*.jsonl) c=\${1%/projects/*} ;; esac
each() { while IFS= read -r f; do case $f in "$2"/*.md) [ -f "$f" ] || continue ;; *) continue ;; esac
  printf '\\036%s\\037%s\\037' "$1" "$3\${f#"$2"/}"; [ -z "$4" ] || inside "$f" "$4" || continue
  head -c 1500 "$f" 2>/dev/null | tr -d '\\036\\037'; done; }
inside() { [ ! -L "$1" ] && r=$(cd -P "\${1%/*}" 2>/dev/null && pwd -P) && case $r/ in "$2"/*) ;; *) false ;; esac; }
list() { [ ! -d "$1/commands" ] || find -L "$1/commands" -maxdepth 5 -type f -name '*.md' 2>/dev/null | head -n 200 | each command "$1/commands" "$2" "$3"
  [ ! -d "$1/skills" ] || find -L "$1/skills" -maxdepth 2 -type f -name SKILL.md 2>/dev/null | head -n 200 | each skill "$1/skills" "$2" "$3"; }
list "$c" ''
for p in "$c"/plugins/cache/*/*/*/; do [ ! -d "$p" ] || { n=\${p%/*/}; list "\${p%/}" "\${n##*/}/"; }; done
d=$2; while :; do case $d in /|"$HOME") break ;; /*) ;; *) break ;; esac; [ "$d/.claude" = "$c" ] || list "$d/.claude" '' "$(cd -P "$d" 2>/dev/null && pwd -P || echo //)"; [ ! -e "$d/.git" ] || break; d=\${d%/*}; done`;

const NAME = /^[\p{L}\p{N}][\p{L}\p{N}_.-]{0,63}(?::[\p{L}\p{N}][\p{L}\p{N}_.-]{0,63}){0,5}$/u;
const MOST = 400;

export function parseOwnCommands(listing: string): readonly SlashCommand[] {
  const found = new Map<string, SlashCommand>();
  for (const record of listing.split('\u001e').slice(1)) {
    const command = parseOne(record);
    if (command !== undefined && !found.has(command.name) && found.size < MOST) found.set(command.name, command);
  }
  return [...found.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

function parseOne(record: string): SlashCommand | undefined {
  const [kind, path = '', text = ''] = record.split('\u001f');
  const { fields, body } = frontMatter(cleanInbound(text));
  if (fields['user-invocable'] === 'false') return undefined;
  const name = kind === 'skill' ? skillName(path, fields.name) : path.replace(/\.md$/, '').split('/').join(':');
  if (!NAME.test(name)) return undefined;
  const about = fields.description || body.split('\n').find((line) => line.trim() !== '') || '';
  return { name, about: about.replace(/^#+/, '').replace(/\s+/g, ' ').trim().slice(0, 200), owner: 'your command' };
}

/** The folder's name, unless the skill has another; those of a plugin begin with its name. */
function skillName(path: string, named: string | undefined): string {
  const folders = path.split('/').slice(0, -1);
  return [...folders.slice(0, -1), named || folders.at(-1) || ''].join(':');
}

/** Only what we need of YAML: one value per line, with or without quotes. */
function frontMatter(text: string): { readonly fields: Readonly<Record<string, string>>; readonly body: string } {
  const [first, ...lines] = text.split('\n');
  if (first?.trimEnd() !== '---') return { fields: {}, body: text };
  const end = lines.findIndex((line) => line.trimEnd() === '---');
  const fields: Record<string, string> = {};
  for (const line of end < 0 ? lines : lines.slice(0, end)) {
    const [, key, value = ''] = /^([\w-]+):(.*)$/.exec(line) ?? [];
    if (key !== undefined) fields[key] = value.trim().replace(/^(["'])(.*)\1$/, '$2');
  }
  return { fields, body: end < 0 ? '' : lines.slice(end + 1).join('\n') };
}

// threadmux completions: completion scripts for bash, zsh and fish, generated from the program's commands. Session names are only
// data in the scripts; no shell runs them as code.

import type { Command } from 'commander';
import { quoteShellWord } from '../../core/shell-word.ts';
import { printText } from '../print.ts';

type Shell = 'bash' | 'zsh' | 'fish';

/** A position in the command line, for example after "service". */
interface Spot {
  readonly at: string;
  readonly words: readonly { readonly word: string; readonly about: string }[];
  /** Whether a session name can follow. */
  readonly sessions: boolean;
}

const TAKES_SESSION = 'stop,kill,send,attach,capture,wait,reply,tail,thread open,thread close'.split(',');
const NAMES = 'threadmux sessions --names 2>/dev/null';

export function completions(shell: string, program: Command): void {
  const spots = spotsOf(program, []);
  printText({ bash, zsh, fish }[shell as Shell](spots));
}

function spotsOf(command: Command, path: readonly string[]): readonly Spot[] {
  const subs = command.commands.flatMap((sub) => [sub.name(), ...sub.aliases()].map((name) => ({ name, sub })));
  const choices = command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? []);
  const options = command.options.filter(({ hidden, long }) => !hidden && long !== '--help');
  const spot: Spot = {
    at: path.join(' '),
    words: [
      ...subs.map(({ name, sub }) => ({ word: name, about: sub.description() })),
      ...choices.map((word) => ({ word, about: '' })),
      ...options.map(({ long, short, description }) => ({ word: long ?? short ?? '', about: description })),
      { word: '--help', about: 'show help' },
    ],
    sessions: TAKES_SESSION.includes(path.join(' ')),
  };
  return [spot, ...subs.flatMap(({ name, sub }) => spotsOf(sub, [...path, name]))];
}

function cases(spots: readonly Spot[], line: (spot: Spot) => string): string {
  return spots.map((spot) => `    ${quoteShellWord(spot.at)}) ${line(spot)} ;;`).join('\n');
}

function known(spots: readonly Spot[]): string {
  return spots
    .filter(({ at }) => at !== '')
    .map(({ at }) => quoteShellWord(at))
    .join('|');
}

function sessionSpots(spots: readonly Spot[]): readonly Spot[] {
  return spots.filter(({ sessions }) => sessions);
}

function wordList({ words }: Spot): string {
  return words.map(({ word }) => quoteShellWord(word)).join(' ');
}

function bash(spots: readonly Spot[]): string {
  return `# bash completion for threadmux. Load it with: source <(threadmux completions bash)
_threadmux() {
  local cur=\${COMP_WORDS[COMP_CWORD]} at= next word i
  local -a offered=()
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    [[ \${COMP_WORDS[i]} == -- ]] && return
    next="\${at:+$at }\${COMP_WORDS[i]}"
    case $next in ${known(spots)}) at=$next ;; esac
  done
  case $at in
${cases(spots, (spot) => `offered=(${wordList(spot)})`)}
  esac
  case $at in ${known(sessionSpots(spots))})
    if [[ $cur != -* ]]; then
      while IFS= read -r word; do offered+=("$word"); done < <(${NAMES})
    fi ;;
  esac
  for word in "\${offered[@]}"; do
    [[ $word == "$cur"* ]] && COMPREPLY+=("$word")
  done
}
complete -o bashdefault -o default -F _threadmux threadmux
`;
}

function zsh(spots: readonly Spot[]): string {
  return `#compdef threadmux
# zsh completion for threadmux. Load it with: source <(threadmux completions zsh)
_threadmux() {
  local at= next word
  local -a offered
  for word in "\${(@)words[2,CURRENT-1]}"; do
    [[ $word == -- ]] && { _files; return }
    next="\${at:+$at }$word"
    case $next in ${known(spots)}) at=$next ;; esac
  done
  case $at in
${cases(spots, (spot) => `offered=(${wordList(spot)})`)}
  esac
  case $at in ${known(sessionSpots(spots))})
    [[ $words[CURRENT] != -* ]] && offered+=("\${(@f)$(${NAMES})}") ;;
  esac
  compadd -a offered
  [[ $words[CURRENT-1] == --(dir|project) ]] && _files -/
  return 0
}
if [[ \${funcstack[1]-} == _threadmux ]]; then _threadmux "$@"; elif (( $+functions[compdef] )); then compdef _threadmux threadmux; fi
`;
}

function fish(spots: readonly Spot[]): string {
  const lines = spots.flatMap(({ at, words, sessions }) => [
    ...words.map(({ word, about }) => `${rule(at)} -a ${quoteShellWord(word)} -d ${quoteShellWord(about)}`),
    ...(sessions ? [`${rule(at)} -a ${quoteShellWord(`(${NAMES})`)} -d session`] : []),
  ]);
  return `# fish completion for threadmux. Load it with: threadmux completions fish | source
function __threadmux_at
  set -l known ${spots
    .filter(({ at }) => at !== '')
    .map(({ at }) => quoteShellWord(at))
    .join(' ')}
  set -l at
  for word in (commandline -opc)[2..-1]
    test "$word" = --; and return 1
    set -l next (string join ' ' -- $at "$word")
    contains -- "$next" $known; and set at "$next"
  end
  test "$at" = "$argv[1]"
end
complete -c threadmux -f
${lines.join('\n')}
`;
}

function rule(at: string): string {
  return `complete -c threadmux -n ${quoteShellWord(`__threadmux_at ${quoteShellWord(at)}`)}`;
}

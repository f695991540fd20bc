// Presses named keys in a pane, with the same guards and marks as a message. Only listed keys are allowed, so no text can be typed.

import { ThreadmuxError } from '../core/errors.ts';
import { untrustedCode } from '../core/untrusted-text.ts';
import type { ShOptions } from '../hosts/host.ts';
import {
  allOf,
  deliveryId,
  type PaneGuard,
  type PaneRefusal,
  readyFormat,
  refusalOf,
  type Seen,
  sameFormat,
  seenFormat,
} from './pane.ts';
import { type Tmux, unlessGone } from './tmux.ts';

export type Press =
  | { readonly kind: 'pressed' }
  | { readonly kind: 'already' }
  | { readonly kind: 'refused'; readonly because: PaneRefusal; readonly seen: Seen | undefined };

const NAMED: ReadonlySet<string> = new Set([
  ...['Enter', 'Escape', 'Tab', 'BTab', 'Space', 'BSpace', 'DC', 'Up', 'Down', 'Left', 'Right'],
  ...['Home', 'End', 'PPage', 'NPage'],
]);

/** Key names as tmux spells them: the names above, F1 to F12, C- and M- with a letter, one letter or digit. */
export function isKey(name: string): boolean {
  return NAMED.has(name) || /^(F([1-9]|1[0-2])|[CM]-[a-z]|[A-Za-z0-9])$/.test(name);
}

export function checkedKeys(keys: readonly string[]): readonly string[] {
  const unknown = keys.find((key) => !isKey(key));
  if (unknown !== undefined || keys.length === 0)
    throw new ThreadmuxError('bad_usage', `${untrustedCode(unknown ?? '')} is not a key that threadmux presses`, {
      hint: `Keys are ${[...NAMED].join(', ')}, F1 to F12, C-a to C-z, M-a to M-z, or one letter or digit.`,
    });
  return keys;
}

/** The id keeps a retry after a crash from pressing twice. These ids are separate from the ids of messages. */
export async function pressKeys(
  tmux: Tmux,
  guard: PaneGuard,
  id: string,
  keys: readonly string[],
  options: ShOptions = {},
): Promise<Press> {
  return pressOnce(tmux, guard, options, keys, { option: '@threadmux_keys', isDone: '>=', mark: deliveryId(id) });
}

/** Presses keys in a dialog that `guard.shows` describes. Once per id; the ids need no order. */
export async function pressInDialog(
  tmux: Tmux,
  guard: PaneGuard & { readonly shows: readonly string[] },
  id: string,
  keys: readonly string[],
): Promise<Press> {
  return pressOnce(tmux, guard, {}, keys, { option: '@threadmux_dialog', isDone: '==', mark: deliveryId(id) });
}

/** A program reads Escape and a key right after it as that key with Alt. Waits inside tmux. */
const APART = '; run-shell -d 0.5';

/** The pane's option holds the last id; `isDone` compares it with this one. */
function pressOnce(
  tmux: Tmux,
  guard: PaneGuard,
  options: ShOptions,
  keys: readonly string[],
  { option, isDone, mark }: { readonly option: string; readonly isDone: '>=' | '=='; readonly mark: string },
): Promise<Press> {
  return press(tmux, guard, options, {
    keys: checkedKeys(keys).join(' ').replaceAll('Escape ', `Escape ${APART} ; send-keys -t ${guard.pane.paneId} `),
    before: `#{${isDone}:#{${option}},${mark}}`,
    ready: readyFormat(guard),
    marks: { [option]: mark, '@threadmux_pressed': String(Math.floor(Date.now() / 1_000)) },
  });
}

/** Presses Enter again for a message whose text is still in the pane; at most once per message. */
export async function pressEnter(
  tmux: Tmux,
  guard: PaneGuard & { readonly command: string },
  messageId: string,
): Promise<Press> {
  const mark = deliveryId(messageId);
  return press(
    tmux,
    guard,
    {},
    {
      keys: 'Enter',
      before: `#{>=:#{@threadmux_again},${mark}}`,
      ready: allOf([`#{==:#{@threadmux_text},${mark}}`, readyFormat(guard)]),
      marks: { '@threadmux_again': mark, '@threadmux_enter': mark },
    },
  );
}

const PRESS_WITHIN_MS = 10_000;

interface Stroke {
  readonly keys: string;
  readonly before: string;
  readonly ready: string;
  readonly marks: Readonly<Record<string, string>>;
}

async function press(tmux: Tmux, guard: PaneGuard, options: ShOptions, stroke: Stroke): Promise<Press> {
  const { paneId } = guard.pane;
  const marks = Object.entries(stroke.marks).map(([name, value]) => `set-option -p -t ${paneId} ${name} ${value}`);
  const args = [
    paneId,
    sameFormat(guard),
    stroke.before,
    seenFormat(guard),
    stroke.keys,
    marks.join(' ; '),
    String(Math.ceil((options.timeoutMs ?? PRESS_WITHIN_MS) / 1_000)),
  ];
  const printed = await tmux
    .script(PRESS_SCRIPT, args, { doing: `press a key in pane ${paneId}`, ...options, input: readyLine(stroke.ready) })
    .catch(unlessGone(undefined));
  if (printed === undefined) return { kind: 'refused', because: 'gone', seen: undefined };
  const line = printed.replace(/\n$/, '');
  if (line === 'PRESSED') return { kind: 'pressed' };
  if (line === 'ALREADY') return { kind: 'already' };
  return { kind: 'refused', ...refusalOf(guard, line.replace(/^REFUSED /, '')) };
}

// Leaves copy mode (or any other tmux mode), so that the program can be seen and typed into.

/** Sends no keys: the program in the pane is not affected. */
export async function leaveMode(tmux: Tmux, guard: PaneGuard): Promise<void> {
  const { paneId } = guard.pane;
  const condition = `#{&&:${sameFormat(guard)},#{pane_in_mode}}`;
  await tmux.run(['if-shell', '-F', '-t', paneId, condition, `copy-mode -q -t ${paneId}`]);
}

// The scripts that type into a pane. Each check and the key that it guards are one command list inside the tmux server,
// and each key sets a mark on the pane: after an interruption, a repeat does only what is still missing.

/** About two seconds. */
const SLOW_LOOKS = 100;
/** On a busy machine, all looks together would take longer than the script may run. */
const LOOKS_SECONDS = 4;

/** What is in the box of the screen on stdin, after "="; nothing if there is no box. See `ShownText`. */
export const BOX_OF = `box_of() {
  LC_ALL=C sed -e H -e '$!d' -e x -e "s/.*\\n$from\\(.*\\n$to\\)/=\\1/" -e 't found' -e "s/.*\\n$from/=/" -e 't found' -e d -e ':found' \\
    -e "s/\\n$to.*//" -e 's/\\n//g' -e 's/ //g'
}`;

/**
 * Arguments: pane, id, length in bytes, pause in seconds, the conditions "same" and "ready", the format to print after a refusal, the
 * key that stashes a draft and the pattern that confirms it (or two empty words), how to paste, and the pattern of a turn that ends (or
 * an empty word). Then, for a box that can be read: how many looks replace the pause (0: the pause comes first), how the box begins and
 * ends, and how many parts of the text follow on stdin.
 * stdin: for such a box, the whole text and then its parts, each on a line; then the text. None of it is an argument, because everybody
 * can read command lines. The lines are compared, never used as patterns.
 * If another text has come into the box before the whole one, Enter is not pressed.
 * If the box stays as it was, the program has not taken the text yet, and Enter would reach what it shows then: it is not pressed, either.
 * Each look waits inside tmux, because not every sleep takes fractions.
 * The buffer's name is unique per attempt: an interrupted attempt cannot put part of a text into ours.
 */
export const TYPE_SCRIPT = `pane=$1; id=$2; length=$3; pause=$4; same=$5; ready=$6; seen=$7; key=$8; stashed=$9; brackets=\${10}; ends=\${11}; shift 11
b=threadmux-$id-$$; looks=\${1:-0} from=$2 to=$3 parts=\${4:-0} whole= first= mixed= still= late=
[ $# = 0 ] || { shift 4; IFS= read -r whole; }
while [ $# -lt "$parts" ]; do IFS= read -r part; set -- "$@" "$part"; done
${BOX_OF}
pause() { sleep "$1" 2>/dev/null || sleep 1; }
box() {
  s=$(t "$@" capture-pane -p -t "$pane" 2>/dev/null) || return 1
  s=$(printf '%s\\n' "$s" | box_of)
}
in_time() { [ $((i % 10)) != 0 ] || [ "$(date +%s)" -lt "$end" ]; }
shown() {
  i=0 end=$(($(date +%s) + ${LOOKS_SECONDS})); while [ $i -lt "$looks" ] && in_time; do
    i=$((i + 1)); mixed= still=
    box run-shell -d 0.015 \\; || return 1
    for part; do case $s in =*"$part"*) return 0;; esac; done
    [ -z "$whole" ] || [ "$s" != "=$whole" ] || return 0
    [ "$s" = "$first" ] || [ -z "$late" ] || return 0
    [ "$s" != "$first" ] || case $s in =*) still=1;; esac
    [ -n "$whole" ] || continue
    case $s in "$first") ;; =?*"$whole") mixed=1;; esac
  done
}
ended() {
  [ "$(t display-message -p -t "$pane" "#{C/r:$ends}")" != 0 ] || return 0
  i=0; while [ $i -lt 40 ] && [ "$(t run-shell -d 0.05 \\; display-message -p -t "$pane" "#{C/r:$ends}")" != 0 ]; do i=$((i + 1)); done
  t run-shell -d 0.1
}
drop() { t delete-buffer -b "$b" 2>/dev/null; }
trap 'drop; exit 1' HUP INT TERM
n=$(t load-buffer -b "$b" - \\; list-buffers -f "#{==:#{buffer_name},$b}" -F '#{buffer_size}') || exit 1
[ "$n" = "$length" ] || { drop; echo "SIZE $n"; exit 0; }
leave="#{&&:$same,#{pane_in_mode}}"
typed="#{>=:#{@threadmux_text},$id}"
paste=$ready
if [ -n "$key" ]; then
  r=$(t if-shell -F -t "$pane" "$leave" "copy-mode -q -t $pane" \\; \\
    if-shell -F -t "$pane" "#{||:$typed,#{>=:#{@threadmux_stash},$id}}" "display-message -p STASHED" \\
    "if-shell -F -t $pane '$ready' { send-keys -t $pane $key ; set-option -p -t $pane @threadmux_stash $id ; display-message -p STASHED } { display-message -p -t $pane 'REFUSED $seen' }") || { drop; exit 1; }
  case $r in STASHED) ;; *) drop; printf '%s\\n' "$r"; exit 0;; esac
  i=0; while [ "$(t display-message -p -t "$pane" "#{||:$typed,#{C/r:$stashed}}")" = 0 ]; do
    i=$((i + 1)); [ $i -lt 20 ] || { drop; t display-message -p -t "$pane" "UNSTASHED $seen"; exit 0; }
    pause 0.1
  done
  paste="#{&&:#{C/r:$stashed},$ready}"
fi
[ -z "$from" ] || { box && first=$s; }
r=$(t if-shell -F -t "$pane" "$leave" "copy-mode -q -t $pane" \\; \\
  if-shell -F -t "$pane" "$typed" "delete-buffer -b $b ; display-message -p TEXT" \\
  "if-shell -F -t $pane '$paste' { paste-buffer $brackets -r -d -b $b -t $pane ; set-option -p -t $pane @threadmux_text $id ; display-message -p TEXT } { delete-buffer -b $b ; display-message -p -t $pane 'REFUSED $seen' }") || { drop; exit 1; }
printf '%s\\n' "$r"
case $r in TEXT) ;; *) exit 0;; esac
[ "$looks" != 0 ] || { late=1 looks=1; pause "$pause"; }
[ -z "$from" ] || shown "$@" || [ -n "$late" ] || pause "$pause"
[ -z "$still" ] || { looks=${SLOW_LOOKS}; shown "$@"; [ -n "$still" ] || [ -z "$late" ] || pause "$pause"; }
[ -z "$still" ] || { t set-option -p -t "$pane" @threadmux_held "$id" \\; display-message -p -t "$pane" "UNREAD $seen"; exit 0; }
[ -z "$mixed" ] || { t set-option -p -t "$pane" @threadmux_held "$id" \\; display-message -p -t "$pane" "MIXED $seen"; exit 0; }
[ -z "$ends" ] || ended
t if-shell -F -t "$pane" "#{>=:#{@threadmux_enter},$id}" "display-message -p ALREADY" \\
  "if-shell -F -t $pane '#{&&:#{==:#{@threadmux_text},$id},#{&&:#{!=:#{@threadmux_held},$id},$ready}}' { send-keys -t $pane Enter ; set-option -p -t $pane @threadmux_enter $id ; display-message -p ENTER } { display-message -p -t $pane 'HELD $seen' ; if-shell -F -t $pane '#{==:#{@threadmux_text},$id}' { set-option -p -t $pane @threadmux_held $id } }"`;

/**
 * The condition "ready" has lines of the screen, which may show a secret. Everybody can read command lines, so it comes on stdin, and goes
 * to tmux on stdin. If a startup file of the shell has read a part of it, nothing is ready.
 */
export const READ_READY = `IFS= read -r ready; case $ready in 'ready #{'*) ready=\${ready#ready } ;; *) ready=0 ;; esac
`;
export const readyLine = (ready: string) => `ready ${ready}\n`;

/**
 * stdin: the condition "ready". Arguments: pane, the condition "same", the condition "already pressed", the format to print after a
 * refusal, the keys, the commands that mark the pane, and a time limit in seconds. tmux compares the time at the moment of the key: a
 * server that was stopped still carries out old commands, although their client is gone.
 */
const PRESS_SCRIPT = `pane=$1; same=$2; before=$3; seen=$4; keys=$5; marks=$6
${READ_READY}ready="#{&&:#{<:#{T:#{l:%s}},$(($(date +%s) + $7))},$ready}"
printf '%s\\n' "if-shell -F -t $pane '#{&&:$same,#{pane_in_mode}}' { copy-mode -q -t $pane } ; if-shell -F -t $pane '$before' \\
  { display-message -p ALREADY } { if-shell -F -t $pane '$ready' \\
  { send-keys -t $pane $keys ; $marks ; display-message -p PRESSED } { display-message -p -t $pane 'REFUSED $seen' } }" | t source-file -`;

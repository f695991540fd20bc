// The script that `collect` runs on a host: POSIX sh without GNU options and /proc; it works on a full disk. Arguments: our
// home there, seconds between heartbeats, a random word that identifies this collector, and a script with its arguments, whose
// output is compared ("" if there is nothing to compare): once a second while the script exits with 0 or its output has changed
// within a minute, otherwise with the heartbeat. It prints these lines:
//   beat                        at the start and at every wake-up
//   letter <box>/<name> <size>  then that many bytes and a newline; the letter is removed after "ok <box>/<name>". After "hold", it and
//                               the others of its pane wait until the next wake-up
//   skip <box>/<name> <size>    a letter was too large and was moved aside
//   moved                       the script printed something else than at one of the last two looks
//   replaced                    another collector has taken over this home, and this one ends

import { ThreadmuxError } from '../core/errors.ts';
import { untrustedCode } from '../core/untrusted-text.ts';
import { makeChunks } from './process.ts';

/** Larger letters are not sent. */
const LARGEST_LETTER = 32 * 1024 * 1024;

export const COLLECT = `home=$1; seconds=$2; mine=$1/collector.$3; compared=$4; shift 4
umask 077
LC_ALL=C; export LC_ALL
cd "$home/outbox" || exit 1
[ -p "$home/bell" ] || mkfifo "$home/bell" || exit 1
exec 3<> "$home/bell" || exit 1
: > "$mine" || exit 1
exec 2> /dev/null
trap '' PIPE # a write to a lost connection fails instead, and we exit cleanly

# An older collector sees at its next wake-up that its file is gone. It rings again for us and ends.
for old in "$home"/collector.*; do [ "$old" = "$mine" ] || rm -f "$old"; done
ring() { echo >&3; }
ring

# The heartbeat. It ends with its collector. It kills a replaced collector that hangs on a dead connection.
(
  # Clean up after killed hooks, and after answers that we could not remove while the host was offline.
  {
    find "$home/answers" ! -type d -mtime +0 -exec rm -f {} +
    find "$home/outbox" "$home/status" -name '.[0-9]*' -type f -mtime +0 -exec rm -f {} +
    find "$home/status" "$home/files" -type f -mtime +30 -exec rm -f {} +
    find "$home/files/." -type d -mtime +30 -exec rmdir {} + # removes only empty folders
  } 3>&-
  trap 'kill $nap; exit' TERM
  while kill -0 $$; do
    sleep "$seconds" 3>&- &
    nap=$!
    wait $nap
    [ -e "$mine" ] || { kill $$; exit; }
    ring
  done
) < /dev/null > /dev/null &
helper=$!

# Compares. In its own process, because the script may hang. A file tells the result: it needs no room in the bell.
# A time in whole seconds hides a second change in the same second, so each change is told twice.
[ -z "$compared" ] || (
  look() { sh -c "$compared" sh "$@" 3>&-; }
  trap 'kill $nap; exit' TERM
  pause=1 quiet=0 was=$(look "$@") changed=
  while
    sleep $pause 3>&- &
    nap=$!
    wait $nap
    kill -0 $$ && [ -e "$mine" ]
  do
    now=$(look "$@") && quiet=0 || quiet=$((quiet + 1))
    [ "$now" = "$was" ] && [ -z "$changed" ] || { : > "$mine.moved" && ring; }
    changed=; [ "$now" = "$was" ] || changed=1 quiet=0
    was=$now pause=1
    [ $quiet -lt 60 ] || pause=$seconds
  done
) < /dev/null > /dev/null &
comparer=$!
end() { kill $helper $comparer; rm -f "$mine" "$mine.moved"; exit 0; }

send() {
  size=$(wc -c < "$1") || return 0
  size=$((size)) # some versions of wc print leading blanks
  if [ $size -eq 0 ]; then # a hook is waiting for room on the disk; the letters after this one wait too
    # It waits for ten minutes. Later, the number belongs to another process, for example after a restart.
    kill -0 "\${1##*.}" && [ -z "$(find "$1" -mmin +15)" ] || [ -s "$1" ] || { rm -f "$1"; return 0; }
    held=\${1%%/*}
    return 0
  fi
  if [ $size -gt ${LARGEST_LETTER} ]; then
    mkdir -p aside && mv -f "$1" "aside/\${1%/*}-\${1#*/}"
    printf 'skip %s %s\\n' "$1" $size || end
    return 0
  fi
  { printf 'letter %s %s\\n' "$1" $size && cat "$1" && echo; } || end
  while read -r word which; do
    [ "$word $which" = "ok $1" ] && rm -f "$1" && return 0
    [ "$word $which" = "hold $1" ] && held=\${1%%/*} && return 0
  done
  end # stdin was closed
}

while [ -e "$mine" ]; do
  echo beat || end
  [ ! -e "$mine.moved" ] || { rm -f "$mine.moved"; echo moved || end; }
  held=
  for letter in [0-9]*.[0-9]*/[0-9]*.[0-9]*; do
    case $letter in "$held"/* | *[!0-9./]* | *.*.*/* | */*.*.*) continue ;; esac
    case $letter in */?????????*.*) [ ! -f "$letter" ] || send "$letter" ;; esac
  done
  read -r ring <&3 || end
done
ring
echo replaced
end`;

// Parses the output of a collector; see collect-letters-script.ts. The host may be hostile: sizes are limited, and only names
// that `drop` creates are accepted. Anything else is an error, because the rest of the output could not be trusted.

export type CollectedLine =
  | { readonly kind: 'beat' | 'moved' | 'replaced' }
  | { readonly kind: 'skip'; readonly what: string }
  | { readonly kind: 'letter'; readonly box: string; readonly name: string; readonly letter: Buffer };

const LINE = /^(letter|skip) (\d{1,20}\.\d{1,20})\/(\d{9,20}\.\d{1,20}) (\d{1,15})$/;
const LONGEST_LINE = 120;
const NEWLINE = 0x0a;

export function letterReader(): { read(chunk: Buffer): Generator<CollectedLine> } {
  let pending = makeChunks();
  let open: { readonly box: string; readonly name: string; readonly size: number } | undefined;

  /** Removes `length` bytes and the newline after them from the pending bytes. */
  function cut(length: number): Buffer {
    const all = pending.all();
    if (all[length] !== NEWLINE) throw invalid('a letter has the wrong size');
    pending = makeChunks();
    pending.add(all.subarray(length + 1));
    return all.subarray(0, length);
  }

  function* next(): Generator<CollectedLine, boolean> {
    if (open !== undefined) {
      if (pending.bytes() <= open.size) return false;
      const { box, name, size } = open;
      open = undefined;
      yield { kind: 'letter', box, name, letter: cut(size) };
      return true;
    }
    const at = pending
      .all()
      .subarray(0, LONGEST_LINE + 1)
      .indexOf(NEWLINE);
    if (at === -1 && pending.bytes() > LONGEST_LINE) throw invalid('a line is too long');
    if (at === -1) return false;
    const line = cut(at).toString('latin1');
    if (line === 'beat' || line === 'moved' || line === 'replaced') yield { kind: line };
    else {
      const [, kind, box = '', name = '', size] = line.match(LINE) ?? [];
      if (kind === undefined) throw invalid(untrustedCode(line));
      if (kind === 'skip') yield { kind, what: `${box}/${name}` };
      else if (Number(size) > LARGEST_LETTER) throw invalid('a letter is too large');
      else open = { box, name, size: Number(size) };
    }
    return true;
  }

  return {
    *read(chunk) {
      pending.add(chunk);
      while (yield* next());
    },
  };
}

function invalid(what: string): ThreadmuxError {
  return new ThreadmuxError('host_refused', `The host sent invalid data instead of a letter: ${what}.`);
}

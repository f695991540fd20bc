// What `collect` runs on a host: POSIX sh, no GNU options, no /proc, nothing that needs room on the disk. Arguments: our
// home there, seconds between heartbeats, a random word that tells this collector from others. It prints these lines:
//   beat                        at the start and at every wake-up
//   letter <box>/<name> <size>  then as many bytes and a line end; removed there after "ok <box>/<name>"
//   skip <box>/<name> <size>    a letter that is too large was put aside there
//   replaced                    another collector serves this home now, and this one ends

/** Larger letters are not carried. */
export const LARGEST_LETTER = 32 * 1024 * 1024;

export const COLLECT = `home=$1; seconds=$2; mine=$1/collector.$3
umask 077
LC_ALL=C; export LC_ALL
cd "$home/outbox" || exit 1
[ -p "$home/bell" ] || mkfifo "$home/bell" || exit 1
exec 3<> "$home/bell" || exit 1
: > "$mine" || exit 1
exec 2> /dev/null
trap '' PIPE # a write to a lost connection fails instead, and we end in order

# An older collector sees at its next wake-up that its file is gone. It passes the ring on and ends.
for old in "$home"/collector.*; do [ "$old" = "$mine" ] || rm -f "$old"; done
ring() { echo >&3; }
ring

# The heartbeat. It ends with its collector, and ends one that was replaced while it waits on a dead connection.
(
  # What was left by hooks that were killed and by answers that we could not clear, as the host was away.
  {
    find "$home/answers" ! -type d -mtime +0 -exec rm -f {} +
    find "$home/outbox" -name '.[0-9]*' -type f -mtime +0 -exec rm -f {} +
    find "$home/status" "$home/files" -type f -mtime +30 -exec rm -f {} +
    find "$home/files/." -type d -mtime +30 -exec rmdir {} + # only empty ones go
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
end() { kill $helper; rm -f "$mine"; exit 0; }

send() {
  size=$(wc -c < "$1") || return 0
  size=$((size)) # some wc print blanks before it
  if [ $size -eq 0 ]; then # kept by a hook that waits for room on the disk; what comes after it waits, too
    kill -0 "\${1##*.}" || [ -s "$1" ] || { rm -f "$1"; return 0; }
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
  done
  end # nobody answers any more
}

while [ -e "$mine" ]; do
  echo beat || end
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

// The scripts that type into a pane. Each check and the key that it guards are one command list inside the tmux server, and
// each key sets a mark on the pane: after an interruption, a repeat does only what is still missing.

/**
 * stdin: the text. Arguments: pane, id, length in bytes, pause in seconds, the conditions "same" and "ready", the format to
 * print after a refusal, the key that stashes a draft and the pattern that confirms it (or two empty words), and how to paste.
 * The buffer's name is unique per attempt: an interrupted attempt cannot put part of a text into ours.
 */
export const TYPE_SCRIPT = `pane=$1; id=$2; length=$3; pause=$4; same=$5; ready=$6; seen=$7; key=$8; stashed=$9; brackets=\${10}
b=threadmux-$id-$$
pause() { sleep "$1" 2>/dev/null || sleep 1; }
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
r=$(t if-shell -F -t "$pane" "$leave" "copy-mode -q -t $pane" \\; \\
  if-shell -F -t "$pane" "$typed" "delete-buffer -b $b ; display-message -p TEXT" \\
  "if-shell -F -t $pane '$paste' { paste-buffer $brackets -r -d -b $b -t $pane ; set-option -p -t $pane @threadmux_text $id ; display-message -p TEXT } { delete-buffer -b $b ; display-message -p -t $pane 'REFUSED $seen' }") || { drop; exit 1; }
printf '%s\\n' "$r"
case $r in TEXT) ;; *) exit 0;; esac
pause "$pause"
t if-shell -F -t "$pane" "#{>=:#{@threadmux_enter},$id}" "display-message -p ALREADY" \\
  "if-shell -F -t $pane '#{&&:#{==:#{@threadmux_text},$id},#{&&:#{!=:#{@threadmux_held},$id},$ready}}' { send-keys -t $pane Enter ; set-option -p -t $pane @threadmux_enter $id ; display-message -p ENTER } { display-message -p -t $pane 'HELD $seen' ; if-shell -F -t $pane '#{==:#{@threadmux_text},$id}' { set-option -p -t $pane @threadmux_held $id } }"`;

/**
 * Arguments: pane, the conditions "same" and "ready", the condition "already pressed", the format to print after a refusal,
 * the keys, the commands that mark the pane, and a time limit in seconds. tmux compares the time at the moment of the key: a server that
 * was stopped still carries out old commands, although their client is gone.
 */
export const PRESS_SCRIPT = `pane=$1; same=$2; before=$4; seen=$5; keys=$6; marks=$7
ready="#{&&:#{<:#{T:#{l:%s}},$(($(date +%s) + $8))},$3}"
t if-shell -F -t "$pane" "#{&&:$same,#{pane_in_mode}}" "copy-mode -q -t $pane" \\; \\
  if-shell -F -t "$pane" "$before" "display-message -p ALREADY" \\
  "if-shell -F -t $pane '$ready' { send-keys -t $pane $keys ; $marks ; display-message -p PRESSED } { display-message -p -t $pane 'REFUSED $seen' }"`;

// The scripts that make, check, show and remove the worktrees of sessions. They need only sh and git. The steps are numbered for the
// tests, which end a script at each of them.

import { LOGIN } from './host-home.ts';
import { INSPECT_SHELL, WORKTREE_SHELL } from './worktree-shell.ts';

/**
 * Arguments: project, session, directory, whether an agent asks. Answers `made|again`, the worktree's name, its path, the directory to start in, its branch,
 * the commit, and whether its set-up must run; or `refused` and why.
 */
export const MAKE_WORKTREE = `creates=yes
${WORKTREE_SHELL}
session=$2 directory=$3 dir=$3
case $dir in '~') dir=$HOME ;; '~/'*) dir=$HOME/\${dir#'~/'} ;; esac
cd "$dir" 2> /dev/null || refuse no-directory
# Only git knows which repository it is, and one of the files that it reads to find it may be a named pipe.
find_repo() {
  git rev-parse "$@" & pid=$!
  { cd /; sleep 10; kill -9 $pid; } < /dev/null > /dev/null 2>&1 & limit=$!
  wait $pid; status=$?; kill $limit; return $status
}
found=$(find_repo --is-inside-work-tree --is-bare-repository 2> "$out"); [ $? != 137 ] || refuse late
case $(echo $found) in
  'true false') ;;
  'false true') refuse bare ;;
  '') ! grep -q -i 'dubious ownership' "$out" || refuse git "$(head -n 1 "$out")"; refuse no-repository ;;
  *) refuse no-repository ;;
esac
sub=$(g rev-parse --show-prefix) && common=$(cd "$(g rev-parse --git-common-dir)" && pwd -P) || exit 1
r_repo=$common number=1
choose "$1" "$session"; ! has_pipe || refuse pipe
base=$(g rev-parse -q --verify 'HEAD^{commit}' 2> /dev/null) || refuse no-commit
# An agent can make a repository inside its project, whose settings name programs. Only the outermost one below HOME is a person's.
if [ "$4" = agent ]; then
  at=$(pwd -P) top= until=$(cd "$HOME" && pwd -P)
  while [ -n "$at" ] && [ "$at" != "$until" ]; do [ ! -e "$at/.git" ] || top=$at; at=\${at%/*}; done
  outer=$(cd "\${top:-\${at:-/}}" && cd "$(find_repo --git-common-dir 2> "$out")" && pwd -P) && [ "$outer" = "$common" ] || refuse nested
fi
cd / || exit 1
case $common$directory in *[[:cntrl:]]*) refuse bad-path ;; esac
# step 1
take_lock
while :; do
  choose "$1" "$session$([ $number = 1 ] || echo "-$number")"
  if [ -e "$record" ]; then
    load
    if [ "$r_bridge" = "$bridge" ] && [ "$r_session" = "$session" ] && [ "$r_repo" = "$common" ] && settle && [ -n "$adm" ] &&
      [ -e "$path/.git" ]; then is=again; break; fi
    r_repo=$common
  elif [ ! -e "$path" ] && [ ! -e "$hidden" ] && ! repo rev-parse -q --verify "refs/heads/threadmux/$name" > /dev/null; then
    is=made; break
  fi
  number=$((number + 1)); [ $number -lt 100 ] || refuse too-many
done
if [ $is = made ]; then
  r_bridge=$bridge r_session=$session r_repo=$common r_directory=$directory r_branch=threadmux/$name r_base=$base r_at=$(date +%s)
  # step 2
  (umask 077; mkdir -p "$all/$project") && save new || exit 1
  # step 3
  if ! repo worktree add --no-track -b "$r_branch" "$path" "$base" > "$out" 2>&1; then
    why=$(tail -n 1 "$out")
    # A failure that left nothing needs no record. Git keeps the branch that it has just made: it goes if nobody has used it.
    if [ ! -e "$path" ] && ! find_admin; then
      repo update-ref -d "refs/heads/$r_branch" "$base" 2> /dev/null
      tip > /dev/null || { rm -f "$record"; rmdir "$all/$project" 2> /dev/null; }
    fi
    refuse git "$why"
  fi
  find_admin
  # step 4
  save made
  # step 5
fi
setup=no; [ "$r_state" != made ] || setup=yes
start=$path/$sub; [ -d "$start" ] || start=$path/
branch=$(tree "$path" symbolic-ref -q --short HEAD); at=$(tree "$path" rev-parse -q --verify HEAD)
answer "$is" "$name" "$path" "\${start%/}" "\${branch:-$at}" "$at" "$setup"`;

/** Arguments: project, name. The set-up has run. */
export const WORKTREE_READY = `${WORKTREE_SHELL}
take_lock
choose "$1" "$2"; [ -e "$record" ] || answer gone
load; [ "$r_state" != made ] || save ready
answer ready`;

/**
 * Arguments: project, name, what is allowed to get lost (the print of what a user saw, or empty). Answers `removed` and the last
 * commit of its branch, `busy` and the program, `gone` if there is none, or `kept` and what is in it.
 */
export const END_WORKTREE = `${WORKTREE_SHELL}${INSPECT_SHELL}
anyway=$3
take_lock
choose "$1" "$2"; [ -e "$record" ] || answer gone
load; [ "$r_bridge" = "$bridge" ] || answer gone
kept() { answer kept "$1" "$r_branch" "$changed" "$commits" "$dropped" "$stashes" "$print" "$doubts" "$files"; }
nothing() { doubts= files= changed=0 commits=0 dropped=0 stashes=0 print=0; }
# Deletes the branch if all its commits are on another one, which must not move meanwhile.
drop_branch() {
  nothing
  at_tip=$(tip) || return 0
  if repo worktree list --porcelain | grep -q -x "branch refs/heads/$r_branch"; then doubt 'its branch is checked out elsewhere'; return 1; fi
  if [ -z "$anyway" ]; then
    other=$(elsewhere "$at_tip")
    [ -n "$other" ] || { commits=$(repo rev-list --count "$at_tip" --not --exclude="$r_branch" --branches --remotes); return 1; }
    printf 'verify %s %s\\ndelete refs/heads/%s %s\\n' "\${other#* }" "\${other%% *}" "$r_branch" "$at_tip"
  else printf 'delete refs/heads/%s %s\\n' "$r_branch" "$at_tip"; fi > "$out"
  # step 20
  repo update-ref --stdin < "$out" 2> /dev/null || { doubt 'its branch has just moved'; return 1; }
  repo config --remove-section "branch.$r_branch" 2> /dev/null
  return 0
}
! has_pipe || { nothing; doubt "$PIPE"; kept "$path"; }
settle || { nothing; find_admin; [ ! -e "$hidden" ] || doubt "a part of it is in $hidden"; doubt 'its making or removing was interrupted'; kept "$path"; }
if [ -e "$path" ]; then
  wait_while_busy "$path" || answer busy "$program" "$path" "$r_branch"
  # step 11
  inspect "$path"
  is_clean || { [ -n "$anyway" ] && [ "$anyway" = "$print" ] && [ -n "$adm" ]; } || kept "$path"
  # A program that still uses it must not write while it is deleted: it is moved away, and checked again.
  seen=$print
  [ -e "$adm/locked" ] || echo "$LOCKED" > "$adm/locked"
  # step 12
  save removing
  # step 13
  mv "$path" "$hidden" || kept "$path"
  # step 14
  link "$hidden"
  # step 15
  back() { r_state=removing; settle; inspect "$path"; kept "$path"; }
  ! busy "$hidden" || { by=$program; settle; answer busy "$by" "$path" "$r_branch"; }
  inspect "$hidden"
  [ "$print" = "$seen" ] || back
  # step 16
  save deleting
  unlock
  # step 17
  chmod -R u+rwX "$hidden" 2> /dev/null
  # Git's own check would use the repository that .git names.
  [ -n "$anyway" ] || { [ -z "$(tree "$hidden" status --porcelain --ignore-submodules=dirty 2>&1)" ] &&
    ! tree "$hidden" ls-files -s | grep -q '^160000 '; } || back
  # In git's own folder, so that a script that finds this one killed sees that git still works.
  (cd "$adm" && repo worktree remove --force "$hidden") > "$out" 2>&1 || { [ -d "$adm" ] && back; rm -rf "$hidden"; }
  # step 18
elif [ -n "$adm" ]; then
  # It was removed by hand, or by a script that was killed. What is only staged counts.
  nothing; left_behind
  if [ -n "$anyway" ] || { [ "$dropped" = 0 ] && [ ! -e "$adm/locked" ] && g --git-dir="$adm" diff-index --cached --quiet HEAD; } 2> /dev/null; then
    repo worktree remove \${anyway:+--force} "$path" > /dev/null 2>&1 || { printf '%s/.git\\n' "$path" > "$adm/gitdir"
      repo worktree remove \${anyway:+--force} "$path" > /dev/null 2>&1; }
  else doubt 'its folder is gone, but git still has changes of it'; kept ''; fi
fi
# step 19
if drop_branch; then
  # step 21
  rm -f "$record"; rmdir "$all/$project" 2> /dev/null
  answer removed "$at_tip"
fi
# Only the branch is left: git lists it, and it needs no record.
rm -f "$record"
kept ''`;

/** Arguments: whether to look into each one. Answers, per worktree of this bridge: project, name, state, session, directory, branch, path and what is in it. */
export const LIST_WORKTREES = `${WORKTREE_SHELL}${INSPECT_SHELL}
look=$1
for record in "$all"/*/*.record; do
  [ -e "$record" ] || continue
  one=\${record%.record}; rest=\${one%/*}; choose "\${rest##*/}" "\${one##*/}"
  load; [ "$r_bridge" = "$bridge" ] || continue
  find_admin
  doubts= files= changed=0 commits=0 dropped=0 stashes=0 print=0 at=$path
  case $r_state in ready | made) ;; *) [ ! -e "$hidden" ] || at=$hidden ;; esac
  [ -e "$at" ] || r_state=gone
  if [ "$look" = yes ] && [ -e "$at" ]; then if has_pipe; then doubt "$PIPE"; else inspect "$at"; fi; fi
  printf '%s\\0' "$project" "$name" "$r_state" "$r_session" "$r_directory" "$r_branch" "$path" "$changed" "$commits" "$dropped" "$stashes" "$print" "$doubts"
done`;

/** Arguments: project, name. Everything that differs from the commit where it began; names of new files that are too many. */
export const WORKTREE_DIFF = `${WORKTREE_SHELL}
choose "$1" "$2"; [ -e "$record" ] || answer gone
load; cd "$path" 2> /dev/null && find_admin || answer gone
! has_pipe || answer diff "$PIPE"
printf 'diff\\0'
{
  tree "$path" log --oneline --no-color --no-decorate --no-show-signature "$r_base..HEAD"
  tree "$path" diff --no-color --no-ext-diff --no-textconv --submodule=short --ignore-submodules=dirty "$r_base"
  tree "$path" ls-files --others --exclude-standard | head -n 200 | while IFS= read -r file; do
    if [ -f "$file" ] && [ "$(wc -c < "$file")" -lt 65536 ]; then
      tree "$path" diff --no-color --no-ext-diff --no-textconv --no-index -- /dev/null "$file"
    else echo "new: $file"; fi
  done
  repo reflog show --format='%gd: %gs' refs/stash 2> /dev/null | grep -F -e "WIP on $r_branch:" -e "On $r_branch:"
} 2>&1 | head -c 900000`;

/** Arguments: path, command. Prints the command's output, then a NUL, "exit" and its exit code. */
export const WORKTREE_SETUP = `${LOGIN}
path=$(login PATH); PATH=\${path:+$path:}$PATH; export PATH
cd "$1" || { printf '\\0exit %s\\n' 1; exit; }
sh -c "$2" 2>&1 < /dev/null
printf '\\0exit %s\\n' $?`;

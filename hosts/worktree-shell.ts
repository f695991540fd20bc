// Shell functions for the worktrees of sessions on a host. Each worktree has a record beside it, written before the work starts
// and removed last, so that a script that was killed at any step can be completed by the next one.

/**
 * Arguments: our home there (empty for ~/.threadmux), the name of the bridge. `$all` is the folder of all worktrees, which is made
 * only with `creates`.
 * A record's state: new (git may not be done), made (its set-up has not run), ready, removing (moved away and checked again),
 * deleting (checked; git deletes it).
 */
export const WORKTREE_SHELL = `unset CDPATH GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_COMMON_DIR
LC_ALL=C; export LC_ALL
GIT_ALLOW_PROTOCOL=none; export GIT_ALLOW_PROTOCOL # a repository can name a program that fetches what it does not have
home=\${1:-$HOME/.threadmux}; bridge=$2; shift 2
answer() { for field; do printf '%s\\0' "$field"; done; exit 0; }
refuse() { answer refused "$@"; }
command -v git > /dev/null || refuse no-git
[ -n "$creates" ] || [ -d "$home/worktrees" ] || answer gone
(umask 077; mkdir -p "$home/worktrees/.removing") || exit 1
all=$(cd "$home/worktrees" && pwd -P) && cd / || exit 1
self=$(exec sh -c 'echo $PPID') # in a subshell, $$ is another process
out=$all/.out.$self
trap 'rm -f "$out" "$out.2"' EXIT

# Settings of the user that could hide a change are off, and so are programs that the repository names: an agent may have written them.
g() { git --no-optional-locks -c core.hooksPath=/dev/null -c core.fsmonitor=false -c core.untrackedCache=false -c core.checkStat=default -c core.trustctime=true \\
  -c core.quotePath=false -c worktree.useRelativePaths=false -c log.mailmap=false -c gc.auto=0 "$@"; }
repo() { g --git-dir="$r_repo" "$@"; }
# In the folder $1 of the worktree. An agent can write .git, at any moment: another repository there could name programs, which git
# would run. For the same reason git must not look into repositories inside.
tree() { folder=$1; shift; g -C "$folder" --git-dir="$adm" --work-tree="$folder" "$@"; }

nap() { sleep 0.2 2> /dev/null || sleep 1; } # some systems have no fractions
started() { ps -o lstart= -p "$1" 2> /dev/null | tr -s ' ' _; }
holds() {
  pid=\${1%%.*}; kill -0 "$pid" 2> /dev/null || return 1
  now=$(started "$pid"); [ -z "$now" ] || [ "$pid.$now" = "$1" ]
}
# One script at a time. A link is created with its content at once; it names its holder, and is free when that one has ended.
take_lock() {
  me=$self.$(started "$self"); tries=0
  until ln -s "$me" "$all/.lock" 2> /dev/null; do
    held=$(readlink "$all/.lock")
    # Nobody waits for a script that long: it hangs, in a program or a file that never answers.
    [ -z "$(find "$all/.lock" -prune -mmin +20 2> /dev/null)" ] || ! holds "$held" || kill -9 "\${held%%.*}"
    if [ -n "$held" ] && ! holds "$held"; then
      mv "$all/.lock" "$all/.lock.$self" 2> /dev/null || continue
      moved=$(readlink "$all/.lock.$self"); rm -f "$all/.lock.$self"
      [ "$moved" = "$held" ] || ln -s "$moved" "$all/.lock" 2> /dev/null
      continue
    fi
    tries=$((tries + 1)); [ $tries -lt 300 ] || refuse busy
    nap
  done
  rm -f "$out" "$out.2"; out=$all/.out
  trap 'rm -f "$out" "$out.2" "$all/.lock"' EXIT
  find "$all"/.out.* -prune -mmin +60 -exec rm -f {} + 2> /dev/null # of scripts that were killed
}

# The worktree in question: $1 is its project, $2 its name.
choose() {
  project=$1; name=$2
  path=$all/$project/$name; record=$path.record; hidden=$all/.removing/$project.$name
}
load() {
  r_state= r_bridge= r_session= r_repo= r_directory= r_branch= r_base= r_at=
  while IFS= read -r line; do
    value=\${line#* }
    case $line in
      'state '*) r_state=$value ;; 'bridge '*) r_bridge=$value ;; 'session '*) r_session=$value ;; 'repo '*) r_repo=$value ;;
      'directory '*) r_directory=$value ;; 'branch '*) r_branch=$value ;; 'base '*) r_base=$value ;; 'at '*) r_at=$value ;;
    esac
  done < "$record"
}
save() {
  r_state=$1
  (umask 077; printf '%s\\n' "state $1" "bridge $r_bridge" "session $r_session" "repo $r_repo" "directory $r_directory" \\
    "branch $r_branch" "base $r_base" "at $r_at" > "$record.new") && mv -f "$record.new" "$record" || exit 1
}
# Git opens what has the name of its file, and would wait for a named pipe for ever: in its own folder, or in the worktree.
PIPE='a named pipe is in place of a file that git would read'
has_pipe() {
  [ -n "$({ find "$r_repo" \\( -type p -o -type l -exec test -p {} \\; \\) -print
    find "$path" "$hidden" -name '.git*' \\( -type p -o -type l -exec test -p {} \\; \\) -print; } 2> /dev/null | head -n 1)" ]
}
tip() { repo rev-parse -q --verify "refs/heads/$r_branch^{commit}"; }

# Git's own folder for this worktree, by the place that git noted.
find_admin() {
  adm=
  for one in "$r_repo"/worktrees/*/; do
    at=; [ ! -f "$one/gitdir" ] || read -r at < "$one/gitdir"
    case $at in "$path/.git" | "$hidden/.git") adm=\${one%/}; return 0 ;; esac
  done
  return 1
}
# Writes what links the folder $1 and git's own folder.
# Not through what is there: an agent may have put a link or a named pipe in its place.
link() {
  printf 'gitdir: %s\\n' "$adm" > "$out" && rm -f "$1/.git" && mv "$out" "$1/.git" && printf '%s/.git\\n' "$1" > "$adm/gitdir"
}
LOCKED='threadmux is removing it'
unlock() { case $(cat "$adm/locked" 2> /dev/null) in initializing | "$LOCKED") rm -f "$adm/locked" ;; esac; }

# Creates the files that git knows and that are missing in $1; changes no other file.
fill() {
  rm -f "$adm/index.lock"
  [ -f "$adm/index" ] || tree "$1" read-tree HEAD 2> /dev/null || return 1
  tree "$1" ls-files -z -d > "$out" && tree "$1" checkout-index -q -u -z --stdin < "$out" > /dev/null 2>&1
  tree "$1" update-index -q --refresh > /dev/null 2>&1
}

# Completes what a killed script has begun. Deletes nothing but what was checked before. False if it is not usable.
settle() {
  find_admin
  case $r_state in
    new)
      if [ -z "$adm" ]; then
        [ ! -e "$path" ] || rmdir "$path" 2> /dev/null || return 1
        if tip > /dev/null; then repo worktree add "$path" "$r_branch" > "$out" 2>&1 || return 1
        else repo worktree add --no-track -b "$r_branch" "$path" "$r_base" > "$out" 2>&1 || return 1; fi
        find_admin || return 1
      else
        unlock; mkdir -p "$path" && link "$path" || return 1
        [ -f "$adm/commondir" ] || echo ../.. > "$adm/commondir"
        tip > /dev/null || repo update-ref "refs/heads/$r_branch" "$r_base" '' || return 1
        printf 'ref: refs/heads/%s\\n' "$r_branch" > "$adm/HEAD"
        fill "$path"
        [ -z "$(tree "$path" status --porcelain --untracked-files=all --ignore-submodules=dirty 2>&1)" ] || return 1
      fi
      save made ;;
    removing | deleting)
      [ -z "$adm" ] || wait_while_busy "$adm" || return 1
      if [ -e "$hidden" ]; then
        [ ! -e "$path" ] || return 1
        if [ -z "$adm" ]; then
          # Git had found it clean, and has already deleted what it knows of it.
          [ "$r_state" = deleting ] && ! busy "$hidden" || return 1
          rm -rf "$hidden"; return 0
        fi
        mv "$hidden" "$path" && link "$path" || return 1
        [ "$r_state" != deleting ] || fill "$path"
      fi
      [ -z "$adm" ] || unlock
      [ ! -e "$path" ] || save ready ;;
  esac
  return 0
}

# Whether a program has its working folder or an open file in $1; sets $program. The folder where a tmux server was started does
# not count.
busy() {
  export inside="$1"
  match='{ at = index($0, sign); to = substr($0, at + length(sign)) } at && (to == ENVIRON["inside"] || index(to, ENVIRON["inside"] "/") == 1)'
  if [ -d /proc/self/fd ]; then
    pids=$(ls -l /proc/[0-9]*/cwd /proc/[0-9]*/fd/ 2> /dev/null | awk -v sign='-> ' '/^\\/proc/ { split($0, q, "/"); of = q[3]; next }
      '"$match"' { if (split($0, w, " /proc/") > 1) { split(w[2], q, "/"); of = q[1] } print of }')
    programs=$(for pid in $pids; do cat "/proc/$pid/comm"; done 2> /dev/null)
  else
    programs=$(lsof -n -P -u "$(id -u)" -F cn 2> /dev/null | awk -v sign=n '/^c/ { c = substr($0, 2); next } !/^n/ { next }
      '"$match"' { print c }')
  fi
  program=$(printf '%s\\n' "$programs" | grep -v '^tmux' | head -n 1)
  [ -n "$program" ]
}
# The programs of a session need a moment to end.
wait_while_busy() {
  tries=0
  while busy "$1"; do tries=$((tries + 1)); [ $tries -lt 25 ] || return 1; nap; done
  return 0
}
`;

/** What a worktree contains that is nowhere else. */
export const INSPECT_SHELL = `
doubt() { doubts="$doubts$1
"; }
# A branch here or of a remote that contains the commit $1, except the worktree's own: "<its commit> <its name>".
elsewhere() {
  repo for-each-ref --contains "$1" --format='%(objectname) %(refname)' refs/heads refs/remotes |
    grep -v -e " refs/heads/$r_branch$" -e '/HEAD$' | head -n 1
}
# Counts the commits that a checkout or reset left behind: they are only in a log that is removed with the worktree. What an amend or
# a rebase has replaced does not count.
left_behind() {
  left=$(awk -F '\\t' '$2 !~ /^(commit \\(amend\\)|rebase|pull)/ { split($1, o, " "); print o[1] }' "$adm/logs/HEAD" 2> /dev/null |
    grep -v '^0*$' | sort -u | head -n 2000)
  [ -z "$left" ] || dropped=$(repo rev-list --count --ignore-missing $left --not --all $at_head)
}
# What shows that files which git does not compare have changed since: size, inode and the time that nobody can set (ctime), as exact
# as ls can. Their content is not read: a named pipe would hang, and a file may have any size. Ignored files do not count, except where
# git does not look ($blind) or xargs knows no -0.
stamps() (
  cd "$here" && : > "$out.2" || exit
  ls='ls -ldinc'
  for one in --full-time -T; do ! ls -ld $one . > /dev/null 2>&1 || { ls="$ls $one"; break; }; done
  [ -n "$blind" ] || [ -z "$new" ] || tree "$here" ls-files --others --exclude-standard -z | xargs -0 $ls -- > "$out.2"
  if [ -s "$out.2" ]; then cat "$out.2"; elif [ -n "$blind$new" ]; then find . ! -type d ! -name .git -exec $ls {} +; fi
) 2> /dev/null
# Sets doubts, files, changed, commits, dropped, stashes and print for the folder $1. Clean if all are empty or 0.
inspect() {
  doubts= files= changed=0 commits=0 dropped=0 stashes=0 blind= here=$1
  [ -n "$adm" ] || { doubt 'git does not know it'; print=0; return; }
  [ "$(g rev-parse --resolve-git-dir "$here/.git" 2> /dev/null)" = "$adm" ] || { doubt 'it is not the worktree that threadmux made'; print=0; return; }
  head=$(tree "$here" symbolic-ref -q HEAD); at_head=$(tree "$here" rev-parse -q --verify 'HEAD^{commit}'); at_tip=$(tip)
  case $head in
    "refs/heads/$r_branch") ;;
    refs/heads/*) doubt "the branch \${head#refs/heads/} is checked out" ;;
    *) doubt 'no branch is checked out' ;;
  esac
  [ -n "$at_tip" ] || doubt "the branch $r_branch is gone"
  [ ! -e "$adm/locked" ] || [ "$(cat "$adm/locked")" = "$LOCKED" ] || doubt 'git worktree lock protects it'
  for one in MERGE_HEAD CHERRY_PICK_HEAD REVERT_HEAD BISECT_LOG rebase-merge rebase-apply sequencer; do
    [ ! -e "$adm/$one" ] || { doubt 'a merge, rebase or bisect is not finished'; break; }
  done
  [ ! -d "$adm/modules" ] || doubt 'it has submodules'
  [ -z "$(tree "$here" for-each-ref refs/worktree)" ] || doubt 'it has references of its own'
  inner=$(find "$here" -name .git -prune -print 2> "$out" | grep -v -x -F "$here/.git" | head -n 1)
  [ -z "$inner" ] || { inner=\${inner%/.git}; doubt "another repository is in \${inner#"$here"/}"; blind=yes; }
  [ ! -s "$out" ] || doubt 'it has folders that cannot be read'
  tree "$here" ls-files -v > "$out" 2> /dev/null || doubt 'git cannot read it'
  # Git does not look at changes in these files.
  sed -n 's/^[a-zS] //p' "$out" > "$out.2"
  while IFS= read -r one; do
    case $one in '"'*) ;; *) [ -e "$here/$one" ] || [ -h "$here/$one" ] || continue ;; esac
    doubt 'git is told to ignore changes in some files'; blind=yes; break
  done < "$out.2"
  tree "$here" status --porcelain --untracked-files=all --ignore-submodules=dirty > "$out" 2> "$out.2" || doubt 'git cannot read it'
  [ ! -s "$out.2" ] || doubt 'git cannot read all of it'
  changed=$(grep -c . "$out"); files=$(head -n 20 "$out"); new=$(grep -c '^??' "$out"); new=\${new#0}
  print=$({ cat "$out"; stamps; [ -z "$changed" ] || tree "$here" diff HEAD --no-ext-diff --no-textconv --submodule=short --ignore-submodules=dirty 2> /dev/null; } | cksum | tr -d ' ')
  rm -f "$out.2"
  tips=
  for one in $at_tip $at_head; do [ -n "$(elsewhere "$one")" ] || tips="$tips $one"; done
  [ -z "$tips" ] || commits=$(repo rev-list --count $tips --not --exclude="$r_branch" --branches --remotes)
  left_behind
  stashes=$(repo reflog show --format='%ct %gs' refs/stash 2> /dev/null | awk -v since="$r_at" -v branch="$r_branch:" \\
    '$1 >= since && (($2 == "WIP" && $3 == "on" && $4 == branch) || ($2 == "On" && $3 == branch)) { n++ } END { print n + 0 }')
  commits=\${commits:-1} dropped=\${dropped:-1}
  print=$(printf '%s\\n' "$print" "$at_tip" "$at_head" "$doubts" "$dropped" "$stashes" | cksum | tr -d ' ')
}
is_clean() { [ -z "$doubts" ] && [ "$changed$commits$dropped$stashes" = 0000 ]; }
`;

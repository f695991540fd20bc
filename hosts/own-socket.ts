// A tmux client does what its server says: write files, run programs. So no client of ours connects to the server of another user
// of that machine, who may have taken the path of a server that ended, for example /tmp/tmux-1000 after a restart.

/**
 * POSIX sh: sets `tmx_own` for `$socket`. "yes": the user's own socket, or nobody else can create one there; "new": there is none, but
 * another user could create one at any moment; "no": it belongs to somebody else, or it is a link.
 */
const OWN_SOCKET = `tmx_own=yes
if [ -n "$socket" ] && { [ ! -O "$socket" ] || [ -L "$socket" ]; }; then
  tmx_folder=\${socket%/*}/; case $([ -O "$tmx_folder" ] && LC_ALL=C ls -ldL "$tmx_folder" 2>/dev/null) in d????-??-*) ;;
    *) tmx_own=new; if [ -e "$socket" ] || [ -L "$socket" ]; then tmx_own=no; fi ;; esac
fi`;

/**
 * POSIX sh: `t` is `$tmux` on the server of `$socket`, or on the user's default server, whose folder tmux itself checks. -u: names are
 * UTF-8. A shell that ssh runs for a command often has a shorter PATH than the user's login shell.
 */
export const TMUX_FUNCTION = `PATH="$PATH:/opt/homebrew/bin:/usr/local/bin:/opt/local/bin:/home/linuxbrew/.linuxbrew/bin:/snap/bin:$HOME/.local/bin:$HOME/bin:/usr/bin:/bin"
export PATH; unset TMUX TMUX_PANE
${OWN_SOCKET}
t() {
  case $tmx_own,$1 in
    yes,* | new,new-session) ;;
    no,*) echo "no server running on $socket: it belongs to another user" >&2; return 1 ;;
    *) echo "no server running on $socket" >&2; return 1 ;;
  esac
  if [ -n "$socket" ]; then "$tmux" -u -S "$socket" "$@"; else "$tmux" -u "$@"; fi
}
`;

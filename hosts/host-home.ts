// Sets up our home on a host: a few folders, the bell and our scripts, in one ssh call. A file is replaced only if it differs,
// and atomically.

import { ThreadmuxError } from '../core/errors.ts';
import { untrustedCode, untrustedText } from '../core/untrusted-text.ts';
import type { Host } from './host.ts';

interface PutScripts {
  /** The absolute path of our home there. */
  readonly home: string;
  /** The user's own home directory there. */
  readonly userHome: string;
}

const HOME_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const FILE_NAME = /^(?:bin\/(?:[a-z][a-z0-9-]{0,31}\/)?)?[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** `{HOME}` in a file is replaced by the path of our home there. Files in bin/ are executable. */
export async function putScripts(
  host: Host,
  name: string,
  files: Readonly<Record<string, string>>,
): Promise<PutScripts> {
  for (const path of Object.keys(files))
    if (!FILE_NAME.test(path)) throw new RangeError(`${path} is not a valid name for a file in a host's home`);
  if (!HOME_NAME.test(name))
    throw new ThreadmuxError('name_refused', `${untrustedCode(name)} cannot be used as the name of a folder`, {
      hint: 'Use letters, digits, ".", "_" and "-", at most 64.',
    });
  let there: PutScripts = { home: '', userHome: '' };
  for (const args of batchesOf(files)) {
    const output = await host.sh(SCRIPT, [name, ...args], { doing: 'install its scripts' });
    const [outcome, home = '', why = ''] = output.split('\0');
    if (outcome !== 'done')
      throw new ThreadmuxError('home_unsafe', `${host.name}: ${untrustedCode(home)} ${untrustedText(why)}`, {
        hint: `Check it on ${host.name}: it must be a folder that only you own.`,
      });
    if (home !== `${why}/.threadmux/for/${name}` || !USABLE.test(home)) throw unusable(host, home);
    there = { home, userHome: why };
  }
  return there;
}

/** The script refuses other paths, too, but a hostile host says what it wants. The path becomes part of commands and of typed text. */
const USABLE = /^\/[^\p{Cc}'"\\`$]{1,4000}$/u;

function unusable(host: Host, home: string): ThreadmuxError {
  return new ThreadmuxError(
    'home_unsafe',
    `${host.name}: ${untrustedCode(home, 200)} is not a path that threadmux can use`,
    { hint: `Check HOME on ${host.name}.` },
  );
}

/** Some ssh servers take no command that is longer than 32 KiB. */
const MOST_CHARACTERS = 12_000;

/** Each with as many files as fit, as name and text in turn. */
function batchesOf(files: Readonly<Record<string, string>>): readonly (readonly string[])[] {
  const batches: string[][] = [[]];
  for (const [path, text] of Object.entries(files)) {
    const last = batches.at(-1) ?? [];
    const isFull = last.length > 0 && [...last, text].join('').length > MOST_CHARACTERS;
    if (isFull) batches.push([path, text]);
    else last.push(path, text);
  }
  return batches;
}

const SCRIPT = `umask 077
refuse() { printf 'refused\\0%s\\0%s\\0' "$1" "$2"; exit 0; }
case $HOME in
  *["'"'"\\\`$'[:cntrl:]]*) refuse "$HOME" 'has a path with characters that the scripts of threadmux cannot use' ;;
  /*) ;;
  *) refuse "$HOME" 'is not an absolute path' ;;
esac
home=$HOME/.threadmux/for/$1; shift
me=$(id -u)
for folder in "$HOME/.threadmux" "$HOME/.threadmux/for" "$home"; do
  [ -d "$folder" ] || [ -h "$folder" ] || mkdir "$folder" || exit 1
  [ ! -h "$folder" ] || refuse "$folder" 'is a link'
  owner=$(ls -ldn "$folder") || exit 1
  read -r mode links owner rest <<END
$owner
END
  [ "$owner" = "$me" ] || refuse "$folder" 'belongs to another user'
done
case $mode in drwx------*) ;; *) chmod 700 "$home" || exit 1 ;; esac
for folder in outbox answers status files bin; do [ -d "$home/$folder" ] || mkdir "$home/$folder" || exit 1; done
[ -p "$home/bell" ] || { rm -f "$home/bell"; mkfifo "$home/bell"; } || exit 1

while [ $# -gt 0 ]; do
  file=$home/$1; rest=$2; text=
  while case $rest in *'{HOME}'*) true ;; *) false ;; esac do
    text=$text\${rest%%'{HOME}'*}$home
    rest=\${rest#*'{HOME}'}
  done
  text=$text$rest
  case $1 in bin/*) mode=700 ;; *) mode=600 ;; esac
  case $1 in bin/*/*) [ -d "\${file%/*}" ] || mkdir "\${file%/*}" || exit 1 ;; esac
  shift 2
  [ $mode = 600 ] || [ -x "$file" ] && [ ! -h "$file" ] && printf %s "$text" | cmp -s - "$file" && continue
  new=$home/.new.$$
  # Use cat: it prints why a write failed, and the printf of some shells does not.
  if printf %s "$text" | cat > "$new" && chmod $mode "$new" && mv -f "$new" "$file"; then continue; fi
  rm -f "$new"
  exit 1
done
printf 'done\\0%s\\0%s\\0' "$home" "$HOME"`;

// Finds the user's files and our home on another host, and removes what we installed there.

export interface HostPaths {
  /** The path of our home there; it may not exist yet. */
  readonly home: string;
  readonly settings: string;
  /** Where tmux looks for its configuration, in that order. */
  readonly confs: readonly string[];
}

/** For use in scripts: `login NAME` prints a variable that the user's login shell exports. */
export const LOGIN = `exported=$("\${SHELL:-/bin/sh}" -l -i -c env 2>/dev/null </dev/null)
login() { printf '%s\\n' "$exported" | sed -n "s/^$1=//p" | tail -n 1; }
`;

const LOOK = `${LOGIN}
absolute() { case $1 in /*) printf '%s\\0' "$1" ;; *) printf '%s\\0' "$HOME/$1" ;; esac; }
absolute ".threadmux/for/$1"
claude=$(login CLAUDE_CONFIG_DIR); claude=\${claude%/}
absolute "\${claude:-.claude}/settings.json"
absolute .tmux.conf
xdg=$(login XDG_CONFIG_HOME); xdg=\${xdg%/}
[ -z "$xdg" ] || absolute "$xdg/tmux/tmux.conf"
absolute .config/tmux/tmux.conf`;

export async function findHostPaths(host: Host, name: string): Promise<HostPaths> {
  const output = await host.sh(LOOK, [name], { doing: 'find your files' });
  const [home = '', settings = '', ...confs] = output.split('\0').slice(0, -1);
  for (const path of [home, settings, ...confs])
    if (/\p{Cc}/u.test(path) || !path.startsWith('/'))
      throw new ThreadmuxError('home_unsafe', `${untrustedCode(path)} is not a usable path`, {
        hint: `Check HOME, CLAUDE_CONFIG_DIR and XDG_CONFIG_HOME on ${host.name}.`,
      });
  return { home, settings, confs: [...new Set(confs)] };
}

const REMOVE_HOME = `home=$1
set -- "$home"/outbox/*.*/[0-9]*
[ -e "$1" ] || shift
echo $#
rm -rf "$home" || exit 1
for=\${home%/*}
rmdir "$for" 2>/dev/null && rmdir "\${for%/*}" 2>/dev/null
exit 0`;

/** Returns the number of letters that were removed with it. */
export async function removeHome(host: Host, home: string): Promise<number> {
  return Number(await host.sh(REMOVE_HOME, [home], { doing: `remove ${home}` }));
}

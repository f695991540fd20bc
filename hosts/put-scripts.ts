// Sets up our home on a host: a few folders, the bell and our scripts, in one ssh call. A file is replaced only if it differs,
// and atomically.

import { ThreadmuxError } from '../core/errors.ts';
import { untrustedCode, untrustedText } from '../core/untrusted-text.ts';
import type { Host } from './host.ts';

interface PutScripts {
  /** The absolute path of our home there. */
  readonly home: string;
}

const HOME_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const FILE_NAME = /^(?:bin\/)?[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

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
  const args = Object.entries(files).flat();
  const output = await host.sh(SCRIPT, [name, ...args], { doing: 'install its scripts' });
  const [outcome, home = '', why = ''] = output.split('\0');
  if (outcome !== 'done')
    throw new ThreadmuxError('home_unsafe', `${host.name}: ${untrustedCode(home)} ${untrustedText(why)}`, {
      hint: `Check it on ${host.name}: it must be a folder that only you own.`,
    });
  return { home };
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
  shift 2
  [ $mode = 600 ] || [ -x "$file" ] && [ ! -h "$file" ] && printf %s "$text" | cmp -s - "$file" && continue
  new=$home/.new.$$
  # Use cat: it prints why a write failed, and the printf of some shells does not.
  if printf %s "$text" | cat > "$new" && chmod $mode "$new" && mv -f "$new" "$file"; then continue; fi
  rm -f "$new"
  exit 1
done
printf 'done\\0%s\\0%s\\0' "$home" "$HOME"`;

// Our home on another host: a folder, three scripts and a bell, put there the first time the host is used. Whole or not at
// all, and only what differs.

import { ThreadmuxError } from '../core/errors.ts';
import type { Host } from './host.ts';

export interface Equipped {
  /** Our home there, absolute. */
  readonly home: string;
  readonly userHome: string;
}

/** `files` by their path below the home; {HOME} in them becomes the home's absolute path. */
export async function equip(
  host: Host,
  name: string,
  files: Readonly<Record<string, string>>,
): Promise<Equipped> {
  if (!/^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$/.test(name))
    throw new ThreadmuxError('config_invalid', `${JSON.stringify(name)} cannot name a folder`);
  const entries = Object.entries(files);
  const said = await host.sh(EQUIP, [name, ...entries.map(([path]) => path)], {
    input: entries.map(([, text]) => `${Buffer.from(text).toString('base64')}\n`).join(''),
    doing: 'put its scripts there',
  });
  const [, home] = said.match(/^home (.+)$/m) ?? [];
  const [, userHome] = said.match(/^user (.+)$/m) ?? [];
  if (home !== undefined && userHome !== undefined) return { home, userHome };
  const [, why = 'it did not say why'] = said.match(/^refused (.+)$/m) ?? [];
  throw new ThreadmuxError('host_refused', `${host.name}: our folder there was refused: ${why}`, {
    hint: 'Move ~/.threadmux there out of the way, or make it yours alone.',
  });
}

/** Arguments: our name there, the paths of the files. stdin: their contents, a line of base64 each. */
const EQUIP = `name=$1; shift; umask 077
refuse() { echo "refused $1"; exit 0; }
h=$HOME/.threadmux/for/$name
case $h in *[\\'\\"\\\\]* | *'
'*) refuse "its path has a quote or a backslash in it";; esac
for d in "$HOME/.threadmux" "$HOME/.threadmux/for" "$h"; do
  [ -L "$d" ] && refuse "$d is a link"
  [ -d "$d" ] || mkdir "$d" 2>/dev/null || [ -d "$d" ] || refuse "$d cannot be made"
  [ -O "$d" ] || refuse "$d belongs to somebody else"
done
chmod 700 "$h"
for d in outbox answers status files bin; do [ -d "$h/$d" ] || mkdir "$h/$d" || exit 1; done
[ -p "$h/bell" ] || { rm -f "$h/bell"; mkfifo "$h/bell" || exit 1; }
for f in "$@"; do
  IFS= read -r line || exit 1
  new=$h/.new.$$
  printf '%s\\n' "$line" | base64 -d 2>/dev/null > "$new" || printf '%s\\n' "$line" | base64 -D > "$new" || exit 1
  s=$(printf '%s' "$h" | sed 's/[&|\\\\]/\\\\&/g'); sed "s|{HOME}|$s|g" "$new" > "$new.x" || exit 1
  case $f in bin/* | tmux-event) m=700;; *) m=600;; esac
  if cmp -s "$new.x" "$h/$f"; then rm -f "$new" "$new.x"; else chmod $m "$new.x" && mv "$new.x" "$h/$f" && rm -f "$new" || exit 1; fi
done
echo "home $h"; echo "user $HOME"`;

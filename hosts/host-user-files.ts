// Edits the user's files on another host: replaced atomically, at the targets of their links, and only if they have not changed
// since they were read. The scripts are POSIX sh; content is sent back as hex digits, because output is decoded as text.

import { ThreadmuxError } from '../core/errors.ts';
import { ownValue } from '../core/own-value.ts';
import { decodeUserFile, type UserFile } from '../home/user-owned-file.ts';
import type { Host } from './host.ts';

export interface HostFile extends UserFile {
  /** The checksum of the content; empty if the file does not exist. */
  readonly sum: string;
  /** Why the file cannot be changed. */
  readonly locked: string | undefined;
}

/** No real settings file is larger. */
const LARGEST_BYTES = 4 * 1024 * 1024;

/** `target_of` follows links and sets $target to the file itself. */
const TARGET = `target_of() {
  target=$1; hops=0
  while [ -h "$target" ] && [ $hops -lt 40 ]; do
    hops=$((hops + 1)); to=$(readlink "$target") || return
    case $to in /*) target=$to ;; *) target=\${target%/*}/$to ;; esac
  done
}
sum_of() { [ ! -f "$1" ] || cksum < "$1"; }
`;

const READ = `${TARGET}
for path; do
  target_of "$path"
  folder=\${target%/*}; while [ ! -d "$folder" ] && [ -n "$folder" ]; do folder=\${folder%/*}; done
  kind=file
  if [ -h "$path" ] && [ ! -e "$path" ]; then kind=dangling
  elif [ ! -e "$path" ]; then kind=missing
  elif [ ! -f "$path" ]; then kind=other
  elif [ ! -r "$path" ]; then kind=unreadable
  elif [ $(($(wc -c < "$path"))) -gt ${LARGEST_BYTES} ]; then kind=large; fi
  locked=
  [ -w "\${folder:-/}" ] || locked=folder
  case $kind in file) case $(ls -lnL "$path") in ??w*) ;; *) locked=file ;; esac ;; esac
  echo "$kind,$locked"
  case $kind in
    file) sum_of "$path"; od -An -v -tx1 < "$path" | tr -d ' \\n'; echo ;;
    *) echo; echo ;;
  esac
done`;

/** In the order of the paths. */
export async function readHostFiles(host: Host, paths: readonly string[]): Promise<readonly HostFile[]> {
  if (paths.length === 0) return [];
  const maxBytes = paths.length * (2 * LARGEST_BYTES + 4096); // in hexadecimal
  const printed = await host.sh(READ, paths, { doing: 'read your files', maxBytes });
  const lines = printed.split('\n', 3 * paths.length);
  return paths.map((path, index) => {
    const [state = '', sum = '', hex = ''] = lines.slice(3 * index);
    const [kind = '', locked] = state.split(',');
    const where = `${path} on ${host.name}`;
    const why = ownValue(REFUSED, kind);
    if (why !== undefined) throw refused(`${where} ${why}`);
    if (kind === 'missing') return { path, text: undefined, sum: '', locked: ownValue(LOCKED, locked ?? '') };
    const text = decodeUserFile(where, Buffer.from(hex, 'hex'));
    return { path, text, sum, locked: ownValue(LOCKED, locked ?? '') };
  });
}

const REFUSED: Readonly<Record<string, string>> = {
  dangling: 'is a link to a file that does not exist',
  other: 'is not a file',
  unreadable: 'cannot be read',
  large: 'is too large to be edited',
};

const LOCKED: Readonly<Record<string, string>> = {
  file: 'is read-only',
  folder: 'is in a folder that cannot be written',
};

/** Called for all files before the first change. */
export function checkHostFile(host: Host, { path, locked }: HostFile): void {
  if (locked !== undefined) throw refused(`${path} on ${host.name} ${locked}`);
}

/** cp keeps mode and owner. The size is checked because a lost connection ends stdin early. */
const WRITE = `${TARGET}
path=$1; was=$2; size=$3
umask 077
target_of "$path"
folder=\${target%/*}; made=
while [ ! -d "$folder" ] && [ -n "$folder" ]; do made=$folder; folder=\${folder%/*}; done
[ -z "$made" ] || mkdir -p "\${target%/*}" || exit 1
new=\${target%/*}/.threadmux.$$
trap 'rm -f "$new"' EXIT
trap 'exit 1' HUP INT TERM
if [ -n "$was" ]; then cp -p "$target" "$new" || exit 1; fi
cat > "$new" || exit 1
[ $(($(wc -c < "$new"))) -eq "$size" ] || { echo 'only a part of the content arrived' >&2; exit 1; }
if [ "$(sum_of "$target")" != "$was" ]; then echo changed; exit 0; fi
mv -f "$new" "$target" || exit 1
echo "made $made"`;

/** Returns the topmost folder that was created for it. */
export async function writeHostFile(host: Host, { path, sum }: HostFile, text: string): Promise<string | undefined> {
  const output = await host.sh(WRITE, [path, sum, String(Buffer.byteLength(text))], {
    doing: `write ${path}`,
    input: text,
  });
  checkUnchanged(host, path, output);
  return output.trimEnd().replace(/^made ?/, '') || undefined;
}

const REMOVE = `${TARGET}
path=$1; was=$2; made=$3
if [ "$(sum_of "$path")" != "$was" ]; then echo changed; exit 0; fi
rm -f "$path" || exit 1
[ -n "$made" ] || exit 0
folder=\${path%/*}
while case $folder in "$made" | "$made"/*) rmdir "$folder" 2>/dev/null ;; *) false ;; esac do folder=\${folder%/*}; done
exit 0`;

/** Removes a file that we created, and the folders that we created for it if they are empty. */
export async function removeHostFile(
  host: Host,
  { path, sum }: HostFile,
  madeFolder: string | undefined,
): Promise<void> {
  const args = [path, sum, madeFolder ?? ''];
  checkUnchanged(host, path, await host.sh(REMOVE, args, { doing: `remove ${path}` }));
}

function checkUnchanged(host: Host, path: string, output: string): void {
  if (output.trim() !== 'changed') return;
  throw new ThreadmuxError('busy', `${path} on ${host.name} was changed by another program at the same time`, {
    hint: 'Run this again.',
  });
}

function refused(message: string): ThreadmuxError {
  return new ThreadmuxError('home_unsafe', message, { hint: 'Correct this, then run the command again.' });
}

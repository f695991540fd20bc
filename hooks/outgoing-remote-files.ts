// `[ATTACH: path]` in a reply from another host. One script resolves and checks the path there, by the same rules as here. It
// enters the folder first, so that the checked file is the one that is read.

import { untrustedCode } from '../core/untrusted-text.ts';
import type { Host } from '../hosts/host.ts';
import type { OutgoingFiles } from './outgoing-files.ts';
import { attachMarkersIn, TOO_MANY } from './outgoing-files.ts';

interface RemoteRules {
  readonly host: Host;
  /** Our home there: only files in its `files/` are ever sent. */
  readonly home: string;
  readonly project: string;
  readonly cwd: string;
  /** A file that takes longer is refused: trying again would stop the session's other reports. */
  readonly lateMs?: number;
}

const MAX_FILES = 10;
const MAX_BYTES = 10 * 2 ** 20;
const MAX_TOTAL_BYTES = 24 * 2 ** 20;
const LATE_MS = 60_000;

export async function takeOutgoingRemoteFiles(text: string, rules: RemoteRules): Promise<OutgoingFiles> {
  const { kept, paths, tooMany } = attachMarkersIn(text);
  const files: { name: string; data: Uint8Array }[] = [];
  const refused: string[] = [];
  let room = MAX_TOTAL_BYTES;
  for (const path of paths) {
    const taken = files.length >= MAX_FILES ? TOO_MANY : await take(path, rules);
    if (typeof taken === 'string') refused.push(`${untrustedCode(path)}: ${taken}`);
    else if (taken.data.length > room) refused.push(`${untrustedCode(path)}: too much for one message`);
    else {
      room -= taken.data.length;
      files.push(taken);
    }
  }
  return { text: kept, files, refused: [...refused, ...tooMany] };
}

async function take(path: string, { host, home, project, cwd, lateMs = LATE_MS }: RemoteRules) {
  if (/[\0\n]/.test(path)) return 'not a path';
  const late = AbortSignal.timeout(lateMs);
  const options = { doing: 'read a file', timeoutMs: 2 * lateMs, signal: late };
  const output = await host.sh(SEND, [path, cwd, project, home, String(MAX_BYTES)], options).catch((error: unknown) => {
    // A lost connection fails earlier. A pipe that took the place of the file would never end.
    if (late.aborted) return 'no it could not be read in time';
    throw error;
  });
  const [first = '', ...rest] = output.split('\n');
  if (!first.startsWith('yes')) return untrustedCode(first.replace(/^no /, '') || 'it cannot be read');
  const data = Buffer.from(rest.join(''), 'base64');
  if (data.length > MAX_BYTES) return 'it is larger than 10 MiB';
  return { name: path.split('/').at(-1) ?? 'file', data };
}

/** Arguments: path, working directory, project, our home there, maximum of bytes. */
const SEND = `p=$1; project=$3; ours=$4; max=$5
no() { printf 'no %s\\n' "$1"; exit 0; }
real() { (cd -P -- "$1" 2>/dev/null && pwd -P); }
inside() { [ -n "$1" ] && case $here/ in "\${1%/}"/*) return 0;; esac; return 1; }
case $p in '~/'*) p=$HOME/\${p#'~/'};; /*) ;; *) p=$2/$p;; esac
n=\${p##*/}; d=\${p%/*}; [ -n "$d" ] || d=/
case $n in '' | . | ..) no 'there is no such file';; esac
unset CDPATH; cd -P -- "$d" 2>/dev/null || no 'there is no such file'
here=$(pwd -P)
for s in /proc /sys /dev; do inside "$s" && no 'it belongs to the system'; done
files=$(real "$ours/files"); root=$(real "$project")
if inside "$files"; then base=$files
else
  inside "$(real "\${ours%/for/*}")" && no 'it belongs to threadmux'
  inside "$root" || no 'it is outside the project'
  base=$root
fi
case \${here#"\${base%/}"}/$n in */.*) no 'hidden files are not sent';; esac
[ -e "./$n" ] || no 'there is no such file'
[ ! -L "./$n" ] && [ -f "./$n" ] || no 'it is not a plain file'
{ exec 4< "./$n"; } 2>/dev/null || no 'it cannot be read'
# One look at the name tells which file it is and how many names that file has: between two looks it could be replaced.
set -- $(ls -iLd /dev/fd/0 <&4); opened=$1; set -- $(ls -lnid "./$n")
[ -n "$opened" ] && [ "$1" = "$opened" ] && [ "./$n" -ef /dev/fd/4 ] || no 'it was replaced while it was read'
[ "$3" -le 1 ] || no 'it has a second name (a hard link)'
[ "$6" -le "$max" ] || no "it is larger than $((max / 1048576)) MiB"
echo yes; dd bs=65536 count=$((max / 65536 + 1)) <&4 2>/dev/null | base64`;

// `[ATTACH: path]` or `[DISCORD_ATTACH: path]` in a reply uploads that file, if it is inside the session's project or our files folder. The text of a reply
// is not trusted: links are resolved first, and a refused file is named with the reason.

import { realpathSync, statSync } from 'node:fs';
import { basename, dirname, isAbsolute, relative, resolve, sep } from 'node:path';
import { untrustedCode } from '../core/untrusted-text.ts';
import type { FileUpload } from '../discord/rest.ts';
import { isAnswering, type PathLook } from '../home/answering-path.ts';
import { readChecked, resolveOwnPath, tryTo } from '../home/checked-file.ts';
import type { Host } from '../hosts/host.ts';
import { attachMarkersIn, TOO_MANY } from './attach-markers.ts';

export interface OutgoingFiles {
  /** The reply without its attachment lines. */
  readonly text: string;
  readonly files: readonly FileUpload[];
  /** One text per file that was not attached, with the reason. */
  readonly refused: readonly string[];
}

export interface AttachRules {
  /** Folders that files may come from. */
  readonly roots: readonly string[];
  /** Our home: only files in its `files/` are ever sent. */
  readonly home: string;
  readonly cwd: string;
  readonly homeDir: string;
  readonly maxBytes?: number;
  readonly maxTotalBytes?: number;
  readonly look?: PathLook;
}

const MAX_FILES = 10;
const MAX_BYTES = 10 * 2 ** 20;
const MAX_TOTAL_BYTES = 24 * 2 ** 20;

export function takeOutgoingFiles(text: string, rules: AttachRules): Promise<OutgoingFiles> {
  const areAnswering = (paths: readonly string[]) =>
    isAnswering([...paths.flatMap((path) => wholePath(path, rules) ?? []), ...rules.roots], rules.look);
  const most = rules.maxTotalBytes ?? MAX_TOTAL_BYTES;
  return takeMarked(text, most, (path, room) => take(path, rules, room), areAnswering);
}

type Taken = FileUpload | string;

/** `take` gives the file, or why it is not attached. `room` is what is left for it in the message. */
async function takeMarked(
  text: string,
  mostBytes: number,
  take: (path: string, room: number) => Taken | Promise<Taken>,
  areAnswering: (paths: readonly string[]) => Promise<boolean> = async () => true,
): Promise<OutgoingFiles> {
  const { kept, paths, tooMany } = attachMarkersIn(text);
  const files: FileUpload[] = [];
  const refused: string[] = [];
  let room = mostBytes;
  const mayLook = paths.length === 0 || (await areAnswering(paths));
  for (const path of paths) {
    const why = !mayLook ? NO_ANSWER : files.length >= MAX_FILES ? TOO_MANY : undefined;
    const taken = why ?? (await take(path, room));
    if (typeof taken === 'string') refused.push(`${untrustedCode(path)}: ${taken}`);
    else {
      room -= taken.data.length;
      files.push(taken);
    }
  }
  return { text: kept, files, refused: [...refused, ...tooMany] };
}

const NO_ANSWER = 'its file system does not answer';
/** Undefined for what is no path. */
function wholePath(path: string, { cwd, homeDir }: AttachRules): string | undefined {
  if (path.includes('\0') || path.length > LONGEST_PATH) return undefined;
  return resolve(cwd, path.replace(/^~(?=\/)/, homeDir));
}

function take(path: string, rules: AttachRules, room: number): Taken {
  const absolute = wholePath(path, rules);
  if (absolute === undefined) return 'not a path';
  const real = tryTo(() => realpathSync(absolute));
  if (real === undefined) return 'there is no such file';
  const why = whyNot(real, rules);
  if (why !== undefined) return why;
  const read = readChecked(real, rules.maxBytes ?? MAX_BYTES, room);
  return typeof read === 'string' ? read : { name: basename(real), data: read };
}

/** With "/" as the project these would be inside it, and they expose secrets of processes. */
const OF_THE_SYSTEM = ['/proc', '/sys', '/dev'];

/** The worktree of a session is its project, although it is in our home. */
const SENT_FROM_HOME = /^(?:files|worktrees\/[^/.][^/]*\/[^/]+)\/./;

function whyNot(real: string, rules: AttachRules): string | undefined {
  if (OF_THE_SYSTEM.some((one) => sameFolderAbove(real, one) !== undefined)) return 'it belongs to the system';
  const home = sameFolderAbove(real, rules.home);
  if (home !== undefined && !SENT_FROM_HOME.test(relative(home, real))) return 'it belongs to threadmux';
  const root = rules.roots.flatMap((one) => resolveOwnPath(one) ?? []).find((one) => isInside(real, one));
  if (root === undefined) return 'it is outside the project';
  const isHidden = relative(root, real)
    .split(sep)
    .some((part) => part.startsWith('.'));
  return isHidden ? 'hidden files are not sent' : undefined;
}

/** The path of this folder above `real`: also another path, if it is mounted twice or the case of letters does not count. */
function sameFolderAbove(real: string, folder: string): string | undefined {
  const idOf = (path: string) => tryTo(() => statSync(path, { bigint: true }));
  const wanted = idOf(folder);
  for (let at = real; wanted !== undefined && at !== dirname(at); ) {
    at = dirname(at);
    const one = idOf(at);
    if (one?.dev === wanted.dev && one.ino === wanted.ino) return at;
  }
  return undefined;
}

function isInside(path: string, root: string): boolean {
  const below = relative(root, path);
  return below !== '' && !isAbsolute(below) && below.split(sep)[0] !== '..';
}

// `[ATTACH: path]` in a reply from another host. One script resolves and checks the path there, by the same rules as
// here. It enters the folder first, so that the checked file is the one that is read.

interface RemoteRules {
  readonly host: Host;
  /** Our home there: only files in its `files/` are ever sent. */
  readonly home: string;
  readonly project: string;
  readonly cwd: string;
  /** A file that takes longer is refused: trying again would stop the session's other reports. */
  readonly lateMs?: number;
}

const LATE_MS = 60_000;
const LONGEST_PATH = 4_096;

export function takeOutgoingRemoteFiles(text: string, rules: RemoteRules): Promise<OutgoingFiles> {
  return takeMarked(text, MAX_TOTAL_BYTES, (path, room) => takeRemote(path, rules, room));
}

async function takeRemote(
  path: string,
  { host, home, project, cwd, lateMs = LATE_MS }: RemoteRules,
  room: number,
): Promise<Taken> {
  // The system takes no longer argument either, and the reply would be tried again for ever.
  if (/[\0\n]/.test(path) || path.length > LONGEST_PATH) return 'not a path';
  const late = AbortSignal.timeout(lateMs);
  const options = { doing: 'read a file', timeoutMs: 2 * lateMs, signal: late, maxBytes: 1.5 * MAX_BYTES };
  const output = await host.sh(SEND, [path, cwd, project, home, String(MAX_BYTES)], options).catch((error: unknown) => {
    // A lost connection fails earlier. A pipe that took the place of the file would never end.
    if (late.aborted) return 'no it could not be read in time';
    throw error;
  });
  const [first = ''] = output.split('\n', 1);
  if (!first.startsWith('yes')) return untrustedCode(first.replace(/^no /, '') || 'it cannot be read');
  const data = Buffer.from(output.slice(first.length), 'base64');
  if (data.length > MAX_BYTES) return 'it is larger than 10 MiB';
  if (data.length > room) return 'too much for one message';
  return { name: path.split('/').at(-1) ?? 'file', data };
}

/** Arguments: path, working directory, project, our home there, maximum of bytes. */
const SEND = `p=$1; project=$3; ours=$4; max=$5
no() { printf 'no %s\\n' "$1"; exit 0; }
real() { (cd -P -- "$1" 2>/dev/null && pwd -P); }
inside() { [ -n "$1" ] && case $here/ in "\${1%/}"/*) return 0;; esac; return 1; }
# The path of this folder above us: also another path, if it is mounted twice.
above() { at=$here; until [ "$at/." -ef "$1/." ]; do [ -n "$at" ] || return 1; at=\${at%/*}; done; }
# Like real, but follows no link of another user: who can write the folder above a project could replace it by one.
own_real() (
  rest=$1; way=; links=0; me=$(id -u); set -f
  while [ -n "$rest" ]; do
    part=\${rest%%/*}; case $rest in */*) rest=\${rest#*/} ;; *) rest= ;; esac
    case $part in '' | .) continue ;; ..) way=\${way%/*}; continue ;; esac
    way=$way/$part; [ -L "$way" ] || continue
    set -- $(LC_ALL=C ls -ldn "$way"); case $3 in 0 | "$me") ;; *) return 1 ;; esac
    links=$((links + 1)); [ $links -le 40 ] && to=$(readlink "$way") || return 1
    case $to in /*) way= ;; *) way=\${way%/*} ;; esac; rest=$to/$rest
  done
  printf '%s\\n' "\${way:-/}"
)
case $p in '~/'*) p=$HOME/\${p#'~/'};; /*) ;; *) p=$2/$p;; esac
n=\${p##*/}; d=\${p%/*}; [ -n "$d" ] || d=/
case $n in '' | . | ..) no 'there is no such file';; esac
unset CDPATH; cd -P -- "$d" 2>/dev/null || no 'there is no such file'
here=$(pwd -P)
for s in /proc /sys /dev; do above "$s" && no 'it belongs to the system'; done
files=$(real "$ours/files"); root=$(own_real "$project")
if inside "$files"; then base=$files
else
  above "\${ours%/for/*}" && case \${here#"$at"}/ in /worktrees/[!.]*/?*/*) ;; *) no 'it belongs to threadmux' ;; esac
  inside "$root" || no 'it is outside the project'
  base=$root
fi
case \${here#"\${base%/}"}/$n in */.*) no 'hidden files are not sent';; esac
[ -e "./$n" ] || no 'there is no such file'
[ ! -L "./$n" ] && [ -f "./$n" ] || no 'it is not a plain file'
{ exec 4< "./$n"; } 2>/dev/null || no 'it cannot be read'
set -- $(ls -iLd /dev/fd/0 <&4); opened=$1
# One look at the name tells which file it is and how many names that file has: between two looks it could be replaced.
look() {
  set -- $(ls -lnid "./$n"); size=$6
  [ -n "$opened" ] && [ "$1" = "$opened" ] && [ ! -L "./$n" ] && [ "./$n" -ef /dev/fd/4 ] || no 'it was replaced while it was read'
  [ "$3" -le 1 ] || no 'it has a second name (a hard link)'
}
look
# While a name is replaced or removed, the file is already counted without it, and the name still leads to it. Reading the folder waits
# until that is over.
[ -n "$(ls -a . 2>/dev/null | head -n 1)" ] || no 'its folder cannot be read'
look
[ "$size" -le "$max" ] || no "it is larger than $((max / 1048576)) MiB"
echo yes; dd bs=65536 count=$((max / 65536 + 1)) <&4 2>/dev/null | base64`;

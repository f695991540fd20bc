// Inspects our home on another host without changing it: the scripts, the bell, the waiting letters, the free disk space, and
// whether an earlier version left a program and a token there.

import type { Host } from './host.ts';
import { OLD_HOME } from './host-paths.ts';

export interface HostHome {
  readonly exists: boolean;
  readonly bell: 'pipe' | 'missing' | 'other';
  readonly letters: number;
  /** Free kilobytes on the disk of the home; undefined if unknown. */
  readonly freeKb: number | undefined;
  /** The requested files that are missing or differ. */
  readonly outdated: readonly string[];
  /** The home of an earlier version, with a program and a token. */
  readonly old: string | undefined;
}

/** stdin: the expected checksums, one per line, in the order of the file names in the arguments. */
const LOOK = `home=$1; shift
${OLD_HOME}
say() { printf '%s %s\\n' "$1" "$2"; }
[ -z "$old" ] || say old "$old"
[ -d "$home" ] && say home yes
if [ -p "$home/bell" ]; then say bell pipe; elif [ -e "$home/bell" ]; then say bell other; fi
count=0
for letter in "$home"/outbox/*.*/[0-9]*; do [ ! -f "$letter" ] || count=$((count + 1)); done
say letters $count
df -Pk "$HOME" 2>/dev/null | awk 'NR == 2 { print "free", $4 }'
for file; do
  IFS= read -r sum
  [ -f "$home/$file" ] && [ "$(cksum < "$home/$file")" = "$sum" ] || say outdated "$file"
done
exit 0`;

export async function probeHome(host: Host, home: string, files: Readonly<Record<string, string>>): Promise<HostHome> {
  const sums = Object.values(files).map((text) => `${cksum(Buffer.from(text))}\n`);
  const output = await host.sh(LOOK, [home, ...Object.keys(files)], {
    doing: 'inspect its home',
    input: sums.join(''),
  });
  const all = (key: string) =>
    output
      .split('\n')
      .filter((line) => line.startsWith(`${key} `))
      .map((line) => line.slice(key.length + 1));
  const bell = all('bell')[0];
  const free = Number(all('free')[0] ?? Number.NaN);
  return {
    exists: all('home').length > 0,
    bell: bell === 'pipe' || bell === 'other' ? bell : 'missing',
    letters: Number(all('letters')[0] ?? 0),
    freeKb: Number.isFinite(free) ? free : undefined,
    outdated: all('outdated'),
    old: all('old')[0],
  };
}

/** The output of the POSIX program `cksum`: a CRC of the content followed by its length. */
export function cksum(bytes: Uint8Array): string {
  let crc = 0;
  const add = (byte: number) => {
    crc ^= byte << 24;
    for (let bit = 0; bit < 8; bit++) crc = crc < 0 ? (crc << 1) ^ 0x04c11db7 : crc << 1;
  };
  for (const byte of bytes) add(byte);
  for (let length = bytes.length; length > 0; length = Math.floor(length / 256)) add(length % 256);
  return `${~crc >>> 0} ${bytes.length}`;
}

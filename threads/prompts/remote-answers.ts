// Gives an answer to a hook that waits on another host, in one exec: the same file and the same claim as here.

import type { Host } from '../../hosts/host.ts';

/** Arguments: the folder of answers, the id, the waiting process. stdin: the answer. */
const GIVE = `d=$1; id=$2; asker=$3; umask 077
[ -e "$d/$id.taken" ] && { cat > /dev/null; echo taken; exit 0; }
cat > "$d/.$id.$$" && mv "$d/.$id.$$" "$d/$id" || exit 1
nap() { sleep "$1" 2>/dev/null || sleep 1; }
i=0; while [ $i -lt 80 ]; do
  [ -e "$d/$id.taken" ] && { echo taken; exit 0; }
  if [ $((i % 10)) -eq 0 ]; then kill -0 "$asker" 2>/dev/null || break; [ -p "$d/$id.bell" ] && echo 1<> "$d/$id.bell"; fi
  if [ $i -lt 10 ]; then nap 0.02; else nap 0.1; fi
  i=$((i + 1))
done
mv "$d/$id" "$d/$id.withdrawn" 2>/dev/null && { rm -f "$d/$id.withdrawn"; echo gone; exit 0; }
echo taken`;

const RELEASE = `d=$1; id=$2; umask 077; [ -e "$d/$id.taken" ] && exit 0
: > "$d/$id"; [ -p "$d/$id.bell" ] && echo 1<> "$d/$id.bell"; exit 0`;

const CLEAR = `d=$1; id=$2; asker=$3; rm -f "$d/$id" "$d/$id.taken"
kill -0 "$asker" 2>/dev/null || rm -f "$d/$id.bell"; exit 0`;

const WAITS = `kill -0 "$1" 2>/dev/null && echo yes || echo no`;

export function remoteAnswers(host: Host, home: () => Promise<string>, asker: number) {
  const folder = async () => `${await home()}/answers`;
  const waits = String(asker);
  return {
    async give(id: string, answer: string): Promise<'taken' | 'gone'> {
      const call = { input: answer, doing: 'give your answer', timeoutMs: 30_000 };
      const said = await host.sh(GIVE, [await folder(), id, waits], call);
      return said.trim() === 'taken' ? 'taken' : 'gone';
    },
    async release(id: string): Promise<void> {
      await host.sh(RELEASE, [await folder(), id], { doing: 'let the hook leave' });
    },
    async clear(id: string): Promise<void> {
      await host.sh(CLEAR, [await folder(), id, waits], { doing: 'clear an answer' });
    },
    isWaiting: async (_id: string): Promise<boolean> =>
      (await host.sh(WAITS, [waits], { doing: 'look at a hook' })).trim() === 'yes',
  };
}

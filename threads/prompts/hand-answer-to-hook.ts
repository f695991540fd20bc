// Gives an answer to the hook that waits for it: a file that the hook claims by renaming it. The bell wakes the hook; a
// bell that nobody reads means that the hook is gone.

import { closeSync, constants, existsSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../../core/log.ts';
import { writeWhole } from '../../home/atomic-write.ts';
import type { Home } from '../../home/home.ts';
import type { Host } from '../../hosts/host.ts';
import type { HostList } from '../../tmux/host-list.ts';
import type { RemoteHosts } from '../remote-hosts.ts';

export interface HookAnswers {
  /** 'taken': the hook has it. 'gone': nobody waits, and nobody will take it. Safe to repeat. */
  give(id: string, answer: string): Promise<'taken' | 'gone'>;
  /** Lets the hook exit without an answer. */
  release(id: string): void;
  isWaiting(id: string): boolean;
  /** Removes what is left of a prompt that is over. */
  clear(id: string): void;
}

const LOOK_MS = 10;
const RING_AGAIN_MS = 500;
const TAKEN_WITHIN_MS = 8_000;

export function createHookAnswers(home: Home): HookAnswers {
  const path = (id: string, suffix = '') => join(home.folder('answers'), `${id}${suffix}`);

  /** False if nobody listens. */
  function ring(id: string): boolean {
    try {
      const bell = openSync(path(id, '.bell'), constants.O_WRONLY | constants.O_NONBLOCK);
      try {
        writeSync(bell, '\n');
      } finally {
        closeSync(bell);
      }
      return true;
    } catch (error) {
      // EAGAIN: the bell is full of rings that the hook has not read yet.
      return (error as NodeJS.ErrnoException).code === 'EAGAIN';
    }
  }

  function put(id: string, answer: string): void {
    try {
      if (!existsSync(path(id))) writeWhole(path(id), answer);
    } catch {
      // A full disk: an answer is tried again, and without one the hook ends when the agent does.
    }
  }

  return {
    isWaiting: ring,
    async give(id, answer) {
      let rungAt = 0;
      for (const began = Date.now(); Date.now() - began < TAKEN_WITHIN_MS; await sleep(LOOK_MS)) {
        if (existsSync(path(id, '.taken'))) return 'taken';
        if (Date.now() - rungAt < RING_AGAIN_MS) continue;
        rungAt = Date.now();
        put(id, answer);
        if (!ring(id)) break;
      }
      withdraw(path(id));
      return existsSync(path(id, '.taken')) ? 'taken' : 'gone';
    },
    release(id) {
      if (existsSync(path(id, '.taken')) || !ring(id)) return;
      put(id, '');
      ring(id);
    },
    clear(id) {
      // A slow hook has not taken its answer yet, or has not read it yet. The sweep removes what is left of it.
      if (ring(id)) return;
      for (const suffix of ['', '.taken', '.withdrawn']) rmSync(path(id, suffix), { force: true });
      if (!ring(id)) rmSync(path(id, '.bell'), { force: true });
    },
  };
}

/** The same rename that the hook uses: only one of the two succeeds. */
function withdraw(path: string): void {
  try {
    renameSync(path, `${path}.withdrawn`);
    rmSync(`${path}.withdrawn`, { force: true });
  } catch {
    // The hook has taken it, or there was no room to write it.
  }
}

// Gives an answer to a hook that waits on another host, in one exec: the same file and the same claim as here. Whether
// it still waits is asked now and then, and remembered.

/** Arguments: our home there, the id, the waiting process, the size of the answer. stdin: the answer. */
const GIVE = `d=$1/answers; id=$2; asker=$3; umask 077
[ -e "$d/$id.taken" ] && { cat > /dev/null; echo taken; exit 0; }
new=$d/.$id.$$
cat > "$new" || { rm -f "$new"; exit 1; }
[ $(($(wc -c < "$new"))) -eq "$4" ] || { rm -f "$new"; echo 'only a part of it arrived' >&2; exit 1; }
mv "$new" "$d/$id" || { rm -f "$new"; exit 1; }
nap() { sleep "$1" 2>/dev/null || sleep 1; }
i=0; while [ $i -lt 80 ]; do
  [ -e "$d/$id.taken" ] && { echo taken; exit 0; }
  if [ $((i % 10)) -eq 0 ]; then kill -0 "$asker" 2>/dev/null || break; [ -p "$d/$id.bell" ] && echo 1<> "$d/$id.bell"; fi
  if [ $i -lt 10 ]; then nap 0.02; else nap 0.1; fi
  i=$((i + 1))
done
mv "$d/$id" "$d/$id.withdrawn" 2>/dev/null && rm -f "$d/$id.withdrawn"
if [ -e "$d/$id.taken" ]; then echo taken; else echo gone; fi`;

const RELEASE = `d=$1/answers; id=$2; umask 077; { [ -e "$d/$id.taken" ] || [ ! -p "$d/$id.bell" ]; } && exit 0
: > "$d/$id"; echo 1<> "$d/$id.bell"; exit 0`;

/** A slow hook has not taken its answer yet, or has not read it yet. */
const CLEAR = `d=$1/answers; id=$2; rm -f "$d/$id.withdrawn"
i=0; while kill -0 "$3" 2>/dev/null; do [ $i -lt 10 ] || exit 0; sleep 1; i=$((i + 1)); done
rm -f "$d/$id" "$d/$id.taken" "$d/$id.bell"; exit 0`;

const ASK_EVERY_MS = 5_000;
/** What nobody waits for, per host: one that sends thousands of prompts would make us start as many processes. */
const MOST_LATER = 100;

interface RemoteAnswersOptions {
  readonly host: Host;
  readonly home: () => Promise<string>;
  readonly asker: number;
  readonly log: Log;
  /** Of all answers for this host. */
  readonly running: { later: number };
}

function remoteAnswers({ host, home, asker, log, running }: RemoteAnswersOptions): HookAnswers {
  let waits = true;
  let askedAt = Date.now();
  const run = async (script: string, id: string, doing: string, input = '') =>
    host.sh(script, [await home(), id, String(asker), String(Buffer.byteLength(input))], {
      doing,
      timeoutMs: 30_000,
      input,
    });
  const later = (act: () => Promise<unknown>) => {
    if (running.later >= MOST_LATER) return;
    running.later++;
    act()
      .catch((error: Error) => log.info('a hook elsewhere', { because: error.message }))
      .finally(() => running.later--);
  };
  return {
    async give(id, answer) {
      return (await run(GIVE, id, 'give your answer', answer)).trim() === 'taken' ? 'taken' : 'gone';
    },
    release: (id) => later(() => run(RELEASE, id, 'let a hook leave')),
    clear: (id) => later(() => run(CLEAR, id, 'clear an answer')),
    isWaiting() {
      if (Date.now() - askedAt > ASK_EVERY_MS) {
        askedAt = Date.now();
        const look = 'kill -0 "$1" 2>/dev/null && echo yes || echo no';
        later(async () => {
          waits = (await host.sh(look, [String(asker)], { doing: 'look at a hook' })).trim() === 'yes';
        });
      }
      return waits;
    },
  };
}

/** Answers to hooks of all hosts. */
interface AnswersOfHosts extends HookAnswers {
  /** Which host the hook waits on; this machine if it is never told. */
  from(id: string, host: string, asker: number): void;
  /** Lets the hook exit, and nothing more is asked or said about it. */
  forget(id: string): void;
}

export function withRemoteAnswers(
  here: HookAnswers,
  parts: { readonly hosts: HostList; readonly remote: RemoteHosts; readonly log: Log },
): AnswersOfHosts {
  const { hosts, remote, log } = parts;
  const others = new Map<string, HookAnswers>();
  const running = new Map<string, { later: number }>();
  const of = (id: string) => others.get(id) ?? here;
  return {
    from(id, host, asker) {
      if (host === '' || hosts.isLocal(host)) return;
      const shared = running.get(host) ?? { later: 0 };
      running.set(host, shared);
      const home = () => remote.home(host);
      others.set(id, remoteAnswers({ host: hosts.get(host), home, asker, log, running: shared }));
    },
    forget(id) {
      of(id).release(id);
      others.delete(id);
    },
    give: (id, answer) => of(id).give(id, answer),
    release: (id) => of(id).release(id),
    isWaiting: (id) => of(id).isWaiting(id),
    clear(id) {
      of(id).clear(id);
      others.delete(id);
    },
  };
}

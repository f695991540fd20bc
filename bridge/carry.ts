// Carries an answer to the hook that waits for it, on its own host: as a file here, through stdin
// over ssh elsewhere. The hook confirms by taking the file away.

import { existsSync, rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ThreadRef } from '../discord/threads.ts';
import { type AnswerFile, answerName, putAnswer } from '../home/answer-file.ts';
import type { Home } from '../home/home.ts';
import { openPrompts } from '../home/open-prompt.ts';
import type { Hosts } from './hosts.ts';
import type { Panes } from './panes.ts';

/** Left: nobody waits for it any more. */
export type Carried = 'taken' | 'left';

export type Carry = (thread: ThreadRef, order: string, answer: AnswerFile) => Promise<Carried>;

const TAKEN_WITHIN_MS = 4_000;

/** Asks first whether somebody waits: an answer that lies about would be found by nobody. */
const REMOTE = `umask 077; h="\${THREADMUX_HOME:-$HOME/.threadmux}"
[ -e "$h/questions/$1.json" ] || { cat > /dev/null; echo left; exit 0; }
mkdir -p "$h/answers" && cat > "$h/answers/.$2.$$" && mv "$h/answers/.$2.$$" "$h/answers/$2" || exit 1
i=0; while [ -e "$h/answers/$2" ]; do i=$((i + 1)); [ $i -lt 40 ] || { rm -f "$h/answers/$2"; echo left; exit 0; }; sleep 0.1 2>/dev/null || sleep 1; done
echo taken`;

export function createCarry(home: Home, hosts: Hosts, panes: Panes): Carry {
  async function here(order: string, answer: AnswerFile): Promise<Carried> {
    if (!openPrompts(home).some(({ id }) => id === answer.prompt)) return 'left';
    const path = putAnswer(home, order, answer);
    for (const deadline = Date.now() + TAKEN_WITHIN_MS; Date.now() < deadline; await sleep(25))
      if (!existsSync(path)) return 'taken';
    rmSync(path, { force: true });
    return 'left';
  }

  return async (thread, order, answer) => {
    const host = panes.hostOf(thread);
    if (hosts.isLocal(host)) return here(order, answer);
    const said = await hosts
      .get(host)
      .sh(REMOTE, [answer.prompt, answerName(answer.prompt, order)], {
        input: JSON.stringify(answer),
        doing: 'carry your answer',
        timeoutMs: 15_000,
      });
    return said.trim() === 'taken' ? 'taken' : 'left';
  };
}

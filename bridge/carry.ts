// Carries an answer to the hook that waits for it, on its own host: as a file here, through stdin
// over ssh elsewhere. The hook confirms by taking the file away, or refuses by renaming it.

import { setTimeout as sleep } from 'node:timers/promises';
import { ThreadmuxError } from '../core/errors.ts';
import type { ThreadRef } from '../discord/threads.ts';
import {
  type AnswerFile,
  answerFate,
  answerName,
  clearOldAnswers,
  putAnswer,
  withdrawAnswer,
} from '../home/answer-file.ts';
import type { Home } from '../home/home.ts';
import { isPromptOpen } from '../home/open-prompt.ts';
import type { Hosts } from './hosts.ts';
import type { Panes } from './panes.ts';

export type Carried =
  | 'taken'
  /** The hook has read it, and it is no answer to what is asked now. */
  | 'refused'
  /** Nobody waits for it any more. */
  | 'left';

/** Rejects if it did not get there and may be tried again. */
export type Carry = (thread: ThreadRef, order: string, answer: AnswerFile) => Promise<Carried>;

const TAKEN_WITHIN_MS = 8_000;
const OLD_MS = 60_000;

/** Asks first whether somebody waits: an answer that lies about would be found by nobody. */
const REMOTE = `umask 077; h="\${THREADMUX_HOME:-$HOME/.threadmux}"; q="$h/questions/$1.json"; a="$h/answers/$2"
waits() { p=$(sed -n 's/.*"pid":\\([0-9]*\\).*/\\1/p' "$q" 2>/dev/null); [ -n "$p" ] && kill -0 "$p" 2>/dev/null; }
waits || { cat > /dev/null; echo left; exit 0; }
mkdir -p "$h/answers" && cat > "$h/answers/.$2.$$" && mv "$h/answers/.$2.$$" "$a" || exit 1
i=0; while [ -e "$a" ]; do
  waits || { rm "$a" 2>/dev/null && { echo left; exit 0; }; }
  i=$((i + 1)); [ $i -lt 80 ] || { rm "$a" 2>/dev/null && { echo late; exit 0; }; }
  sleep 0.1 2>/dev/null || sleep 1
done
if [ -e "$a.refused" ]; then rm -f "$a.refused"; echo refused; else echo taken; fi`;

export function createCarry(home: Home, hosts: Hosts, panes: Panes): Carry {
  clearOldAnswers(home, OLD_MS);

  async function here(order: string, answer: AnswerFile): Promise<Carried> {
    const isOpen = () => isPromptOpen(home, answer.prompt);
    if (!isOpen()) return 'left';
    const path = putAnswer(home, order, answer);
    for (const deadline = Date.now() + TAKEN_WITHIN_MS; Date.now() < deadline; await sleep(25)) {
      const fate = answerFate(path);
      if (fate !== undefined) return fate;
      if (!isOpen() && withdrawAnswer(path)) return 'left';
    }
    if (withdrawAnswer(path)) throw late();
    return answerFate(path) ?? 'left';
  }

  return async (thread, order, answer) => {
    const host = panes.hostOf(thread);
    if (hosts.isLocal(host)) return here(order, answer);
    const said = await hosts
      .get(host)
      .sh(REMOTE, [answer.prompt, answerName(answer.prompt, order)], {
        input: JSON.stringify(answer),
        doing: 'carry your answer',
        timeoutMs: 20_000,
      });
    const fate = said.trim();
    if (fate === 'late') throw late();
    return fate === 'taken' || fate === 'refused' ? fate : 'left';
  };
}

function late(): ThreadmuxError {
  return new ThreadmuxError('busy', 'the hook that waits for it did not take it in time');
}

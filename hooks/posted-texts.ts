// Remembers which texts of Claude were posted, by their ids in the transcript. The ids stay the same after renames, restarts
// and a second Stop in one turn.

import { join } from 'node:path';
import * as z from 'zod';
import type { Home } from '../home/home.ts';
import { readJson, writeBestEffort } from '../home/whole-file.ts';

const schema = z.record(
  z.string(),
  z.object({
    prompt: z.string(),
    texts: z.array(z.string()),
    turn: z.string().default(''),
  }),
);

type Entry = z.output<typeof schema>[string];

export interface PostedTexts {
  has(claudeSession: string, text: string): boolean;
  /** Whether anything was posted for this prompt. */
  answered(claudeSession: string, prompt: string): boolean;
  add(claudeSession: string, prompt: string, texts: readonly string[]): void;
  /** A turn begins. Its id is used if Stop does not contain the prompt's id. */
  begin(claudeSession: string, turn: string): void;
  turnOf(claudeSession: string): string;
}

const SESSIONS_KEPT = 200;
const TEXTS_KEPT = 400;

export function openPostedTexts(home: Home): PostedTexts {
  const path = join(home.folder('state'), 'shown.json');
  const sessions = new Map(Object.entries(readJson(path, schema) ?? {}));

  function put(session: string, to: Partial<Entry>): void {
    const before = sessions.get(session) ?? { prompt: '', texts: [], turn: '' };
    sessions.delete(session);
    sessions.set(session, { ...before, ...to });
    for (const oldest of sessions.keys()) {
      if (sessions.size <= SESSIONS_KEPT) break;
      sessions.delete(oldest);
    }
    writeBestEffort(path, Object.fromEntries(sessions));
  }

  return {
    has: (session, text) => sessions.get(session)?.texts.includes(text) ?? false,
    answered: (session, prompt) => prompt !== '' && sessions.get(session)?.prompt === prompt,
    add(session, prompt, texts) {
      const before = sessions.get(session)?.texts ?? [];
      put(session, { prompt, texts: [...before, ...texts].slice(-TEXTS_KEPT) });
    },
    begin: (session, turn) => put(session, { turn }),
    turnOf: (session) => sessions.get(session)?.turn ?? '',
  };
}

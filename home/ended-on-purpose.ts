// Marks of `threadmux kill` and `threadmux stop`: this session was ended on purpose. The bridge takes them, so that it does not start a declared
// session again; also later, if it is not running now.

import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { readJson, removeBestEffort, tryBestEffort, writeJson } from './atomic-write.ts';
import { tryTo } from './checked-file.ts';
import type { Home } from './home.ts';

const markSchema = z.object({ serverPid: z.number(), sessionId: z.string() });
type EndMark = Readonly<z.output<typeof markSchema>>;

interface MarkedSession {
  readonly host: string;
  readonly name: string;
}

export function putEndMark(home: Home, session: MarkedSession, mark: EndMark): void {
  const path = pathOf(home, session);
  tryBestEffort(path, () => {
    mkdirSync(folderOf(home), { recursive: true, mode: 0o700 });
    writeJson(path, mark);
  });
}

/** Mostly there are none, and then none has to be looked for. */
export function hasEndMarks(home: Home): boolean {
  return (tryTo(() => readdirSync(folderOf(home))) ?? []).length > 0;
}

export function readEndMark(home: Home, session: MarkedSession): EndMark | undefined {
  return readJson(pathOf(home, session), markSchema);
}

export function removeEndMark(home: Home, session: MarkedSession): void {
  if (readEndMark(home, session) !== undefined) removeBestEffort(pathOf(home, session));
}

const folderOf = (home: Home) => join(home.folder('state'), 'ended');

/** A name of tmux may have any characters. */
function pathOf(home: Home, { host, name }: MarkedSession): string {
  const hash = createHash('sha256').update(`${host} ${name}`).digest('hex').slice(0, 32);
  return join(folderOf(home), `${hash}.json`);
}

// The recorded screens of an agent, with what tmux said about the pane at the same moment. test/agents/lab/record-screens.ts
// records them; the first word of a name says what must be concluded.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PaneFacts } from '../../agents/screen.ts';

export interface RecordedScreen {
  /** "opencode-1.18.33/80x24/empty-fresh" */
  readonly path: string;
  readonly name: string;
  readonly ansi: string;
  readonly facts: PaneFacts;
}

const SCREENS = join(import.meta.dirname, '../fixtures/screens');

/** `agentCommand`: the name of its program, as tmux calls it. */
export function recordedScreens(folder: string, agentCommand: string): readonly RecordedScreen[] {
  return readdirSync(join(SCREENS, folder)).flatMap((size) => {
    const lines = readFileSync(join(SCREENS, folder, size, 'facts.tsv'), 'utf8')
      .trimEnd()
      .split('\n');
    return lines.map((line) => {
      const [name = '', x, y, width, height, dead, mode, command = '', title = '', shown] = line.split('\t');
      const facts = {
        ...{ cursorX: Number(x), cursorY: Number(y), cursorShown: shown === '1' },
        ...{ width: Number(width), height: Number(height), paneDead: dead === '1', inMode: mode === '1' },
        ...{ currentCommand: command, agentCommand, title },
      };
      const path = join(folder, size, name);
      return { path, name, ansi: readFileSync(join(SCREENS, `${path}.ansi`), 'utf8'), facts };
    });
  });
}

// The recorded screens of an agent, with what tmux said about the pane at the same moment. test/agents/lab/record-screens.ts
// records them; the first word of a name says what must be concluded.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { driverOf } from '../../agents/list.ts';
import type { AgentScreen, PaneFacts } from '../../agents/screen.ts';

export interface RecordedScreen {
  /** "opencode-1.18.33/80x24/empty-fresh" */
  readonly path: string;
  readonly name: string;
  readonly ansi: string;
  readonly facts: PaneFacts;
}

const SCREENS = join(import.meta.dirname, '../fixtures/screens');

/** `agentCommand`: the name of its program, as tmux calls it. */
function recordedScreens(folder: string, agentCommand: string): readonly RecordedScreen[] {
  return readdirSync(join(SCREENS, folder)).flatMap((size) => {
    const lines = readFileSync(join(SCREENS, folder, size, 'facts.tsv'), 'utf8')
      .trimEnd()
      .split('\n');
    return lines.map((line) => {
      const [name = '', x, y, width, height, dead, mode, command = '', title = '', shown] = line.split('\t');
      const facts = {
        cursorX: Number(x),
        cursorY: Number(y),
        cursorShown: shown === '1',
        width: Number(width),
        height: Number(height),
        paneDead: dead === '1',
        inMode: mode === '1',
        currentCommand: command,
        agentCommand,
        title,
      };
      const path = join(folder, size, name);
      return { path, name, ansi: readFileSync(join(SCREENS, `${path}.ansi`), 'utf8'), facts };
    });
  });
}

/** The program of each agent, as tmux calls it, and its folders. */
const RECORDED = {
  claude: ['claude', '2.1.325'],
  codex: ['node', 'codex-0.166.0', 'codex-0.169.0'],
  gemini: ['node', 'gemini-0.61.0'],
  opencode: ['opencode', 'opencode-1.18.33'],
  pi: ['pi', 'pi-0.73.1'],
} as const;

export type RecordedAgent = keyof typeof RECORDED;

export function screensOf(agent: RecordedAgent) {
  const [program, ...folders] = RECORDED[agent];
  const recorded = folders.flatMap((folder) => recordedScreens(folder, program));
  const find = (name: string, size = '120x40'): RecordedScreen => {
    const found = recorded.find(({ path }) => path.endsWith(`${size}/${name}`));
    if (found === undefined) throw new Error(`${name} is not recorded`);
    return found;
  };
  const { read } = driverOf(agent).screen;
  return {
    recorded,
    find,
    read,
    /** What is concluded from this screen. */
    readNamed(name: string, size?: string): AgentScreen {
      const { ansi, facts } = find(name, size);
      return read(ansi, facts);
    },
  };
}

/** Whether the name says that a text may be typed. */
export function isSafeScreen({ name }: RecordedScreen): boolean {
  return /^(?:empty|busy)-/.test(name) && !name.includes('draft');
}

export function withoutColours({ ansi }: RecordedScreen): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: taking the colours off
  return ansi.replace(/\u001b\[[\d;]*m/g, '');
}

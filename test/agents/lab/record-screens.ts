// Records what an agent's pane shows in every state that we know, for test/fixtures/screens/<agent>-<version>/<columns>x<rows>/:
// <state>.ansi is the output of `capture-pane -e -p`, facts.tsv what tmux says about the pane at that moment.
//   AGENT_LAB_RECORD=opencode AGENT_LAB_ONLY=opencode npx vitest run --config vitest.agents.config.ts
// The first word of a state says what must be concluded: empty (safe to type), draft, busy, dialog, menu, mode, view, shell.

import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { codex } from '../../../agents/codex/driver.ts';
import type { AgentDriver } from '../../../agents/driver.ts';
import { gemini } from '../../../agents/gemini/driver.ts';
import { opencode } from '../../../agents/opencode/driver.ts';
import { pi } from '../../../agents/pi/driver.ts';
import { type AgentPane, startAgentPane } from './agent-pane.ts';
import { agentPackage, type LabAgentName } from './packages.ts';
import { CODEX_STATES, GEMINI_STATES, OPENCODE_STATES, PI_STATES, type StateRow } from './record-states.ts';

const SIZES = process.env.AGENT_LAB_SIZES?.split(',') ?? ['80x24', '120x40', '200x50'];
/** A list may show where our plugin is. */
const ROOT = join(import.meta.dirname, '../../..');
const ANY_ROOT = '/opt/threadmux'.padEnd(ROOT.length, '-');
const FIXTURES = join(import.meta.dirname, '../../fixtures/screens');

const STATES: Partial<Record<LabAgentName, readonly [AgentDriver, readonly StateRow[]]>> = {
  codex: [codex, CODEX_STATES],
  gemini: [gemini, GEMINI_STATES],
  opencode: [opencode, OPENCODE_STATES],
  pi: [pi, PI_STATES],
};

export interface Recorder {
  sees(text: RegExp): Promise<void>;
  press(...keys: string[]): Promise<void>;
  type(text: string): Promise<void>;
  /** Types it and presses Enter. */
  say(text: string): Promise<void>;
  /** Pastes it without Enter. */
  paste(text: string): Promise<void>;
  /** Types more lines than the box shows. */
  tallDraft(): Promise<void>;
  copyMode(on: boolean): Promise<void>;
}

it.each(SIZES)('records %s', { timeout: 1_200_000 }, async (size) => {
  const name = process.env.AGENT_LAB_RECORD as LabAgentName;
  const [driver, states] = STATES[name] ?? [];
  if (driver === undefined || states === undefined) throw new Error(`${name} cannot be recorded`);
  const folder = join(FIXTURES, `${name}-${agentPackage(name).version}`, size);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const [width = 0, height = 0] = size.split('x').map(Number);
  const pane = await startAgentPane(name, driver, { size: { width, height } });
  const facts: string[] = [];
  const recorder = recorderOf(pane);
  for (const [state, ...steps] of states) {
    let afterMs = 800;
    for (const step of steps) {
      if (typeof step === 'number') afterMs = step;
      else await step(recorder);
    }
    await pause(afterMs);
    const ansi = await still(pane);
    const now = pane.facts();
    writeFileSync(join(folder, `${state}.ansi`), ansi.replaceAll(ROOT, ANY_ROOT));
    const flags = [now.paneDead, now.inMode].map((one) => (one ? 1 : 0));
    const line = [state, now.cursorX, now.cursorY, now.width, now.height, ...flags, now.currentCommand, now.title];
    facts.push([...line, now.cursorShown ? 1 : 0].join('\t'));
    writeFileSync(join(folder, 'facts.tsv'), `${facts.toSorted().join('\n')}\n`);
  }
});

function recorderOf(pane: AgentPane): Recorder {
  return {
    sees: (text) => vi.waitFor(() => expect(pane.screen()).toMatch(text), { timeout: 120_000, interval: 200 }),
    async press(...keys) {
      for (const key of keys) {
        pane.press(key);
        await pause(500);
      }
    },
    async type(text) {
      pane.type(text);
      await pause(500);
    },
    async say(text) {
      pane.type(text);
      await pause(600);
      pane.press('Enter');
      await pause(300);
    },
    async paste(text) {
      writeFileSync(join(pane.dir, 'paste'), text);
      pane.tmux('load-buffer', '-b', 'lab', join(pane.dir, 'paste'));
      pane.tmux('paste-buffer', '-p', '-r', '-d', '-b', 'lab', '-t', 'demo');
      await pause(600);
    },
    async tallDraft() {
      for (let line = 0; line < 20; line++) {
        pane.type(`line ${line}`);
        pane.press('C-j');
      }
    },
    async copyMode(on) {
      pane.tmux(...(on ? ['copy-mode', '-t', 'demo'] : ['send-keys', '-t', 'demo', '-X', 'cancel']));
    },
  };
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Two equal looks, or the last one of a screen that moves. */
async function still(pane: AgentPane): Promise<string> {
  const look = () => `${pane.tmux('capture-pane', '-e', '-p', '-t', 'demo')}\n`;
  let before = look();
  for (let looks = 0; looks < 5; looks++) {
    await pause(150);
    const now = look();
    if (now === before) return now;
    before = now;
  }
  return before;
}

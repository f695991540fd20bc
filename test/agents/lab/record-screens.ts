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
import { recordCodex } from './record-codex.ts';
import { recordGemini } from './record-gemini.ts';
import { recordOpencode } from './record-opencode.ts';
import { recordPi } from './record-pi.ts';

const SIZES = process.env.AGENT_LAB_SIZES?.split(',') ?? ['80x24', '120x40', '200x50'];
/** A list may show where our plugin is. */
const ROOT = join(import.meta.dirname, '../../..');
const ANY_ROOT = '/opt/threadmux'.padEnd(ROOT.length, '-');
const FIXTURES = join(import.meta.dirname, '../../fixtures/screens');

const RECORDERS: Partial<Record<LabAgentName, readonly [AgentDriver, (recorder: Recorder) => Promise<void>]>> = {
  codex: [codex, recordCodex],
  gemini: [gemini, recordGemini],
  opencode: [opencode, recordOpencode],
  pi: [pi, recordPi],
};

export interface Recorder {
  readonly pane: AgentPane;
  /** Records the screen once it stands still. */
  shot(state: string, afterMs?: number): Promise<void>;
  sees(text: RegExp): Promise<void>;
  press(...keys: string[]): Promise<void>;
  type(text: string): Promise<void>;
  /** Types it and presses Enter. */
  say(text: string): Promise<void>;
  /** Pastes it without Enter. */
  paste(text: string): Promise<void>;
}

it.each(SIZES)('records %s', { timeout: 1_200_000 }, async (size) => {
  const name = process.env.AGENT_LAB_RECORD as LabAgentName;
  const [driver, record] = RECORDERS[name] ?? [];
  if (driver === undefined || record === undefined) throw new Error(`${name} cannot be recorded`);
  const folder = join(FIXTURES, `${name}-${agentPackage(name).version}`, size);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const [width = 0, height = 0] = size.split('x').map(Number);
  const pane = await startAgentPane(name, driver, { size: { width, height } });
  const facts: string[] = [];
  await record({
    pane,
    async shot(state, afterMs = 800) {
      await pause(afterMs);
      const ansi = await still(pane);
      const now = pane.facts();
      writeFileSync(join(folder, `${state}.ansi`), ansi.replaceAll(ROOT, ANY_ROOT));
      const flags = [now.paneDead, now.inMode].map((one) => (one ? 1 : 0));
      const line = [state, now.cursorX, now.cursorY, now.width, now.height, ...flags, now.currentCommand, now.title];
      facts.push([...line, now.cursorShown ? 1 : 0].join('\t'));
      writeFileSync(join(folder, 'facts.tsv'), `${facts.toSorted().join('\n')}\n`);
    },
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
  });
});

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

// Reads what the pane of a thread shows.

import { type ClaudeScreen, isShell, readScreen } from '../agents/claude/screen/screen.ts';
import type { LookResult } from '../tmux/look.ts';
import type { ThreadRecord } from './registry.ts';

/** What the pane shows, and whether an agent runs there. An agent without hooks is recognised by its screen. */
export function readPane(
  seen: LookResult,
  record: Pick<ThreadRecord, 'command' | 'shell' | 'claudeSession'>,
): { readonly screen: ClaudeScreen; readonly isAgent: boolean } {
  const isAgent = record.shell === 'no';
  if (seen.kind === 'gone') return { screen: { kind: 'unknown' }, isAgent };
  if (record.claudeSession !== '' || record.shell === 'terminal') return { screen: screenOf(seen, record), isAgent };
  const screen = screenOf(seen, seen);
  const surely = ['empty', 'draft', 'menu', 'shellMode'].includes(screen.kind);
  const likely = ['dialog', 'agents', 'subagent', 'transcript', 'aside'].includes(screen.kind);
  if (surely || (likely && !isShell(seen.command))) return { screen, isAgent: true };
  return { screen: screenOf(seen, { command: '' }), isAgent };
}

export function screenOf(seen: LookResult & { kind: 'pane' }, record: Pick<ThreadRecord, 'command'>): ClaudeScreen {
  // tmux ends the last line with a newline, too.
  return readScreen(`${seen.ansi}\n`, {
    cursorX: seen.cursor.x,
    cursorY: seen.cursor.y,
    width: seen.width,
    height: seen.height,
    paneDead: seen.dead,
    inMode: seen.mode !== undefined,
    title: seen.title,
    currentCommand: seen.command,
    agentCommand: record.command,
  });
}

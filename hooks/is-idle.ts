// Whether Claude is idle in a pane, read from its screen: no hook reports a turn that was interrupted before Claude's first text.

import { readScreen } from '../agents/claude/screen/screen.ts';
import type { Host } from '../hosts/host.ts';
import type { SessionPane } from '../threads/session-threads.ts';
import { lookAtPane } from '../tmux/look.ts';
import { tmuxOn } from '../tmux/tmux.ts';

export async function isIdle(host: Host, session: SessionPane): Promise<boolean> {
  const pane = await lookAtPane(tmuxOn(host, session.socket), session);
  if (pane.kind === 'gone' || pane.panePid !== session.panePid) return true;
  const screen = readScreen(`${pane.ansi}\n`, {
    cursorX: pane.cursor.x,
    cursorY: pane.cursor.y,
    width: pane.width,
    height: pane.height,
    paneDead: pane.dead,
    inMode: pane.mode !== undefined,
    title: pane.title,
    currentCommand: pane.command,
    agentCommand: session.command,
  });
  return (screen.kind === 'empty' || screen.kind === 'draft') && !screen.busy;
}

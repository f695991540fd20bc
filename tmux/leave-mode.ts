// Leaves copy mode (or any other tmux mode), so that the program can be seen and typed into.

import { type PaneGuard, sameFormat } from './pane.ts';
import type { Tmux } from './tmux.ts';

/** Sends no keys: the program in the pane is not affected. */
export async function leaveMode(tmux: Tmux, guard: PaneGuard): Promise<void> {
  const { paneId } = guard.pane;
  const condition = `#{&&:${sameFormat(guard)},#{pane_in_mode}}`;
  await tmux.run(['if-shell', '-F', '-t', paneId, condition, `copy-mode -q -t ${paneId}`]);
}

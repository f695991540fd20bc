// What another host needs of us: three small shell scripts, and settings for the agents that are started there. {HOME} is
// our home on that host.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { hookSettings } from '../agents/claude/settings.ts';
import { hookPlaceOf, hooksConf } from '../tmux/tmux-hooks.ts';
import { installedPaths } from './commands/install.ts';

const SCRIPTS = ['drop', 'ask', 'statusline'] as const;

/** `name`: what we are called there, as several threadmux may use one host. */
export function filesForHosts(name: string): Readonly<Record<string, string>> {
  const { dist } = installedPaths();
  const there = { node: '', dist: '', scripts: '{HOME}/bin', home: '{HOME}' };
  return {
    ...Object.fromEntries(SCRIPTS.map((name) => [`bin/${name}`, readFileSync(join(dist, 'hooks', name), 'utf8')])),
    'tmux-event': EVENT,
    // Loaded by the line that `install --host` adds to the tmux configuration there.
    'tmux.conf': hooksConf('{HOME}/tmux-event', hookPlaceOf(name)),
    'settings.json': `${JSON.stringify(hookSettings(there), null, 2)}\n`,
  };
}

/** Run by tmux when a session is made, closed or renamed. It prints nothing and never fails: either would disturb a pane. */
const EVENT = `#!/bin/sh
THREADMUX_HOME=\${0%/*}
TMUX= TMUX_PANE= CLAUDE_CODE_ENTRYPOINT= CLAUDE_PROJECT_DIR=
. "$THREADMUX_HOME/bin/drop"
input='{}' box=0.1
header event "$1"
send
exit 0
`;

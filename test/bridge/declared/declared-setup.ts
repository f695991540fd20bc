// A bridge with declared sessions, whose agent is the fake Claude Code: one folder per session.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, vi } from 'vitest';
import { FAKE_CLAUDE, standInAt } from '../../support/fake-claude.ts';
import { DROP } from '../../support/hook-process.ts';
import { tempFolder } from '../../support/temp-home.ts';
import type { TmuxServer } from '../../support/tmux-server.ts';
import { type Setting, type SettingOptions, startSetting, WAIT } from '../bridge-setup.ts';

interface DeclaredSetting {
  readonly setting: Setting;
  /** Changes config.json; needs the option `live`. */
  declare(sessions: readonly object[], more?: object): void;
  /** How often the agent of this session was started. */
  starts(session: string): number;
  untilStarts(session: string, count: number): Promise<void>;
  agent(session: string): ReturnType<typeof standInAt>;
}

/** The program notes each start, by the name of its tmux session; `home` is where its hooks report. */
export function declaredAgent(folder: string, home: () => string, drop: () => string = () => DROP): string {
  const program = join(folder, 'claude');
  const body = `#!/bin/sh
name=$(tmux display-message -p -t "$TMUX_PANE" '#{session_name}')
mkdir -p ${folder}/$name; rm -f ${folder}/$name/control; echo start >> ${folder}/$name/starts
[ -e ${folder}/$name/fails ] && { echo cannot start; exit 3; }
THREADMUX_HOME=${home()}; export THREADMUX_HOME
exec '${process.execPath}' '${FAKE_CLAUDE}' ${folder}/$name '${drop()}'
`;
  writeFileSync(program, body, { mode: 0o755 });
  return program;
}

export function watchStarts(folder: string) {
  const starts = (session: string) => {
    const file = join(folder, session, 'starts');
    return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n').length : 0;
  };
  return {
    starts,
    untilStarts: (session: string, count: number) => vi.waitFor(() => expect(starts(session)).toBe(count), WAIT),
    agent: (session: string) => standInAt(join(folder, session)),
  };
}

export async function startDeclared(
  sessions: readonly object[],
  options: SettingOptions = {},
): Promise<DeclaredSetting> {
  const folder = tempFolder();
  const program = join(folder, 'claude');
  // It may be started before its home is known here.
  const root = join(folder, 'home');
  writeFileSync(program, `#!/bin/sh\nwhile [ ! -e ${root} ]; do sleep 0.05; done; exec ${folder}/real/claude "$@"\n`, {
    mode: 0o755,
  });
  const fileWith = (sessions: readonly object[], more: object = {}) => ({
    agents: { claude: { command: [program] } },
    sessions,
    ...options.file,
    ...more,
  });
  const file = fileWith(sessions);
  const setting = await startSetting({ startAgainMs: [200, 200, 200, 200], ...options, file });
  const real = join(folder, 'real');
  mkdirSync(real);
  declaredAgent(real, () => setting.machine.home.root);
  writeFileSync(root, '');
  const declare = (now: readonly object[], more?: object) => setting.rewrite(fileWith(now, more));
  return { setting, declare, ...watchStarts(real) };
}

export const sessionsOf = (tmux: TmuxServer) =>
  tmux
    .call('list-panes', '-a', '-F', '#{session_name} #{pane_dead}')
    .trim()
    .split('\n')
    .filter((line) => line.endsWith(' 0'))
    .map((line) => line.split(' ')[0] ?? '')
    .toSorted();

// An agent that interrupts another one never answers a dialog with Esc.

import { expect, it } from 'vitest';
import { interruptSession } from '../../bin/acts/interrupt-session.ts';
import type { SessionTarget } from '../../bin/find-session.ts';
import { type Tmux, tmuxOn } from '../../tmux/tmux.ts';
import { startSetting } from '../bridge/bridge-setup.ts';
import { startPromptPane } from '../support/prompt-pane.ts';

it.each(['dialog-permission-bash', 'dialog-permission-fetch', 'dialog-plan', 'dialog-question-review'])(
  'is refused if a dialog opens after the look: %s',
  async (dialog) => {
    const setting = await startSetting();
    const { machine } = setting;
    const pane = await startPromptPane(machine, 'web', { report: (env, input) => machine.write(env, input) });
    await pane.show('busy-status-line');
    const record = pane.record();
    const tmux = tmuxOn(setting.shared.hosts.get(record.host), record.socket);
    const targetOn = (on: Tmux) => ({ host: record.host, tmux: on, record }) as SessionTarget;
    expect(await interruptSession(targetOn(tmux))).toBe(true);
    const script: Tmux['script'] = async (...given) => {
      const seen = await tmux.script(...given);
      await pane.show(dialog);
      return seen;
    };
    await expect(interruptSession(targetOn({ ...tmux, script }))).rejects.toThrow('Esc was not pressed');
  },
);

// The program is killed while it carries out a slash command or a form, which Discord sends only once: the user is told.

import { readFileSync } from 'node:fs';
import { describe, expect, it, vi } from 'vitest';
import { startPromptPane } from '../support/prompt-pane.ts';
import { openPageSocket } from '../workspace/raw-socket.ts';
import { WAIT } from './bridge-setup.ts';
import { startKillable } from './killed-program.ts';

describe('threadmux up, killed', () => {
  it('after it showed a slash command for Claude, says that it was interrupted', async () => {
    const { workspace, machine, up, again, killAtRequest } = await startKillable();
    const report = (env: Parameters<typeof machine.write>[0], input: object) => machine.write(env, input);
    const { thread } = await startPromptPane(machine, 'web', { report });
    const page = await openPageSocket(workspace);
    killAtRequest('PATCH', '/webhooks/', 'after');
    await workspace.person.slash(thread, 'claude', [{ name: 'command', value: '/status' }]);
    await up().ended;
    await again();
    const told = () => page.heard.filter(({ t, d }) => t === 'MESSAGE_CREATE' && /was restarted/.test(d.content));
    await vi.waitFor(() => expect(told()).toHaveLength(1), WAIT);
    const file = machine.home.path('state', 'test.interactions.json');
    await vi.waitFor(() => expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual([]), WAIT); // it is told once
  });
});

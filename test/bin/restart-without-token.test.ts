import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { holderOf } from '../../home/lock.ts';
import { processesWith } from '../support/hook-process.ts';
import { startTestWorkspace } from '../support/workspace.ts';
import { PROGRAM, startCli, WAIT } from './cli.ts';

/** `threadmux up` as in a container: everything is in the environment. */
async function startUp() {
  const workspace = await startTestWorkspace();
  const cli = startCli();
  const started = spawn(process.execPath, [PROGRAM, 'up'], {
    env: {
      ...cli.env,
      DISCORD_BOT_TOKEN: workspace.token,
      DISCORD_CHANNEL_ID: workspace.channelId,
      DISCORD_ALLOWED_USERS: workspace.userId,
      DISCORD_API_BASE: workspace.api,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void started.kill('SIGKILL'));
  let said = '';
  started.stdout.on('data', (data) => {
    said += data;
  });
  await vi.waitFor(() => expect(said).toContain('threadmux is running, connected'), WAIT);
  const serving = holderOf(join(cli.root, 'state', 'bridge.lock')) ?? 0;
  return { workspace, cli, started, serving };
}

describe('a token in the environment', () => {
  it('is neither in the environment nor in the arguments of the serving process', async () => {
    const { workspace, cli, started, serving } = await startUp();
    for (const pid of processesWith(`HOME=${cli.dir}`)) {
      expect(readFileSync(`/proc/${pid}/cmdline`, 'utf8')).not.toContain(workspace.token);
      // Older Node.js versions cannot replace their process: the process that was started only waits.
      if (pid === serving || pid !== started.pid)
        expect(readFileSync(`/proc/${pid}/environ`, 'utf8')).not.toContain(workspace.token);
    }
    expect(readFileSync(`/proc/${serving}/environ`, 'utf8')).toContain(`HOME=${cli.dir}`);
    started.kill('SIGTERM');
    expect(await once(started, 'exit')).toEqual([0, null]);
    expect(() => process.kill(serving, 0)).toThrow();
  });

  it('leaves no process behind when the waiting process is killed', async () => {
    const { started, serving } = await startUp();
    started.kill('SIGKILL');
    await vi.waitFor(() => expect(() => process.kill(serving, 0)).toThrow(), WAIT);
  });
});

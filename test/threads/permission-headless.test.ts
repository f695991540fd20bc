// The hook of an agent that has no terminal, as a real process: only the thread decides.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync, statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { saveStreamRecord, streamRecordSchema } from '../../home/stream-record.ts';
import { PROGRAM } from '../bin/cli.ts';
import { fixture, type Machine, startMachine } from '../support/hook-process.ts';
import { buttonOf, decisionIn, promptIn, startHook, verdictOf } from '../support/prompt-pane.ts';
import { BY, startPromptCourier } from '../support/prompt-setup.ts';
import { startTestWorkspace } from '../support/workspace.ts';

async function start(kind: 'agent' | 'terminal' = 'agent', server = 'local') {
  const workspace = await startTestWorkspace();
  const machine = startMachine(workspace);
  const path = `/channels/${workspace.channelId}/messages`;
  const thread: string = (await workspace.bot('POST', path, { content: 'welcome' })).body.id;
  await workspace.bot('POST', `${path}/${thread}/threads`, { name: '[agent] demo' });
  const told = { thread, server, kind, name: 'demo', dir: '/', asked: 'x', order: '1' };
  saveStreamRecord(machine.home, streamRecordSchema.parse({ ...told, startedAt: 1 }));
  const hook = (env: Record<string, string> = {}, agent?: string) => {
    const input = { ...fixture('PermissionRequest.Bash'), ...(agent && { agent_id: agent }) };
    const mine = { THREADMUX_THREAD: thread, CLAUDE_CODE_ENTRYPOINT: 'sdk-cli' };
    return startHook(machine, { env: { TMUX: '', TMUX_PANE: '' } }, input, { ...mine, ...env });
  };
  return { workspace, machine, thread, hook };
}

describe('the hook of a headless agent', () => {
  it.each([undefined, 'a1'])('prints the decision from the thread (subagent: %s)', async (agent) => {
    const { workspace, machine, thread, hook } = await start();
    const courier = await startPromptCourier(machine);
    const asked = hook({}, agent);
    const message = await promptIn(workspace, thread);
    await vi.waitFor(() => expect(courier.open()).toMatchObject([{ message: message.id, thread }]));
    expect(await courier.answer(message, 'allow')).toBe('taken');
    expect(decisionIn(await asked.printed)).toEqual({ behavior: 'allow' });
    expect(await verdictOf(workspace, message)).toBe(`✅ **Allowed** — ${BY.name}`);
    expect(await asked.ended).toBe(0);
  });

  it('removes its buttons and decides nothing when the agent is stopped', async () => {
    const { workspace, thread, hook } = await start(); // its own courier asks
    const asked = hook();
    const message = await promptIn(workspace, thread);
    asked.child.kill('SIGTERM');
    expect(await asked.printed).toBe('');
    expect(await verdictOf(workspace, message)).toBe('⏹️ The agent was stopped.');
  });

  it.each<[string, Record<string, string>]>([
    ['an invalid thread id', { THREADMUX_THREAD: '../../x' }],
    ['an unknown thread', { THREADMUX_THREAD: '123' }],
  ])('asks nobody for %s', async (_, env) => {
    const { workspace, thread, hook } = await start();
    const asked = hook(env);
    expect(await asked.printed).toBe('');
    expect(await asked.ended).toBe(0);
    expect((await workspace.person.messages(thread)).flatMap((one) => one.components)).toEqual([]);
  });

  it('asks nobody when it has a terminal', async () => {
    const { workspace, thread, hook } = await start('terminal');
    expect(await hook().printed).toBe('');
    expect((await workspace.person.messages(thread)).flatMap((one) => one.components)).toEqual([]);
  });

  it('asks nobody when its thread was deleted, and exits', async () => {
    const { workspace, machine, thread, hook } = await start();
    const courier = await startPromptCourier(machine);
    await workspace.bot('DELETE', `/channels/${thread}`);
    const asked = hook();
    expect(await asked.printed).toBe('');
    expect(await asked.ended).toBe(0);
    expect(courier.open()).toEqual([]);
  });

  it('reaches the server that only the environment of the bridge names', async () => {
    const { workspace, machine, thread, hook } = await start('agent', 'discord');
    rmSync(machine.home.path('state', 'workspace.json'));
    const { child, said } = startBridgeProgram(machine, {
      DISCORD_BOT_TOKEN: workspace.token,
      DISCORD_CHANNEL_ID: workspace.channelId,
      DISCORD_ALLOWED_USERS: workspace.userId,
      DISCORD_API_BASE: workspace.api,
    });
    await vi.waitFor(() => expect(said()).toContain('Connected to discord'), 20_000);
    const asked = hook();
    const message = await promptIn(workspace, thread);
    // A busy machine may acknowledge a tap after three seconds. Discord says so then, and the user taps again.
    const printed = await vi.waitFor(async () => {
      await workspace.person.tap(thread, message.id, buttonOf(message, 'Allow')).catch(() => {});
      const late = sleep(5_000).then(() => Promise.reject(new Error('not decided')));
      return Promise.race([asked.printed, late]);
    }, 60_000);
    expect(decisionIn(printed)).toEqual({ behavior: 'allow' });
    const kept = machine.home.path('state', 'environment.json');
    expect(statSync(kept).mode & 0o777).toBe(0o600);
    // The next one without such an environment forgets it.
    child.kill('SIGTERM');
    await once(child, 'exit');
    const next = startBridgeProgram(machine, {}, ['up', '--port', '0']);
    await vi.waitFor(() => expect(next.said()).toContain('threadmux is running'), 20_000);
    expect(existsSync(kept) ? readFileSync(kept, 'utf8') : '').not.toContain(workspace.token);
  });
});

function startBridgeProgram(machine: Machine, env: Record<string, string>, args = ['bridge']) {
  const child = spawn(process.execPath, [PROGRAM, ...args], { env: { ...machine.env, ...env } });
  onTestFinished(async () => {
    if (child.exitCode === null && child.kill('SIGTERM')) await once(child, 'exit');
  });
  let printed = '';
  child.stdout.on('data', (chunk) => {
    printed += chunk;
  });
  return { child, said: () => printed };
}

// threadmux terminal and agent: start a terminal or a headless agent in a new thread, like !terminal and !agent.

import { newOrderId, newRequestId, type ProgramRequest } from '../../bridge/program-requests.ts';
import { ThreadmuxError } from '../../core/errors.ts';
import { askBridge } from '../acts/ask-bridge.ts';
import { openContext } from '../command-context.ts';
import { printJson, printNote, printText, withProgress } from '../print.ts';

interface StreamFlags {
  readonly json?: boolean;
  readonly skipPermissions?: boolean;
  readonly agent?: string;
}

export async function startTerminalStream(directory: string, command: readonly string[], flags: StreamFlags) {
  if (command.length === 0)
    throw new ThreadmuxError('bad_usage', 'a command is missing', {
      hint: 'Example: threadmux terminal shop -- npm run dev',
    });
  await start({ ...newRequest(directory), what: 'terminal', command: command.join(' ') }, flags);
}

export async function startAgentStream(directory: string, prompt: readonly string[], flags: StreamFlags) {
  if (prompt.length === 0)
    throw new ThreadmuxError('bad_usage', 'a prompt is missing', {
      hint: 'Example: threadmux agent shop "run the tests"',
    });
  const skipPermissions = flags.skipPermissions ?? false;
  const { agent } = flags;
  const wanted = { prompt: prompt.join(' '), skipPermissions, ...(agent === undefined ? {} : { agent }) };
  await start({ ...newRequest(directory), what: 'agent', ...wanted }, flags);
}

const newRequest = (directory: string) => ({
  id: newRequestId(),
  order: newOrderId(),
  asker: process.pid,
  directory,
});

async function start(request: ProgramRequest, { json }: StreamFlags): Promise<void> {
  const { home } = openContext('cli');
  const { name, host, thread } = await withProgress('starting it', askBridge(home, request));
  if (json) return printJson({ name, host, thread });
  printText(name);
  printNote(`Started ${name} on ${host}. Its thread shows what it does.`);
}

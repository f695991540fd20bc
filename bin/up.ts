// threadmux up: the main job. Serves the local workspace if no Discord is configured, and runs the
// bridge until it is told to stop.

import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Bridge, startBridge } from '../bridge/bridge.ts';
import type { Server } from '../core/config.ts';
import { ThreadmuxError } from '../core/errors.ts';
import type { Log } from '../core/log.ts';
import type { Home } from '../home/home.ts';
import { localServer, saveLocalServer } from '../home/local-server.ts';
import { holderOf, tryLock } from '../home/lock.ts';
import { rememberEnvironment } from '../home/remembered.ts';
import type { Workspace } from '../workspace/server.ts';
import { agentSettings } from './agent-settings.ts';
import { beCourier } from './be-courier.ts';
import { type Context, openContext } from './context.ts';

export interface UpOptions {
  readonly port?: number;
  /** The address the workspace listens on; this machine alone if not given. */
  readonly listen?: string;
  readonly verbose?: boolean;
}

const PORT = 7420;
const OPEN_DOOR =
  'Warning: other machines can reach the port of the workspace now, and nothing is encrypted. Browsers sign in at http://127.0.0.1 or http://localhost only: from another machine, use an ssh tunnel to the same port.';

export async function up(options: UpOptions): Promise<void> {
  const context = openContext('up', options.verbose ? (line) => console.error(line) : undefined);
  const release = onlyOne(context.home);
  rememberEnvironment(context.home, process.env);
  const workspace = context.config.servers.length === 0 ? await serve(context, options) : undefined;
  const servers = workspace === undefined ? context.servers : [rememberLocal(context, workspace)];
  const bridges = await Promise.all(servers.map((server) => bridge(context, server)));
  const courier = startCourier(context);
  for (const line of greeting(servers, workspace)) console.log(line);
  await untilStopped();
  await courier.stop();
  await Promise.all(bridges.map((one) => one.close()));
  await workspace?.close();
  release();
}

export async function workspaceOnly(options: UpOptions): Promise<void> {
  const context = openContext(
    'workspace',
    options.verbose ? (line) => console.error(line) : undefined,
  );
  const workspace = await serve(context, options);
  rememberLocal(context, workspace);
  console.log(`Open ${workspace.newLink()}`);
  await untilStopped();
  await workspace.close();
}

export async function bridgeOnly(options: UpOptions): Promise<void> {
  const context = openContext(
    'bridge',
    options.verbose ? (line) => console.error(line) : undefined,
  );
  if (context.servers.length === 0)
    throw new ThreadmuxError('config_invalid', 'there is no server to connect to', {
      hint: 'Run `threadmux up` for the local workspace, or configure Discord first.',
    });
  const release = onlyOne(context.home);
  rememberEnvironment(context.home, process.env);
  const bridges = await Promise.all(context.servers.map((server) => bridge(context, server)));
  const courier = startCourier(context);
  console.log(
    `Connected to ${context.servers.map(({ name }) => name).join(', ')}. Stop it with Ctrl-C.`,
  );
  await untilStopped();
  await courier.stop();
  await Promise.all(bridges.map((one) => one.close()));
  release();
}

/** Where the bridge runs it is the courier too; one that a hook started leaves within a minute. */
function startCourier(context: Context): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const done = (async () => {
    while (!stopping.signal.aborted) {
      await beCourier(context, Number.POSITIVE_INFINITY, stopping.signal);
      await sleep(1_000, undefined, { signal: stopping.signal }).catch(() => {});
    }
  })();
  return {
    stop() {
      stopping.abort();
      return done;
    },
  };
}

/** Two bridges with one home would type every message twice. */
function onlyOne(home: Home): () => void {
  const path = join(home.folder('state'), 'bridge.lock');
  const release = tryLock(path);
  if (release !== undefined) return release;
  throw new ThreadmuxError(
    'busy',
    `threadmux already runs with this home (process ${holderOf(path)})`,
    {
      hint: 'Use that one, stop it first, or set THREADMUX_HOME to another folder.',
    },
  );
}

/** The same port every time, so that browsers stay signed in; another one if it is taken. */
async function serve({ home, log }: Context, { port, listen }: UpOptions): Promise<Workspace> {
  // Who has Discord does not pay for it with memory.
  const { startWorkspace } = await import('../workspace/server.ts');
  const start = (at: number) =>
    startWorkspace({
      dir: home.folder('workspace'),
      port: at,
      ...(listen === undefined ? {} : { listen }),
      log: (line) => log.warn('workspace', { line }),
    });
  if (listen !== undefined && !/^(127\.|::1$|localhost$)/.test(listen)) console.error(OPEN_DOOR);
  if (port !== undefined) return start(port);
  return start(PORT).catch((error: NodeJS.ErrnoException) => {
    if (
      (error.cause as NodeJS.ErrnoException | undefined)?.code !== 'EADDRINUSE' &&
      error.code !== 'EADDRINUSE'
    )
      throw error;
    return start(0);
  });
}

function rememberLocal({ home }: Context, workspace: Workspace): Server {
  const local = {
    api: workspace.api,
    token: workspace.token,
    channel: workspace.channelId,
    user: workspace.userId,
  };
  saveLocalServer(home, local);
  return localServer(local);
}

function bridge({ config, home, log }: Context, server: Server): Promise<Bridge> {
  return startBridge({
    config,
    server,
    home,
    log,
    env: process.env,
    agentSettings: agentSettings(home),
    onFatal: (error) => fail(error, log),
  });
}

/** 78 tells a service manager that starting again would not help. */
function fail(error: ThreadmuxError, log: Log): never {
  log.error('gave up', { because: error.message, hint: error.hint });
  console.error(`threadmux: ${error.message}\n${error.hint ?? ''}`);
  process.exit(78);
}

function greeting(servers: readonly Server[], workspace: Workspace | undefined): readonly string[] {
  if (workspace !== undefined)
    return [
      'threadmux is up. Your workspace:',
      '',
      `  ${workspace.newLink()}`,
      '',
      'The link works once, within 15 minutes; `threadmux link` makes another.',
      'Stop it with Ctrl-C.',
    ];
  return [
    `threadmux is up, connected to ${servers.map(({ name }) => name).join(', ')}. Stop it with Ctrl-C.`,
  ];
}

function untilStopped(): Promise<void> {
  return new Promise((resolve) => {
    process.once('SIGINT', () => resolve());
    process.once('SIGTERM', () => resolve());
  });
}

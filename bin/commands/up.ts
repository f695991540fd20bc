// threadmux up, workspace and bridge: runs the bridge, and the local workspace if Discord is not configured, until a signal.

import { setTimeout as sleep } from 'node:timers/promises';
import { type Bridge, startBridge } from '../../bridge/bridge.ts';
import type { ServerConfig } from '../../core/config.ts';
import { isDiskFull, ThreadmuxError } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import { onDiskFailure, retryPendingWrites } from '../../home/atomic-write.ts';
import { localServer, saveEnvironment, saveLocalServer, withServiceEnvironment } from '../../home/config-file.ts';
import { checkRoom, homeRoot, openHome } from '../../home/home.ts';
import { sweepHome } from '../../home/sweep.ts';
import { takeCourierLock } from '../../hooks/courier-lock.ts';
import { programPlace } from '../../install/program-files.ts';
import { agentTitle } from '../../threads/session-pane.ts';
import type { TimedState } from '../../threads/session-state.ts';
import type { Workspace } from '../../workspace/server.ts';
import { type CliContext, onlyOne, openLasting } from '../command-context.ts';
import { noteUnusable } from '../link-note.ts';
import { printable, printNote, printText } from '../print.ts';
import { openSharedParts, runCourierHere } from '../run-courier.ts';

interface UpOptions {
  readonly port?: number;
  /** The address that the workspace listens on; by default only this machine can connect. */
  readonly listen?: string;
  readonly verbose?: boolean;
}

const PORT = 7420;
const ROOM_MS = 1_000;
const SWEEP_MS = 3_600_000;
const SHARED =
  'Other people have accounts on this machine, so the page has another port at each start, and browsers need a new link. To keep one port, set "port" in config.json (SECURITY.md says what that means).';
const EXPOSED =
  'Warning: other machines can connect to the workspace, and the traffic is not encrypted. Browsers can sign in only at http://127.0.0.1 or http://localhost; from another machine, use an ssh tunnel to the same port.';

export async function up(options: UpOptions): Promise<void> {
  const context = await openWithRoom('up', options);
  if (context === undefined) return;
  const release = await takeHome(context);
  const workspace = context.config.servers.length === 0 ? await serve(context, options) : undefined;
  const servers = workspace === undefined ? context.servers : [rememberLocal(context, workspace)];
  const running = await start(context, servers);
  if (workspace !== undefined) showStates(running, workspace);
  const stopped = untilStopped(); // a signal may come as soon as the greeting is printed
  printText(greeting(servers, workspace).join('\n'));
  if (workspace !== undefined) noteUnusable(workspace.url);
  await stopped;
  await running.stop();
  await workspace?.close();
  retryPendingWrites();
  release();
}

export async function workspaceOnly(options: UpOptions): Promise<void> {
  const context = await openWithRoom('workspace', options);
  if (context === undefined) return;
  const workspace = await serve(context, options);
  rememberLocal(context, workspace);
  printText(`Open ${workspace.newLink()}`);
  noteUnusable(workspace.url);
  await untilStopped();
  await workspace.close();
}

export async function bridgeOnly(options: UpOptions): Promise<void> {
  const context = await openWithRoom('bridge', options);
  if (context === undefined) return;
  if (context.servers.length === 0)
    throw new ThreadmuxError('config_invalid', 'no server is configured', {
      hint: 'Run `threadmux up` to use the local workspace, or `threadmux init` to configure Discord.',
    });
  const release = await takeHome(context);
  const running = await start(context, context.servers);
  printText(`Connected to ${context.servers.map(({ name }) => name).join(', ')}. Press Ctrl-C to stop.`);
  await untilStopped();
  await running.stop();
  retryPendingWrites();
  release();
}

async function takeHome({ home, env }: CliContext): Promise<() => void> {
  const release = await whenRoom(() => onlyOne(home));
  await whenRoom(() => saveEnvironment(home, env));
  return release;
}

/** Waits for free disk space before the start, because a start that fails halfway cannot be undone. */
async function openWithRoom(who: string, options: UpOptions): Promise<CliContext | undefined> {
  await whenRoom(() => checkRoom(openHome(homeRoot(process.env))));
  onDiskFailure(({ kind, words }) => kind === 'disk' && printNote(words));
  return openLasting(who, printer(options));
}

async function whenRoom<T>(act: () => T): Promise<T> {
  for (let isSaid = false; ; isSaid = true) {
    try {
      return act();
    } catch (error) {
      if (!isDiskFull(error)) throw error;
      if (!isSaid) printNote(`The disk is full: ${homeRoot(process.env)}. threadmux starts when there is space.`);
      await sleep(ROOM_MS);
    }
  }
}

/** The bridge and the courier run in one process; only this process talks to Discord and writes the registry. */
async function start(context: CliContext, servers: readonly ServerConfig[]): Promise<Running> {
  const { home, log } = context;
  const release = await takeCourierLock({ home, log, takeOver: true });
  if (release === undefined)
    throw new ThreadmuxError('busy', 'another process posts for this home and does not stop', {
      hint: 'Find it with `threadmux status`, stop it, then start threadmux again.',
    });
  const shared = openSharedParts(context);
  const stopping = new AbortController();
  const bridge: Bridge = await startBridge(shared, {
    servers,
    env: withServiceEnvironment(home, process.env),
    program: programPlace(home, process.env),
    onFatal: (error) => fail(error, log),
  });
  const options = { lingerMs: Number.POSITIVE_INFINITY, signal: stopping.signal, collects: true };
  const courier = runCourierHere(shared, options);
  const sweep = () => {
    sweepHome(home);
    shared.threads.registry.sweep();
  };
  sweep();
  const sweeping = setInterval(sweep, SWEEP_MS);
  return {
    states: bridge.states,
    onView: bridge.onView,
    agentOf: (thread) => agentTitle(shared.threads.registry.get(thread)),
    async stop() {
      clearInterval(sweeping);
      stopping.abort();
      await courier;
      await bridge.close();
      await shared.close();
      release();
    },
  };
}

function showStates({ states, onView, agentOf }: Running, workspace: Workspace): void {
  onView(workspace.tellPanel);
  const tell = (thread: string, state: TimedState) => {
    const agent = agentOf(thread);
    workspace.tellState(thread, { ...state, ...(agent === undefined ? {} : { agent }) });
  };
  states.onState(tell);
  for (const [thread, state] of states.all()) tell(thread, state);
}

interface Running extends Pick<Bridge, 'states' | 'onView'> {
  agentOf(thread: string): string | undefined;
  stop(): Promise<void>;
}

/**
 * Uses the same port every time, so that browsers stay signed in; another one if it is in use, and with port 0. Where other people use the
 * machine, one of them could have prepared the port, so it is another one each time.
 */
async function serve({ home, log, config }: CliContext, { port = config.port, listen }: UpOptions): Promise<Workspace> {
  // Loaded only if needed, to save memory.
  const { startWorkspace } = await import('../../workspace/server.ts');
  const { hasOtherUsers } = await import('../../workspace/access/other-users.ts');
  const start = (at: number) =>
    startWorkspace({
      dir: home.folder('workspace'),
      port: at,
      ...(listen === undefined ? {} : { listen }),
      log: (line) => log.warn('workspace', { line }),
    });
  if (listen !== undefined && !/^(127\.|::1$|localhost$)/.test(listen)) printNote(EXPOSED);
  if (port !== undefined) return start(port);
  if (process.platform === 'linux' && hasOtherUsers()) {
    printNote(SHARED);
    return start(0);
  }
  return start(PORT).catch((error: NodeJS.ErrnoException) => {
    if ((error.cause as NodeJS.ErrnoException | undefined)?.code !== 'EADDRINUSE' && error.code !== 'EADDRINUSE')
      throw error;
    return start(0);
  });
}

function rememberLocal({ home, config }: CliContext, workspace: Workspace): ServerConfig {
  const local = { api: workspace.api, token: workspace.token, channel: workspace.channelId, user: workspace.userId };
  saveLocalServer(home, local);
  return localServer(local, config.projects);
}

/** 78 tells a service manager that a restart does not help. */
function fail(error: ThreadmuxError, log: Log): never {
  log.error('gave up', { because: error.message, hint: error.hint });
  printNote(`threadmux: ${error.message}\n${error.hint ?? ''}`);
  process.exit(78);
}

function greeting(servers: readonly ServerConfig[], workspace: Workspace | undefined): readonly string[] {
  if (workspace !== undefined)
    return [
      'threadmux is running. Open your workspace:',
      '',
      `  ${workspace.newLink()}`,
      '',
      'The link works once and expires after 15 minutes. Run `threadmux link` for a new one.',
      'Press Ctrl-C to stop.',
    ];
  return [`threadmux is running, connected to ${servers.map(({ name }) => name).join(', ')}. Press Ctrl-C to stop.`];
}

function untilStopped(): Promise<void> {
  return new Promise((resolve) => {
    process.once('SIGINT', () => resolve());
    process.once('SIGTERM', () => resolve());
  });
}

function printer({ verbose }: UpOptions): ((line: string) => void) | undefined {
  return verbose ? (line) => printNote(printable(line)) : undefined;
}

// Everything journey 2 needs, for real: a workspace, a machine with tmux, the fake Claude Code in
// its panes, the courier that the hooks start, and the bridge.

import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, vi } from 'vitest';
import { runCourierHere } from '../../bin/run-courier.ts';
import { type Bridge, startBridge } from '../../bridge/bridge.ts';
import type { BridgeOptions } from '../../bridge/bridge-options.ts';
import { type Config, parseConfig, type ServerConfig } from '../../core/config.ts';
import { createLog } from '../../core/log.ts';
import { localServer } from '../../home/config-file.ts';
import { saveAutoThreads } from '../../home/installed.ts';
import { openLiveConfig } from '../../home/live-config.ts';
import { takeCourierLock } from '../../hooks/courier-lock.ts';
import { filesForHosts } from '../../install/program-files.ts';
import { openShared, type Shared } from '../../threads/shared-services.ts';
import type { Faults } from '../support/as-discord.mjs';
import { atEnd, shareAmongTests } from '../support/at-end.ts';
import { type FakeClaude, type FakeOptions, startFakeClaude } from '../support/fake-claude.ts';
import { type Machine, startMachine } from '../support/hook-process.ts';
import { startTestWorkspace, type TestWorkspace, type WireMessage } from '../support/workspace.ts';
import { openPageSocket } from '../workspace/raw-socket.ts';

export interface Setting {
  readonly workspace: TestWorkspace;
  readonly machine: Machine;
  readonly config: Config;
  readonly bridge: Bridge;
  readonly shared: Shared;
  readonly log: readonly string[];
  claude(session: string, options?: FakeOptions): Promise<FakeClaude>;
  say(to: FakeClaude | string, text: string): Promise<WireMessage>;
  /** The reactions on a message. */
  marks(message: WireMessage): Promise<readonly string[]>;
  untilMarked(message: WireMessage, ...marks: readonly string[]): Promise<void>;
  /** What the bot wrote in a channel, oldest first. */
  answers(channel: FakeClaude | string): Promise<readonly WireMessage[]>;
  /** Waits for a message of the bot that matches. */
  answer(channel: FakeClaude | string, pattern: RegExp): Promise<WireMessage>;
  /** The bridge and its courier. */
  stop(): Promise<void>;
  /** Writes config.json again. */
  rewrite(file: Readonly<Record<string, unknown>>): void;
  restart(options?: Partial<BridgeOptions> & { readonly config?: Config }): Promise<Bridge>;
}

export interface SettingOptions extends Partial<Omit<BridgeOptions, 'servers'>> {
  /** The name of this machine. */
  readonly name?: string;
  readonly sshConfig?: string;
  /** The content of config.json. */
  readonly file?: Readonly<Record<string, unknown>>;
  readonly allow?: readonly string[];
  readonly faults?: Faults;
  /** config.json is written, and changes of it are taken up; see `rewrite`. */
  readonly live?: boolean;
  /** The servers to connect to, given the server of the test's own workspace. */
  readonly servers?: (own: ServerConfig, workspace: TestWorkspace) => readonly ServerConfig[];
}

export const WAIT = { timeout: 20_000, interval: 40 } as const;

export async function startSetting(options: SettingOptions = {}): Promise<Setting> {
  const { file = {}, name, allow, faults = {}, sshConfig, servers: serversOf, live: isLive, ...more } = options;
  const workspace = await startTestWorkspace({ faults, looksOften: true });
  const machine = startMachine(workspace);
  const config = configOf(machine, file, name);
  const lines: string[] = [];
  const log = createLog((line) => lines.push(line), { secrets: [workspace.token] });
  const server = { ...localServer(addressOf(workspace)), ...(allow === undefined ? {} : { allow }) };
  const rewrite: Setting['rewrite'] = (now) =>
    writeFileSync(machine.home.path('config.json'), JSON.stringify(now), { mode: 0o600 });
  if (isLive) rewrite(file);
  const begin = async (again: Partial<BridgeOptions> & { readonly config?: Config } = {}) => {
    const { config: newConfig = config, ...other } = again;
    const { env, home } = machine;
    const fatal = (error: Error) => lines.push(`fatal ${error.message}`);
    const release = await takeCourierLock({ home, log, takeOver: true });
    if (release === undefined) throw new Error('another courier is at work');
    const servers = serversOf?.(server, workspace) ?? [server];
    const live = isLive ? openLiveConfig(home, configEnv(machine, name), newConfig) : undefined;
    const shared = openShared({
      ...(live && { live }),
      hostFiles: (name) => filesForHosts(name, true),
      rest: { perSecond: 400 },
      prompts: { checkAfterMs: 1_000 },
      home,
      config: newConfig,
      log,
      servers: () => servers,
      env: { ...env, SHELL: '/bin/sh' },
      ...(sshConfig === undefined ? {} : { sshConfig }),
    });
    const stopping = new AbortController();
    const bridge = await startBridge(shared, {
      servers,
      env: { ...env, SHELL: '/bin/sh' },
      onFatal: fatal,
      settleMs: 30,
      ...more,
      ...other,
      waits: { screenMs: 150, ...more.waits, ...other.waits },
    });
    const lingerMs = Number.POSITIVE_INFINITY;
    const courier = runCourierHere(shared, { lingerMs, signal: stopping.signal, collects: true });
    // A hook starts a courier process if a waiting letter or the tmux server is newer than the last heartbeat, and here it nearly
    // always would be. That process would only find that this courier is at work.
    const node = join(home.folder('state'), 'node');
    writeFileSync(node, '/bin/true');
    let stopped: Promise<void> | undefined;
    const stop = () => {
      stopped ??= (async () => {
        stopping.abort();
        await courier;
        await bridge.close();
        await shared.close();
        rmSync(node);
        release();
      })();
      return stopped;
    };
    const isConnected = () =>
      expect(bridge.gateways.map((one) => one.state().at)).toEqual(bridge.gateways.map(() => 'live'));
    stopLast = stop;
    await vi.waitFor(isConnected, WAIT);
    return { bridge, shared, stop };
  };
  let stopLast = async () => {};
  atEnd(() => stopLast());
  let running = await begin();
  const { person } = workspace;
  const answers: Setting['answers'] = async (channel) => {
    const all = await person.messages(idOf(channel));
    return all.filter(({ author }) => author.id === workspace.botId).toReversed();
  };
  const marks: Setting['marks'] = async ({ id, channel_id }) => {
    const { body } = await person.call('GET', `/channels/${channel_id}/messages/${id}`);
    return (body as WireMessage).reactions?.map(({ emoji }) => emoji.name) ?? [];
  };
  return {
    workspace,
    machine,
    config,
    log: lines,
    get bridge() {
      return running.bridge;
    },
    get shared() {
      return running.shared;
    },
    stop: () => running.stop(),
    claude: (session, fake) =>
      startFakeClaude(machine, session, {
        announce: async () => fake?.hooks === false && tellOfSession(machine, session),
        ...fake,
      }),
    say: (to, text) => person.say(idOf(to), text),
    marks,
    untilMarked: (message, ...wanted) => vi.waitFor(async () => expect(await marks(message)).toEqual(wanted), WAIT),
    answers,
    rewrite,
    answer: (channel, pattern) =>
      vi.waitFor(async () => {
        const found = (await answers(channel)).findLast(({ content }) => pattern.test(content));
        if (found !== undefined) return found;
        const said = (await answers(channel)).map(({ content }) => content);
        throw new Error(`nothing fits ${pattern}: ${JSON.stringify(said.slice(-5))}`);
      }, WAIT),
    async restart(other) {
      await running.stop();
      running = await begin(other);
      return running.bridge;
    },
  };
}

export interface SharedSetting {
  readonly setting: Setting;
  readonly claude: FakeClaude;
}

/** One bridge for all tests of a file or of a `describe`, and for each test a fake Claude Code whose session ends with it. */
export function shareSetting(options: SettingOptions = {}): (fake?: FakeOptions) => Promise<SharedSetting> {
  const shared = shareAmongTests(async () => {
    const setting = await startSetting(options);
    setting.machine.startServer();
    return setting;
  });
  let sessions = 0;
  return async (fake) => {
    const setting = shared();
    const claude = await setting.claude(`web-${++sessions}`, fake);
    onTestFinished(() => endSession(setting, claude.session));
    return { setting, claude };
  };
}

function endSession({ machine: { tmux } }: Setting, session: string): void {
  if (tmux.call('list-sessions', '-F', '#S').split('\n').includes(session))
    tmux.call('kill-session', '-t', `=${session}`);
}

/** What the page suggests while a slash command is being written. */
export async function openSuggestions({ workspace }: Setting, channelId = workspace.channelId) {
  const { person } = workspace;
  const page = await openPageSocket(workspace);
  /** `what`: what is shown, or what it stands for. */
  return async (name: string, option: string, value: string, what: 'name' | 'value' = 'value') => {
    const before = page.heard.length;
    await vi.waitFor(() => person.autocomplete(channelId, name, [{ name: option, value, focused: true }]), WAIT);
    return vi.waitFor(() => {
      const told = page.heard.slice(before).find(({ t }) => t?.includes('AUTOCOMPLETE'));
      if (told === undefined) throw new Error('no suggestions yet');
      return told.d.choices.map((choice: { name: string; value: string }) => choice[what]) as readonly string[];
    }, WAIT);
  };
}

/** Does what the hooks of tmux do when a session is created. */
export function tellOfSession({ home }: Pick<Machine, 'home'>, session: string): void {
  saveAutoThreads(home, true);
  writeFileSync(join(home.path('state', 'tmux-events'), session), '');
}

/** So long ago that no agent is expected to start there any more. */
export function madeLongAgo({ shared }: Pick<Setting, 'shared'>, thread: string): void {
  shared.threads.registry.change(thread, { at: Date.now() - 60_000 });
}

export function configOf(machine: Pick<Machine, 'tmux'>, file: object, name = 'laptop'): Config {
  return parseConfig({
    env: configEnv(machine, name),
    hostname: name,
    file: { path: 'config.json', text: JSON.stringify(file) },
  });
}

function configEnv({ tmux }: Pick<Machine, 'tmux'>, name = 'laptop') {
  return { THREADMUX_HOST: name, THREADMUX_TMUX_SOCKET: tmux.socket };
}

export function addressOf({ socketApi, token, channelId, userId }: TestWorkspace) {
  return { api: socketApi, token, channel: channelId, user: userId };
}

/** Resolves when the fake Claude Code has received exactly this. */
export async function untilPrompts(
  claude: FakeClaude,
  wanted: readonly string[],
  timeout: number = WAIT.timeout,
): Promise<void> {
  await vi.waitFor(() => expect(claude.prompts()).toEqual(wanted), { ...WAIT, timeout });
}

/** A wait for something that must not happen: long enough for it to have happened. */
/** Moves the clock that tells how long ago something was written or shown forward. */
export function laterBy(ms: number): void {
  const now = performance.now.bind(performance);
  const spy = vi.spyOn(performance, 'now').mockImplementation(() => now() + ms);
  onTestFinished(() => spy.mockRestore());
}

export const aWhile = (ms = 600) => sleep(ms);

/** Leaves a hint like the hooks of tmux, and waits until the scan that it causes has ended. */
export async function reconcile({ machine }: Pick<Setting, 'machine'>): Promise<void> {
  const hint = machine.home.path('state', 'tmux-events', 'hint');
  writeFileSync(hint, '');
  await vi.waitFor(() => expect(existsSync(hint)).toBe(false), WAIT);
  await aWhile();
}

export function screenOf(machine: Pick<Machine, 'tmux'>, session: string): string {
  return machine.tmux.call('capture-pane', '-p', '-t', `=${session}:`);
}

function idOf(channel: FakeClaude | string): string {
  return typeof channel === 'string' ? channel : channel.thread;
}

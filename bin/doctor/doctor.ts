// threadmux doctor: checks this machine, the hosts and the servers, and prints what to fix. It changes nothing, so it can be run
// at any time.

import { existsSync, readdirSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { inspectSettings } from '../../agents/claude/settings.ts';
import type { Config, ConfigEnvironment, ServerConfig } from '../../core/config.ts';
import { isThreadmuxError, ThreadmuxError } from '../../core/errors.ts';
import { harmless } from '../../core/json.ts';
import { maskSecrets } from '../../core/mask-secrets.ts';
import { readBeginning } from '../../home/checked-file.ts';
import { loadConfig, loadLocalServer } from '../../home/config-file.ts';
import { type Home, homeAsItIs, homeRoot, inspectHome, inspectLock } from '../../home/home.ts';
import { loadInstalled } from '../../home/installed.ts';
import { openOutbox } from '../../hooks/outbox.ts';
import { localHost } from '../../hosts/host.ts';
import { missingFiles, probeHost } from '../../hosts/probe.ts';
import { programPaths } from '../../install/program-files.ts';
import { type HostList, openHostList } from '../../tmux/host-list.ts';
import { OWN_PLACE } from '../../tmux/tmux-hooks.ts';
import { pathInService, servicePath } from '../commands/service-environment.ts';
import { printText } from '../print.ts';
import { agentPrograms, installedAgents } from './agent-programs.ts';
import { judgeHooks, judgePlugin } from './claude-hooks.ts';
import { examineExtensions } from './extensions.ts';
import { type Finding, fault, findingLines, findingsSummary, warning } from './finding.ts';
import { judgeConfig, judgeHome, judgeOutbox, judgeRoots, judgeRunning } from './home.ts';
import { examineHost, temporaryControlDir } from './host.ts';
import { judgeMachine, judgeNode, judgeServicePath } from './machine.ts';
import { gatherServer, judgeServer } from './server.ts';

interface DoctorFlags {
  readonly json?: boolean;
  /** Check only this host of the configuration. */
  readonly host?: string;
}

/** A tmux server may hang. */
const HERE_MS = 8_000;

export async function runDoctor(flags: DoctorFlags): Promise<void> {
  const findings = await examine({ env: process.env, nodeVersion: process.version, ...flags });
  const isWell = findings.every(({ level }) => level !== 'fail');
  const lines = flags.json
    ? [harmless(JSON.stringify({ ok: isWell, findings }, null, 2))]
    : [...findings.flatMap(findingLines), findingsSummary(findings)];
  for (const line of lines) printText(maskSecrets(line));
  process.exitCode = isWell ? 0 : 1;
}

export interface DoctorSubject {
  readonly env: ConfigEnvironment;
  readonly nodeVersion: string;
  readonly host?: string;
  /** For tests: an ssh configuration other than the user's. */
  readonly sshConfig?: string;
}

export async function examine(subject: DoctorSubject): Promise<readonly Finding[]> {
  const root = resolve(homeRoot(subject.env));
  const home = homeAsItIs(root);
  const reading = readConfig(home, subject.env);
  const config = 'config' in reading ? reading.config : undefined;
  const error = 'error' in reading ? reading.error : undefined;
  if (subject.host !== undefined)
    return config === undefined ? judgeConfig(error, 0) : examineOne(subject, config, subject.host);
  const [here, servers, far] = await Promise.all([
    examineHere(subject, config),
    config === undefined ? [] : examineServers(home, config),
    config === undefined ? [] : examineFar(subject, config),
  ]);
  return [
    judgeNode(subject.nodeVersion, 'this machine'),
    ...here.machine,
    ...judgeHome(inspectHome(root)),
    ...judgeConfig(error, config?.servers.length ?? 0),
    ...judgeRoots(missingRoots(config?.roots ?? [], subject.env)),
    ...judgeRunning({ look: inspectHome(root), elsewhere: elsewhere(root, subject.env) }),
    ...judgeOutbox(inspectOutbox(home)),
    ...here.hooks,
    ...examineExtensions(installedAgents(config, subject.env.PATH ?? ''), subject.env.HOME || homedir(), {
      scripts: `${programPaths(subject.env).dist}/hooks`,
      home: root,
    }),
    ...judgeServicePath(await missingInService(subject.env, agentPrograms(config, config?.host))),
    ...servers,
    ...far,
  ];
}

function readConfig(home: Home, env: ConfigEnvironment): { config: Config } | { error: unknown } {
  try {
    return { config: loadConfig(home, env) };
  } catch (error) {
    return { error };
  }
}

function missingRoots(roots: readonly string[], env: ConfigEnvironment): readonly string[] {
  const absolute = (path: string) => path.replace(/^~(?=\/|$)/, env.HOME || homedir());
  return roots.filter((path) => !statSync(absolute(path), { throwIfNoEntry: false })?.isDirectory());
}

async function examineHere({ env }: DoctorSubject, config: Config | undefined) {
  const host = localHost({ name: 'this machine', env, timeoutMs: HERE_MS });
  const home = resolve(homeRoot(env));
  const installed = loadInstalled(join(home, 'state')).flatMap(({ kind, path }) => (kind === 'settings' ? path : []));
  try {
    const probe = await probeHost(host, {
      agents: agentPrograms(config, config?.host),
      hookOption: OWN_PLACE.option,
      socket: config?.tmuxSocket,
      home,
      claudeDir: env.CLAUDE_CONFIG_DIR ? resolve(env.CLAUDE_CONFIG_DIR) : undefined,
    });
    const look = probe.settings === undefined ? undefined : inspectSettings(probe.settings);
    const missing = await missingFiles(host, look?.kind === 'settings' ? look.files : []);
    const projects = installed.filter((path) => path !== probe.settingsPath);
    const hasHooks = look?.kind === 'settings' && look.events.length > 0;
    const files = hasHooks ? [probe.settingsPath, ...projects] : projects;
    const plugin = judgePlugin({ on: host.name, settings: probe.settingsPath, files });
    const usualHome = join(env.HOME || homedir(), '.threadmux');
    const about = { on: host.name, install: 'threadmux install', usualHome, projects, plugin };
    return { machine: judgeMachine(probe, host.name), hooks: judgeHooks({ ...about, probe, look, missing }) };
  } catch (error) {
    if (!isThreadmuxError(error)) throw error;
    const remedy = error.hint ?? 'Run `tmux list-sessions` to see the problem.';
    return { machine: [fault('tmux', `${error.message}.`, remedy)], hooks: [] };
  }
}

const MISSING = `PATH=$1; export PATH; shift
for program; do
  command -v "$program" >/dev/null 2>&1 ||
    tmx_program=$program "\${SHELL:-sh}" -l -i -c 'command -v "$tmx_program"' >/dev/null 2>&1 </dev/null || printf '%s\\0' "$program"
done`;

/** The agents that a session which the service starts does not find; none without a service. */
async function missingInService(env: ConfigEnvironment, agents: readonly string[]): Promise<readonly string[]> {
  const path = pathInService(readBeginning(servicePath(env), 2 ** 20) ?? '');
  if (path === undefined) return [];
  const host = localHost({ name: 'this machine', env, timeoutMs: HERE_MS });
  const said = await host.sh(MISSING, [path, ...agents]).catch(() => ''); // a slow shell says nothing about the agents
  return said.split('\0').filter(Boolean);
}

/** Checks all remote hosts at the same time, because one that does not respond takes long. */
async function examineFar(subject: DoctorSubject, config: Config): Promise<readonly Finding[]> {
  const names = Object.keys(config.hosts).filter((name) => config.hosts[name] !== 'local');
  const found = await Promise.all(names.map((name) => examineOne(subject, config, name)));
  return found.flat();
}

async function examineOne(subject: DoctorSubject, config: Config, name: string): Promise<readonly Finding[]> {
  const { env, sshConfig } = subject;
  const entry = config.hosts[name];
  const control = temporaryControlDir();
  const home = { ...homeAsItIs(''), folder: () => control.path };
  const hosts: HostList = openHostList({ config, home, env, ...(sshConfig ? { sshConfig } : {}) });
  try {
    const host = hosts.get(name);
    if (entry === 'local') {
      const here = await examineHere(subject, config);
      return [judgeNode(subject.nodeVersion, 'this machine'), ...here.machine, ...here.hooks];
    }
    return await examineHost(host, {
      name: config.host,
      agents: agentPrograms(config, name),
      socket: entry?.socket,
      roots: entry?.roots ?? [],
      tellAgent: config.tellAgent,
      isUp: inspectLock(join(resolve(homeRoot(env)), 'state', 'bridge.lock')).kind === 'held',
    });
  } catch (error) {
    if (!isThreadmuxError(error)) throw error;
    if (error.code === 'not_found')
      throw new ThreadmuxError('bad_usage', error.message, error.hint ? { hint: error.hint } : {});
    return [fault('host', `${error.message}.`, error.hint ?? 'Connect with `ssh` to see the problem.')];
  } finally {
    await hosts.close();
    control.remove();
  }
}

async function examineServers(home: Home, config: Config): Promise<readonly Finding[]> {
  const local = config.servers.length === 0 ? loadLocalServer(home, config) : undefined;
  const servers: readonly ServerConfig[] = local === undefined ? config.servers : [local];
  if (servers.length === 0)
    return [warning('workspace', 'The local workspace has not been started yet.', 'Start it with `threadmux up`.')];
  const facts = await Promise.all(servers.map(gatherServer));
  return facts.flatMap(judgeServer);
}

function inspectOutbox(home: Home) {
  const outbox = openOutbox(home.path('outbox'));
  const letters = outbox.boxes().flatMap((box) => outbox.letters(box));
  const aside = join(outbox.folder, 'aside');
  const times = letters.flatMap((path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? []);
  return {
    folder: outbox.folder,
    waiting: letters.length,
    oldestMs: times.length === 0 ? 0 : Date.now() - Math.min(...times),
    aside: existsSync(aside) ? readdirSync(aside).length : 0,
  };
}

function elsewhere(root: string, env: ConfigEnvironment) {
  const usual = join(env.HOME || homedir(), '.threadmux');
  if (usual === root) return undefined;
  return { root: usual, lock: inspectLock(join(usual, 'state', 'bridge.lock')) };
}

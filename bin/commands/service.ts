// threadmux service: runs threadmux with the user's own service manager (systemd or launchd), never with the system's. If the
// manager is not available, the service file is still written.

import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { EXIT, ThreadmuxError } from '../../core/errors.ts';
import { readText, writeWhole } from '../../home/atomic-write.ts';
import { saveServiceEnvironment } from '../../home/config-file.ts';
import { homeRoot, openHome } from '../../home/home.ts';
import { pickEnvironment, runProcess } from '../../hosts/process.ts';
import { programPaths } from '../../install/program-files.ts';
import { printNote, printText } from '../print.ts';
import { keepForSessions, LABEL, servicePath } from './service-environment.ts';

const KEPT_VARIABLES = ['PATH', 'THREADMUX_HOME', 'THREADMUX_TMUX_SOCKET', 'CLAUDE_CONFIG_DIR'];
const MANAGER_VARIABLES = [
  ...['PATH', 'HOME', 'USER', 'LOGNAME', 'XDG_CONFIG_HOME', 'XDG_RUNTIME_DIR'],
  'DBUS_SESSION_BUS_ADDRESS',
];
const NEVER_KEPT = ['DISCORD_BOT_TOKEN', 'DISCORD_CHANNEL_ID', 'DISCORD_ALLOWED_USERS', 'SSH_HOSTS'];

interface Manager {
  readonly name: string;
  readonly path: string;
  readonly text: () => string;
  /** Removes an earlier installation, if any. */
  readonly before: readonly (readonly string[])[];
  readonly start: readonly (readonly string[])[];
  readonly stop: readonly (readonly string[])[];
  readonly after: string;
}

export async function serviceInstall(flags: {
  readonly print?: boolean;
  readonly keepEnvironment?: boolean;
}): Promise<void> {
  const manager = managerHere();
  if (flags.print) return printText(manager.text());
  refuseSudo();
  refuseForeign(manager.path);
  for (const name of NEVER_KEPT)
    if (process.env[name])
      printNote(`The service does not get ${name} from this shell. Run \`threadmux init\` to save it in config.json.`);
  keepForSessions(flags.keepEnvironment === true, KEPT_VARIABLES);
  // Who can write there can start programs as this user, and the umask may allow it to everybody.
  mkdirSync(dirname(manager.path), { recursive: true, mode: 0o700 });
  writeWhole(manager.path, manager.text(), 0o644);
  printText(manager.path);
  await runAll(manager.before);
  const failed = await runAll(manager.start);
  if (failed === undefined)
    return printNote(
      `threadmux is running and starts at every login. Run \`threadmux status\` to check it. ${manager.after}`,
    );
  printNote(`The service file was written, but ${manager.name} did not start it: ${failed}`);
  printNote(`To start it yourself, run: ${commandLines(manager.start)}`);
  process.exitCode = 1;
}

export async function serviceRemove(): Promise<void> {
  const { path, name, stop } = managerHere();
  if (!existsSync(path)) return printNote(`${path} does not exist: nothing to remove.`);
  refuseForeign(path);
  const [first = [], ...rest] = stop;
  const failed = await runAll([first]);
  rmSync(path);
  saveServiceEnvironment(openHome(homeRoot(process.env)), undefined);
  await runAll(rest);
  printText(path);
  printNote(
    failed === undefined
      ? 'The service was stopped and removed. Sessions keep running.'
      : `The service file was removed, but ${name} did not stop the service: ${failed}`,
  );
}

function managerHere(): Manager {
  const { node, dist } = programPaths(process.env);
  const env = pickEnvironment(process.env, KEPT_VARIABLES);
  const home = resolve(homeRoot(process.env));
  const facts = {
    node,
    program: join(dist, 'bin', 'threadmux.js'),
    env: { ...env, ...(env.THREADMUX_HOME === undefined ? {} : { THREADMUX_HOME: home }) },
  };
  const path = servicePath(process.env);
  if (process.platform === 'darwin') {
    const domain = `gui/${process.getuid?.() ?? 0}`;
    return {
      name: 'launchd',
      path,
      text: () => launchdPlist(facts, join(home, 'log', 'service.log')),
      before: [['launchctl', 'bootout', `${domain}/${LABEL}`]],
      start: [['launchctl', 'bootstrap', domain, path]],
      stop: [['launchctl', 'bootout', `${domain}/${LABEL}`]],
      after: '',
    };
  }
  const unit = `${LABEL}.service`;
  return {
    name: 'systemd',
    path,
    text: () => systemdUnit(facts),
    before: [],
    start: [
      ['systemctl', '--user', 'daemon-reload'],
      ['systemctl', '--user', 'enable', unit],
      ['systemctl', '--user', 'restart', unit], // replaces a service that is already running
    ],
    stop: [
      ['systemctl', '--user', 'disable', '--now', unit],
      ['systemctl', '--user', 'daemon-reload'],
    ],
    after: 'To keep it running after you log out, run: loginctl enable-linger',
  };
}

/** Stops at the first failure and returns its message. */
async function runAll(commands: readonly (readonly string[])[]): Promise<string | undefined> {
  const env = pickEnvironment(process.env, MANAGER_VARIABLES);
  for (const [file = '', ...args] of commands) {
    const ran = await runProcess(file, args, { env, timeoutMs: 60_000 });
    if (ran.status !== 0) return ran.stderr.trim().split('\n')[0] || `${file} ended with ${ran.status ?? ran.ended}`;
  }
  return undefined;
}

/** With sudo, root would own files in the user's home. */
function refuseSudo(): void {
  if (process.getuid?.() === 0 && process.env.SUDO_UID !== undefined)
    throw new ThreadmuxError('bad_usage', 'the service belongs to you, not to root', {
      hint: 'Run the command again without sudo.',
    });
}

function refuseForeign(path: string): void {
  const text = readText(path);
  if (text === undefined || text.includes(SERVICE_MARK)) return;
  throw new ThreadmuxError('busy', `${path} was not written by threadmux`, {
    hint: 'Move the file, then run this again.',
  });
}

function commandLines(commands: readonly (readonly string[])[]): string {
  return commands.map((words) => words.join(' ')).join(' && ');
}

// The service definitions for systemd and launchd: start threadmux when the user logs in, restart it after a failure but not
// after a configuration error (exit code 78), and stop only our process, so that the tmux server it started keeps running.

interface ServiceFacts {
  readonly node: string;
  /** The compiled program. */
  readonly program: string;
  /** PATH, so that tmux, ssh and the agent are found, and THREADMUX_HOME. Never a token. */
  readonly env: Readonly<Record<string, string>>;
}

const SERVICE_MARK = 'Written by `threadmux service install`; `threadmux service remove` removes it.';

export function systemdUnit({ node, program, env }: ServiceFacts): string {
  return `# ${SERVICE_MARK}
[Unit]
Description=threadmux: chat with your coding agents
StartLimitIntervalSec=0

[Service]
ExecStart=${[node, program, 'up'].map(systemdCommandWord).join(' ')}
${Object.entries(env)
  .map(([name, value]) => `Environment=${systemdWord(`${name}=${value}`)}`)
  .join('\n')}
# stdout would put a secret link into the journal; \`threadmux link\` shows it.
StandardOutput=null
Restart=on-failure
RestartSec=5
RestartPreventExitStatus=${EXIT.config}
# Stopping the service must not end the tmux server and its sessions.
KillMode=process

[Install]
WantedBy=default.target
`;
}

export function launchdPlist({ node, program, env }: ServiceFacts, log: string): string {
  const words = ['/bin/sh', '-c', UNLESS_78, 'sh', node, program, 'up'];
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<!-- ${SERVICE_MARK} -->
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>${LABEL}</string>
  <key>ProgramArguments</key>
  <array>
${words.map((word) => `    <string>${xml(word)}</string>`).join('\n')}
  </array>
  <key>EnvironmentVariables</key>
  <dict>
${Object.entries(env)
  .map(([name, value]) => `    <key>${xml(name)}</key>\n    <string>${xml(value)}</string>`)
  .join('\n')}
  </dict>
  <key>RunAtLoad</key>
  <true/>
  <key>KeepAlive</key>
  <dict>
    <key>SuccessfulExit</key>
    <false/>
  </dict>
  <key>ThrottleInterval</key>
  <integer>10</integer>
  <key>AbandonProcessGroup</key>
  <true/>
  <key>StandardErrorPath</key>
  <string>${xml(log)}</string>
</dict>
</plist>
`;
}

/** launchd always restarts after a failure, so exit code 78 becomes success. Signals are passed on to the program. */
export const UNLESS_78 = `p=; t=
trap 't=1; [ -z "$p" ] || kill -TERM "$p"' TERM INT HUP
"$@" & p=$!
[ -z "$t" ] || kill -TERM "$p"
wait "$p"; s=$?
while kill -0 "$p" 2>/dev/null; do wait "$p"; s=$?; done
[ "$s" -eq ${EXIT.config} ] && exit 0
exit "$s"`;

/** Quoted; "%" begins a systemd specifier. */
function systemdWord(word: string): string {
  if (/[\p{Cc}]/u.test(word)) throw new RangeError('a systemd unit cannot contain a control character');
  return `"${word.replace(/[\\"]/g, '\\$&').replaceAll('%', '%%')}"`;
}

/** In a command line, "$" begins a variable as well. */
function systemdCommandWord(word: string): string {
  return systemdWord(word).replaceAll('$', '$$$$');
}

function xml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}

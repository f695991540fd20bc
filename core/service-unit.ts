// The service definitions for systemd and launchd: start threadmux when the user logs in, restart it after a failure but not
// after a configuration error (exit code 78), and stop only our process, so that the tmux server it started keeps running.

import { EXIT } from './exit-codes.ts';

interface ServiceFacts {
  readonly node: string;
  /** The compiled program. */
  readonly program: string;
  /** PATH, so that tmux, ssh and the agent are found, and THREADMUX_HOME. Never a token. */
  readonly env: Readonly<Record<string, string>>;
}

export const SERVICE_MARK = 'Written by `threadmux service install`; `threadmux service remove` removes it.';
export const LABEL = 'threadmux';

export function systemdUnit({ node, program, env }: ServiceFacts): string {
  return `# ${SERVICE_MARK}
[Unit]
Description=threadmux: chat with your Claude Code sessions
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

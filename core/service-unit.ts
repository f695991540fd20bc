// What a service manager is told: start it with the user's session, again when it fails, not when the configuration is at fault
// (78), and end our process alone: the tmux server that it started lives on.

import { EXIT } from './exit-codes.ts';

export interface ServiceFacts {
  readonly node: string;
  /** The compiled program. */
  readonly program: string;
  /** PATH, so that tmux, ssh and the agent are found, and where our home is. Never a token. */
  readonly env: Readonly<Record<string, string>>;
}

export const SERVICE_MARK =
  'Written by `threadmux service install`; `threadmux service remove` removes it.';
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
# The link that it prints holds a secret: \`threadmux link\` shows it.
StandardOutput=null
Restart=on-failure
RestartSec=5
RestartPreventExitStatus=${EXIT.config}
# The tmux server and its sessions are not ours to end.
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

/** launchd knows no exit code that it should leave alone, only success: 78 becomes one. A signal goes to the program. */
export const UNLESS_78 = `p=; t=
trap 't=1; [ -z "$p" ] || kill -TERM "$p"' TERM INT HUP
"$@" & p=$!
[ -z "$t" ] || kill -TERM "$p"
wait "$p"; s=$?
while kill -0 "$p" 2>/dev/null; do wait "$p"; s=$?; done
[ "$s" -eq ${EXIT.config} ] && exit 0
exit "$s"`;

/** In quotes; "%" begins a specifier of systemd's. */
function systemdWord(word: string): string {
  if (/[\p{Cc}]/u.test(word)) throw new RangeError('a control character cannot be in a unit');
  return `"${word.replace(/[\\"]/g, '\\$&').replaceAll('%', '%%')}"`;
}

/** In a command line "$" begins a variable, too. */
function systemdCommandWord(word: string): string {
  return systemdWord(word).replaceAll('$', '$$$$');
}

function xml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

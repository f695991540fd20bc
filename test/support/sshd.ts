// The real sshd, one process per connection (`sshd -i`), behind a port of the test: it runs as the user who runs the test,
// with another HOME and PATH.

import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { userInfo } from 'node:os';
import { join } from 'node:path';

interface SshdOptions {
  /** Contains the keys `host` and `client`. */
  readonly dir: string;
  readonly home: string;
  readonly path: string;
}

const SSHD = '/usr/sbin/sshd';

export const sshdUser = () => userInfo().username;

export function openSshd({ dir, home, path }: SshdOptions): Server {
  if (!existsSync(SSHD)) throw new Error(`this test needs ${SSHD}: install openssh-server`);
  // Debian's sshd needs it as root; its service would create it.
  if (process.getuid?.() === 0 && process.platform === 'linux')
    mkdirSync('/run/sshd', { recursive: true, mode: 0o755 });
  const config = join(dir, 'sshd_config');
  writeFileSync(
    config,
    `HostKey ${join(dir, 'host')}
AuthorizedKeysFile ${join(dir, 'client.pub')}
StrictModes no
UsePAM no
PermitUserRC no
PidFile none
LogLevel QUIET
SetEnv HOME=${home} PATH=${path}
`,
  );
  return createServer({ noDelay: true }, (socket) => {
    const sshd = spawn(SSHD, ['-i', '-e', '-f', config], { env: {}, stdio: ['pipe', 'pipe', 'inherit'] });
    for (const stream of [socket, sshd.stdin, sshd.stdout]) stream.on('error', () => {});
    socket.pipe(sshd.stdin);
    sshd.stdout.pipe(socket);
    socket.on('close', () => sshd.stdin.destroy());
  }).listen(0, '127.0.0.1');
}

// An SSH server on loopback that the test starts itself, with faults that the test switches on.
// The client is the real OpenSSH one, with its own configuration file, key and known hosts.

import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import ssh2, { type Connection, type ServerChannel } from 'ssh2';
import { type SshHostOptions, sshHost } from '../../hosts/ssh.ts';
import { atEnd } from './at-end.ts';
import { openSshd, sshdUser } from './sshd.ts';

interface SshFaults {
  /** Accepts connections and never answers. */
  silent: boolean;
  /** Passes no more bytes in either direction, on old and new connections. */
  frozen: boolean;
  latencyMs: number;
  passwordOnly: boolean;
}

export interface SshServer {
  readonly port: number;
  /** The home of the login user, with the start-up files of the shells. */
  readonly home: string;
  readonly faults: SshFaults;
  /** The number of requests to the server so far. */
  readonly counts: { connections: number; execs: number; sessionsAtOnce: number };
  readonly configFile: string;
  readonly controlDir: string;
  readonly host: (options?: Partial<SshHostOptions>) => ReturnType<typeof sshHost>;
  /** Cuts every connection, as a lost network does. */
  readonly drop: () => void;
  /** Switches it off: connections are refused. */
  readonly stop: () => Promise<void>;
  readonly start: (port?: number) => Promise<void>;
  readonly changeHostKey: () => void;
}

export interface SshServerOptions {
  /** Its name in the client's configuration. */
  readonly name?: string;
  /** A path, or a program with its first arguments: `busybox sh`. */
  readonly shell?: string;
  readonly banner?: string;
  readonly maxSessions?: number;
  readonly path?: string;
  /** An existing folder, for example on another disk. */
  readonly home?: string;
  /** The real one, without the counts of execs, `changeHostKey` and a choice of the shell. */
  readonly sshd?: boolean;
}

export async function startSshServer(options: SshServerOptions = {}): Promise<SshServer> {
  const dir = mkdtempSync(join(tmpdir(), 'tmssh-'));
  const home = options.home ?? join(dir, 'home');
  mkdirSync(home, { recursive: true });
  const faults: SshFaults = { silent: false, frozen: false, latencyMs: 0, passwordOnly: false };
  const counts = { connections: 0, execs: 0, sessionsAtOnce: 0 };
  const pairs = new Set<Socket>();
  const clientKey = makeKey(dir, 'client');
  const login = { ...options, home, faults, counts, publicKey: parseKey(clientKey) };
  const hostKey = makeKey(dir, 'host');
  let inner = options.sshd ? openSshd({ dir, home, path: options.path ?? '/usr/bin:/bin' }) : openInner(hostKey, login);
  const outer = createServer((socket) => {
    counts.connections++;
    track(pairs, socket);
    if (faults.silent) return;
    const upstream = connect((inner.address() as AddressInfo).port, '127.0.0.1');
    track(pairs, upstream);
    carry(socket, upstream, faults);
    carry(upstream, socket, faults);
  });
  const drop = () => {
    for (const socket of pairs) socket.destroy();
  };
  const start = (at = port) =>
    new Promise<void>((done, failed) => {
      outer.once('error', failed);
      outer.listen(at, '127.0.0.1', done);
    });
  const stop = () => new Promise<void>((done) => outer.close(() => done()).unref() && drop());
  let port = 0;
  await start();
  port = (outer.address() as AddressInfo).port;
  const configFile = join(dir, 'config');
  const controlDir = join(dir, 'c');
  writeFileSync(configFile, clientConfig(dir, port, options));
  const hosts: ReturnType<typeof sshHost>[] = [];
  atEnd(async () => {
    await Promise.all(hosts.map((host) => host.close()));
    if (outer.listening) await stop();
    inner.close();
    rmSync(dir, { recursive: true, force: true, maxRetries: 10 });
  });
  return {
    port,
    home,
    faults,
    counts,
    configFile,
    controlDir,
    drop,
    stop,
    start,
    changeHostKey() {
      inner.close();
      inner = openInner(makeKey(dir, 'host2'), login);
    },
    host(given = {}) {
      const env = { PATH: process.env.PATH ?? '' };
      const host = sshHost({ name: 'far', ssh: 'far', controlDir, configFile, env, ...given });
      hosts.push(host);
      return host;
    },
  };
}

interface Login extends SshServerOptions {
  readonly home: string;
  readonly faults: SshFaults;
  readonly counts: SshServer['counts'];
  readonly publicKey: Buffer;
}

function openInner(hostKey: string, login: Login): Server {
  const banner = login.banner === undefined ? {} : { banner: login.banner };
  const server = new ssh2.Server({ hostKeys: [hostKey], ...banner }, (client) => {
    client.on('error', () => {}); // cut connections are part of the tests
    client.on('authentication', (attempt) => {
      if (login.faults.passwordOnly) attempt.reject(['password', 'keyboard-interactive']);
      else if (attempt.method === 'publickey' && attempt.key.data.equals(login.publicKey)) attempt.accept();
      else attempt.reject(['publickey']);
    });
    client.on('ready', () => serve(client, login));
  });
  // The listener of ssh2 leaves Nagle's algorithm on, which would make every exec 80 ms slower.
  return createServer({ noDelay: true }, (socket) => server.injectSocket(socket)).listen(0, '127.0.0.1');
}

function serve(client: Connection, login: Login): void {
  let open = 0;
  client.on('session', (accept, reject) => {
    if (open >= (login.maxSessions ?? 10)) return reject();
    const session = accept();
    open++;
    login.counts.sessionsAtOnce = Math.max(login.counts.sessionsAtOnce, open);
    session.on('close', () => open--);
    session.on('env', (acceptEnv) => acceptEnv?.());
    session.on('exec', (acceptExec, _, { command }) => {
      login.counts.execs++;
      runInShell(acceptExec(), command, login);
    });
  });
}

/** Like sshd: runs it in the login shell, in the home, and lets it run on when the connection is lost. */
function runInShell(channel: ServerChannel, command: string, login: Login): void {
  const shell = login.shell ?? '/bin/sh';
  const [program = shell, ...words] = shell.split(' ');
  const child = spawn(program, [...words, '-c', command], {
    cwd: login.home,
    detached: true,
    env: {
      HOME: login.home,
      SHELL: shell,
      USER: 'someone',
      LOGNAME: 'someone',
      PATH: login.path ?? '/usr/bin:/bin',
      SSH_CLIENT: '127.0.0.1 1 22',
    },
  });
  // A call that arrives while the test ends finds no home to start in. Unhandled, that would fail the whole run.
  for (const one of [child, child.stdin, child.stdout, child.stderr]) one.on('error', () => {});
  channel.on('error', () => {});
  channel.pipe(child.stdin);
  child.stdout.pipe(channel, { end: false });
  child.stderr.pipe(channel.stderr, { end: false });
  channel.on('close', () => {
    child.stdin.destroy();
    child.stdout.destroy();
    child.stderr.destroy();
  });
  child.on('close', (status) => {
    channel.exit(status ?? 255);
    channel.end();
  });
}

function carry(from: Socket, to: Socket, faults: SshFaults): void {
  let last = Promise.resolve();
  from.on('data', (bytes) => {
    const due = Date.now() + faults.latencyMs;
    last = last.then(async () => {
      while (faults.frozen && !from.destroyed) await sleep(20);
      if (due > Date.now()) await sleep(due - Date.now());
      to.write(bytes);
    });
  });
  from.on('close', () => {
    last = last.then(() => {
      to.end();
    });
  });
}

function track(sockets: Set<Socket>, socket: Socket): void {
  sockets.add(socket);
  socket.setNoDelay(true);
  socket.on('error', () => {}); // being cut off is its purpose
  socket.on('close', () => sockets.delete(socket));
}

const made = new Map<string, { readonly key: string; readonly public: string }>();

/**
 * Made by ssh-keygen, which every OpenSSH client includes: sometimes ssh2 makes a key that it cannot read itself. All servers of a
 * process have the same keys.
 */
function makeKey(dir: string, name: string): string {
  const file = join(dir, name);
  const known = made.get(name);
  if (known === undefined) execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', '', '-f', file]);
  else {
    writeFileSync(file, known.key, { mode: 0o600 });
    writeFileSync(`${file}.pub`, known.public);
  }
  const key = readFileSync(file, 'utf8');
  made.set(name, { key, public: readFileSync(`${file}.pub`, 'utf8') });
  return key;
}

function parseKey(key: string): Buffer {
  const parsed = ssh2.utils.parseKey(key);
  if (parsed instanceof Error) throw parsed;
  return parsed.getPublicSSH();
}

function clientConfig(dir: string, port: number, { name, sshd }: SshServerOptions): string {
  return `Host ${name ?? 'far'}
  HostName 127.0.0.1
  Port ${port}
  User ${sshd ? sshdUser() : 'someone'}
  IdentityFile ${join(dir, 'client')}
  IdentitiesOnly yes
  IdentityAgent none
  UserKnownHostsFile ${join(dir, 'known_hosts')}
  GlobalKnownHostsFile /dev/null
  StrictHostKeyChecking accept-new
`;
}

/** The installed ones of the four. zsh and fish may be missing; the others are part of every system. */
export function loginShells(): string[] {
  const found = (name: string) => spawnSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).stdout.trim();
  const missing = ['bash', 'dash'].filter((name) => found(name) === '');
  if (missing.length > 0) throw new Error(`these tests need ${missing.join(' and ')}: install it`);
  return ['bash', 'dash', 'zsh', 'fish'].map(found).filter((path) => path !== '');
}

// An SSH server on loopback in its own process, with a client configuration for it.
// usage: ssh-server.mjs <folder> [<host>…]; each host has its own home. It answers each message with the counts so far: 'counts',
// 'away' (it cuts and refuses connections), and 'back'.

import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import ssh2 from 'ssh2';

const [folder, ...names] = process.argv.slice(2);
const home = `${folder}/home`;
const homeOf = (name) => (name === 'someone' ? home : `${folder}/home-${name}`);
for (const name of ['someone', ...names]) mkdirSync(homeOf(name), { recursive: true });
const counts = { connections: 0, execs: 0, printed: 0, times: [], connectedAt: 0 };
const sockets = new Set();
let port = 0;
const now = () => performance.timeOrigin + performance.now();
const makeKey = (name) => {
  const args = ['-q', '-t', 'ed25519', '-N', '', '-C', '', '-f', `${folder}/${name}`];
  execFileSync('ssh-keygen', args);
  return readFileSync(`${folder}/${name}`, 'utf8');
};
const client = ssh2.utils.parseKey(makeKey('client')).getPublicSSH();

const ssh = new ssh2.Server({ hostKeys: [makeKey('host')] }, (connection) => {
  counts.connections++;
  let user = '';
  connection.on('error', () => {});
  connection.on('ready', () => {
    counts.connectedAt ||= now();
  });
  connection.on('authentication', (attempt) => {
    user = attempt.username;
    attempt.method === 'publickey' && attempt.key.data.equals(client)
      ? attempt.accept()
      : attempt.reject(['publickey']);
  });
  connection.on('session', (accept) => {
    const session = accept();
    session.on('exec', (acceptExec, _, { command }) => run(acceptExec(), command, user));
  });
});

function run(channel, command, user) {
  counts.execs++;
  counts.times.push(now());
  const home = homeOf(user);
  const env = { HOME: home, PATH: process.env.PATH, SHELL: '/bin/sh' };
  const child = spawn('/bin/sh', ['-c', command], { cwd: home, env });
  for (const stream of [child.stdin, child.stdout, child.stderr, channel]) stream.on('error', () => {});
  channel.pipe(child.stdin);
  child.stdout.on('data', (bytes) => {
    counts.printed += bytes.length;
  });
  child.stdout.pipe(channel, { end: false });
  child.stderr.pipe(channel.stderr, { end: false });
  child.on('close', (status) => {
    channel.exit(status ?? 255);
    channel.end();
  });
}

// The listener of ssh2 leaves Nagle's algorithm on, which would make every exec 80 ms slower.
const server = createServer({ noDelay: true }, (socket) => {
  sockets.add(socket);
  socket.on('close', () => sockets.delete(socket));
  ssh.injectSocket(socket);
});
server.listen(0, '127.0.0.1', () => {
  const config = `${folder}/config`;
  const hosts = [['far', 'someone'], ...names.map((name) => [name, name])];
  writeFileSync(config, hosts.map((host) => configOf(...host)).join(''));
  process.send({ config, home });
});
process.on('message', (asked) => {
  const answer = () => process.send(counts);
  if (asked === 'back') {
    counts.connectedAt = 0;
    server.listen(port, '127.0.0.1', answer);
  } else if (asked === 'away') {
    port = server.address().port;
    server.close(answer);
    for (const socket of sockets) socket.destroy();
  } else answer();
});
process.on('disconnect', () => process.exit());

function configOf(host, user) {
  return `Host ${host}
  HostName 127.0.0.1
  Port ${server.address().port}
  User ${user}
  IdentityFile ${folder}/client
  IdentitiesOnly yes
  IdentityAgent none
  UserKnownHostsFile ${folder}/known_hosts
  GlobalKnownHostsFile /dev/null
  StrictHostKeyChecking accept-new
`;
}

// The cost of ten idle hosts on this machine: memory of the bridge, and processes.

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { conclude, discordEnv, measure, median, PROBED, PROCESSES, PROGRAM, printTable, until } from './support.mjs';

const TEN = Array.from({ length: 10 }, (_, n) => `h${n}`);

await measure(async ({ folder, start }) => {
  const ssh = start(new URL('ssh-server.mjs', PROCESSES), { args: [folder, ...TEN] });
  const { config: sshConfig } = await ssh.next();
  const rows = [];
  const serving = start(new URL('workspace.mjs', PROCESSES), { args: [join(folder, 'workspace')] });
  const workspace = await serving.next();
  for (const names of [[], TEN]) rows.push(await idle({ names, folder, start, sshConfig, workspace }));
  const [none, ten] = rows;
  printTable('A bridge that waits, with no other host and with ten', [
    ['', 'MB', 'processes for ssh', 'MB of those'],
    ...rows.map((one) => [one.name, one.mb.toFixed(1), String(one.clients), one.clientMb.toFixed(1)]),
  ]);
  conclude(
    `ten idle hosts cost ${(ten.mb - none.mb).toFixed(1)} MB in the bridge, and at most two processes each`,
    ten.mb - none.mb <= 20 && ten.clients <= 20 && ten.clients >= 10,
  );
});

/** The whole program, connected and idle: its memory, and its ssh clients. */
async function idle({ names, folder, start, sshConfig, workspace }) {
  const home = join(folder, `idle-${names.length}`);
  const bin = join(home, 'bin');
  mkdirSync(bin, { recursive: true, mode: 0o700 });
  // The ssh client finds its configuration through the password file, not through HOME.
  const client = `#!/bin/sh\nPATH=\${PATH#*:}; exec ssh -F '${sshConfig}' "$@"\n`;
  writeFileSync(join(bin, 'ssh'), client, { mode: 0o755 });
  const hosts = Object.fromEntries(names.map((name) => [name, { ssh: name }]));
  writeFileSync(join(home, 'config.json'), JSON.stringify({ hosts }), { mode: 0o600 });
  const program = start(PROGRAM, {
    args: ['bridge'],
    nodeOptions: PROBED,
    env: {
      PATH: `${bin}:${process.env.PATH}`,
      THREADMUX_HOME: home,
      THREADMUX_HOST: 'laptop',
      ...discordEnv(workspace),
      THREADMUX_TMUX_SOCKET: join(folder, 'no-tmux'),
    },
  });
  const bell = (name) => join(folder, `home-${name}`, '.threadmux/for/laptop/bell');
  await until(() => names.every((name) => existsSync(bell(name))));
  for (let second = 0; second < 10; second++) {
    await program.ask('memory');
    await sleep(1_000);
  }
  const clients = execFileSync('ps', ['-eo', 'rss=,comm=,args='], { encoding: 'utf8' })
    .split('\n')
    .filter((line) => /^\s*\d+ ssh /.test(line) && line.includes(join(home, '')));
  const memory = [];
  for (let n = 0; n < 5; n++) memory.push((await program.ask('memory')).residentBytes);
  await program.stop();
  return {
    name: names.length === 0 ? 'no other host' : `${names.length} hosts`,
    mb: median(memory) / 2 ** 20,
    clients: clients.length,
    clientMb: clients.reduce((sum, line) => sum + Number.parseInt(line, 10), 0) / 1024,
  };
}

// A machine without free file watches. On Linux the limit is real: a user namespace has none left. Where no such
// limit can be set, Node.js is made to refuse every watch.

import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { startTestWorkspace } from '../support/workspace.ts';
import { PROGRAM, startCli, WAIT } from './cli.ts';

const REFUSE = `import { syncBuiltinESMExports } from 'node:module';
import files from 'node:fs';
files.watch = () => { throw Object.assign(new Error('EMFILE: watch'), { code: 'EMFILE', syscall: 'watch' }); };
syncBuiltinESMExports();`;

function withoutWatches(limit: string): readonly string[] {
  const up = [PROGRAM, 'up'];
  const namespace = ['--user', '--map-root-user'];
  if (spawnSync('unshare', [...namespace, 'true']).status !== 0)
    return [process.execPath, '--import', `data:text/javascript,${encodeURIComponent(REFUSE)}`, ...up];
  const script = `echo 0 > /proc/sys/user/${limit} && exec "$@"`;
  return ['unshare', ...namespace, 'sh', '-c', script, 'sh', process.execPath, ...up];
}

it.each(['max_inotify_instances', 'max_inotify_watches'])(
  'starts without file watches, polls instead, and says so once: %s is 0',
  async (limit) => {
    const workspace = await startTestWorkspace();
    const { person, api, token, channelId, userId } = workspace;
    const cli = startCli({ servers: [{ name: 'test', token, channel: channelId, allow: [userId], api }] });
    mkdirSync(join(cli.root, 'state'), { mode: 0o700 });
    writeFileSync(join(cli.root, 'state', 'auto.json'), '{"on":true}');
    const [program = '', ...args] = withoutWatches(limit);
    const child = spawn(program, args, { env: cli.env, stdio: ['ignore', 'pipe', 'pipe'] });
    const ended = new Promise((resolve) => child.once('exit', resolve));
    onTestFinished(async () => {
      child.kill('SIGKILL');
      await ended;
    });
    let printed = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (data) => {
        printed += data;
      });
    await vi.waitFor(() => expect(printed).toContain('threadmux is running'), WAIT);
    const titles = async () => {
      const { body } = await person.call('GET', `/guilds/${workspace.guildId}/threads/active`);
      return (body.threads as { name: string }[]).map(({ name }) => name);
    };
    cli.tmux.call('new-session', '-d', '-s', 'first');
    mkdirSync(join(cli.root, 'state', 'tmux-events'), { recursive: true });
    writeFileSync(join(cli.root, 'state', 'tmux-events', 'first'), '');
    await vi.waitFor(async () => expect(await titles()).toContain('[agent] first'), WAIT);
    cli.tmux.call('new-session', '-d', '-s', 'second');
    writeFileSync(join(cli.root, 'state', 'tmux-events', 'second'), '');
    await vi.waitFor(async () => expect(await titles()).toContain('[agent] second'), WAIT);
    const log = readFileSync(join(cli.root, 'log', 'threadmux.log'), 'utf8');
    expect(log.match(/no file watches left/g)).toHaveLength(1);
    expect(child.exitCode).toBeNull();
  },
  60_000,
);

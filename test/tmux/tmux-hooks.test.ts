import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import {
  addSourceLine,
  eventScript,
  hooksConf,
  loadHooks,
  removeSourceLine,
  unloadHooks,
} from '../../tmux/tmux-hooks.ts';
import { startTmux, type TmuxServer } from '../support/tmux-server.ts';

const HOSTILE = 'x"; touch pwned; $(touch pwned) #{pane_id}';

/** A home with the script and the configuration, under a name with every special character. */
function writeHome(server: TmuxServer, name = `h 'o"m\\e$(touch pwned) #{pid} [a]*;~`) {
  const root = join(server.dir, name);
  mkdirSync(root);
  const conf = join(root, 'tmux.conf');
  writeFileSync(join(root, 'tmux-event'), eventScript);
  writeFileSync(conf, hooksConf(join(root, 'tmux-event')));
  const box = join(root, 'state', 'tmux-events');
  const notes = () =>
    (existsSync(box) ? readdirSync(box) : []).map((file) => ({
      file,
      words: readFileSync(join(box, file), 'utf8').trimEnd().split('\n'),
    }));
  return { conf, notes };
}

/** A normal pane: any output of a hook would be visible in it, as a view. */
function startWithPane(): TmuxServer {
  const server = startTmux();
  server.call('new-session', '-d', '-s', 'first');
  return server;
}

describe('the hooks in tmux', () => {
  it('report sessions that are created, renamed and closed', async () => {
    const server = startWithPane();
    const { conf, notes } = writeHome(server);
    expect(await loadHooks(server.tmux, conf)).toBe(true);
    const id = server.call('new-session', '-d', '-s', 'web', '-P', '-F', '#{session_id}');
    const pid = server.call('display-message', '-p', '#{pid}');
    const note = (kind: string) => notes().find(({ file }) => file === `${pid}.${id.slice(1)}.${kind}`)?.words;

    const words = (kind: string, name: string) => [
      kind,
      `--server=${pid}`,
      `--id=${id}`,
      `--name=${name}`,
      `--socket=${server.socket}`,
    ];
    await vi.waitFor(() => expect(note('created')).toEqual(words('created', 'web')), 20_000);
    server.call('rename-session', '-t', '=web', 'shop');
    await vi.waitFor(() => expect(note('renamed')).toEqual(words('renamed', 'shop')), 20_000);
    server.call('kill-session', '-t', '=shop');
    await vi.waitFor(() => expect(note('closed')).toEqual(words('closed', 'shop')), 20_000);
    expect(server.call('display-message', '-p', '-t', '=first:', '#{pane_in_mode}')).toBe('0');
    expect(existsSync(join(server.dir, 'pwned'))).toBe(false);
  });

  it.each([HOSTILE, '`touch pwned`', "'; touch pwned; '", '~root', '-x', '$HOME', '#(touch pwned)', '\\'])(
    'execute nothing in a session named %j',
    async (name) => {
      const server = startWithPane();
      const { conf, notes } = writeHome(server);
      await loadHooks(server.tmux, conf);
      server.call('new-session', '-d', '-s', 'plain', '-c', server.dir);
      server.call('rename-session', '-t', '=plain', '--', name.replaceAll('#', '##'));
      const actual = server.call('list-sessions', '-F', '#{session_name}').split('\n');
      await vi.waitFor(() => {
        const renamed = notes().find(({ words }) => words[0] === 'renamed');
        expect(actual.map((one) => `--name=${one}`)).toContain(renamed?.words[3]);
      }, 20_000);
      for (const folder of [server.dir, process.cwd()]) expect(existsSync(join(folder, 'pwned'))).toBe(false);
    },
  );

  it('keep the user’s own hook running, before, during and after', async () => {
    const server = startWithPane();
    const { conf, notes } = writeHome(server);
    const log = join(server.dir, 'own.log');
    server.call('set-hook', '-g', 'session-created', `run-shell -b "echo #{q:hook_session_name} >> ${log}"`);
    const own = () => (existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : []);
    const untouched = server.call('show-hooks', '-g');

    server.call('new-session', '-d', '-s', 'before');
    await vi.waitFor(() => expect(own()).toEqual(['before']), 20_000);
    await loadHooks(server.tmux, conf);
    await loadHooks(server.tmux, conf);
    server.call('new-session', '-d', '-s', 'during');
    await vi.waitFor(() => expect(own()).toEqual(['before', 'during']), 20_000);
    await vi.waitFor(() => expect(notes()).toHaveLength(1), 20_000);
    expect(await unloadHooks(server.tmux)).toBe(true);
    server.call('new-session', '-d', '-s', 'after');
    await vi.waitFor(() => expect(own()).toEqual(['before', 'during', 'after']), 20_000);
    expect(server.call('show-hooks', '-g')).toBe(untouched);
    expect(server.call('show-options', '-g')).not.toContain('threadmux');
    expect(notes()).toHaveLength(1);
  });

  it('are restored when the user’s configuration is read again', async () => {
    const server = startWithPane();
    const { conf, notes } = writeHome(server);
    const config = join(server.dir, '.tmux.conf');
    const own = `set-hook -g session-created 'set -g @own yes'\nset -g status-left \\\n x \\`;
    writeFileSync(config, addSourceLine(own, conf));
    server.call('source-file', config);
    server.call('source-file', config);
    server.call('new-session', '-d', '-s', 'web');
    await vi.waitFor(() => expect(notes()).toHaveLength(1), 20_000);
    expect(server.call('show-options', '-gv', '@own')).toBe('yes');
    expect(server.call('show-options', '-gv', 'status-left')).toBe('x');
  });

  it('do nothing where no server runs', async () => {
    const server = startTmux();
    const { conf } = writeHome(server);
    expect(await loadHooks(server.tmux, conf)).toBe(false);
    expect(await unloadHooks(server.tmux)).toBe(false);
  });

  it('do not replace a hook that someone else has put at our index', async () => {
    const server = startWithPane();
    server.call('set-hook', '-g', 'session-created[8410]', 'display-message theirs');
    expect(await unloadHooks(server.tmux)).toBe(false);
    expect(server.call('show-hooks', '-g')).toContain('theirs');
  });
});

describe('our line in the tmux configuration', () => {
  const line = "source-file -q '/h/tmux.conf' # threadmux\n";
  it.each([
    ['', line],
    ['set -g mouse on\n', `set -g mouse on\n${line}`],
    ['set -g mouse on', `set -g mouse on\n${line}`],
    ['set -g x \\\n', `set -g x \\\n\n${line}`],
    [`a\nsource-file -q '/old/tmux.conf' # threadmux\nb\n`, `a\nb\n${line}`],
  ])('is added to %j once', (text, expected) => {
    const after = addSourceLine(text, '/h/tmux.conf');
    expect(after).toBe(expected);
    expect(addSourceLine(after, '/h/tmux.conf')).toBe(after);
  });

  it('is removed without the lines around it', () => {
    expect(removeSourceLine(`a # threadmux\n${line}source-file x\nb`)).toBe('a # threadmux\nsource-file x\nb');
  });
});

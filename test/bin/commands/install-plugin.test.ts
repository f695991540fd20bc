// `threadmux install` beside a plugin that the user installed or removed with Claude Code's own commands.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startCli } from '../cli.ts';

const NAME = 'threadmux@threadmux';
const ON = { enabledPlugins: { [NAME]: true } };

function startUser() {
  const cli = startCli({ agents: { claude: { command: ['false'] } } }); // no command of Claude Code works
  const write = (path: string, value: object) => {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, JSON.stringify(value));
  };
  const shop = join(cli.dir, 'shop');
  mkdirSync(shop);
  const settings = join(cli.dir, '.claude/settings.json');
  return { ...cli, write, shop, settings, plugins: join(cli.dir, '.claude/plugins/installed_plugins.json') };
}

describe('threadmux install', () => {
  it('refuses the hooks where Claude Code has the plugin, for the user or for a project', async () => {
    const { run, write, settings, shop, plugins } = startUser();
    write(settings, ON);
    for (const more of [[], ['--project', shop]]) {
      const { status, stderr } = await run(['install', '--no-tmux', ...more]);
      expect([status, stderr]).toEqual([2, expect.stringContaining('the plugin is installed, and it has the hooks')]);
      expect(stderr).toContain(`claude plugin uninstall ${NAME}`);
    }
    write(settings, {});
    write(plugins, { version: 2, plugins: { [NAME]: [{ scope: 'local', projectPath: shop }] } });
    write(join(shop, '.claude/settings.local.json'), ON);
    for (const more of [[], ['--project', shop]]) {
      const { status, stderr } = await run(['install', '--no-tmux', ...more]);
      expect([status, stderr]).toEqual([2, expect.stringContaining(`the plugin is installed in ${shop}`)]);
    }
    write(join(shop, '.claude/settings.local.json'), { enabledPlugins: { [NAME]: false } });
    expect(await run(['install', '--no-tmux'])).toMatchObject({ status: 0 });
  });

  it('refuses the plugin where the hooks are, for the user or for a project', async () => {
    const { run, shop } = startUser();
    expect(await run(['install', '--no-tmux', '--project', shop])).toMatchObject({ status: 0 });
    const refused = await run(['install', '--no-tmux', '--plugin']);
    expect(refused).toMatchObject({ status: 2, stderr: expect.stringContaining('the hooks are already in') });
    expect(refused.stderr).toContain(join(shop, '.claude/settings.local.json'));
  });
});

it('threadmux install --plugin gives Claude Code no bot token', async () => {
  const { run, dir, root } = startCli();
  const claude = join(dir, 'claude');
  writeFileSync(claude, `#!/bin/sh\nenv > '${dir}/environment'\n`, { mode: 0o755 });
  writeFileSync(join(root, 'config.json'), JSON.stringify({ agents: { claude: { command: [claude] } } }), {
    mode: 0o600,
  });
  const server = {
    DISCORD_BOT_TOKEN: 'a.bot.token',
    DISCORD_CHANNEL_ID: '111111111111111111',
    DISCORD_ALLOWED_USERS: '222222222222222222',
  };
  expect(await run(['install', '--no-tmux', '--plugin'], { env: server })).toMatchObject({ status: 0 });
  const environment = readFileSync(join(dir, 'environment'), 'utf8');
  expect(environment).toContain('HOME=');
  expect(environment).not.toContain('a.bot.token');
});

it('threadmux uninstall works after the plugin was removed with Claude Code', async () => {
  const { run, write, root, settings } = startUser();
  write(settings, {});
  const record = join(root, 'state/plugin.json');
  write(record, { settings, before: null, sha256: '', madePlugins: false });
  const { status, stdout } = await run(['uninstall', '--no-tmux']);
  expect([status, stdout]).toEqual([0, expect.stringContaining('removed the plugin')]);
  expect(existsSync(record)).toBe(false);
  expect(readFileSync(settings, 'utf8')).toBe('{}');
});

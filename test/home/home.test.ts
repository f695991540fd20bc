import { chmodSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { ThreadmuxError } from '../../core/errors.ts';
import { maskKnown, maskSecrets } from '../../core/mask-secrets.ts';
import { readJson, readText, writeJson, writeWhole } from '../../home/atomic-write.ts';
import { loadConfig } from '../../home/config-file.ts';
import { homeRoot, openHome } from '../../home/home.ts';
import { openLogFile } from '../../home/log-file.ts';
import { tempFolder, tempHome } from '../support/temp-home.ts';

const mode = (path: string) => statSync(path).mode & 0o777;

describe('the home', () => {
  it('is ~/.threadmux, or where THREADMUX_HOME says', () => {
    expect(homeRoot({ HOME: '/home/me' })).toBe('/home/me/.threadmux');
    expect(homeRoot({ HOME: '/home/me', THREADMUX_HOME: '/elsewhere' })).toBe('/elsewhere');
  });

  it('is private, even if it was open before', () => {
    const root = join(tempFolder(), 'open');
    mkdirSync(root, { mode: 0o755 });
    chmodSync(root, 0o755);
    expect(mode(openHome(root).folder('outbox'))).toBe(0o700);
    expect(mode(root)).toBe(0o700);
  });

  it('is refused when it is a symbolic link', () => {
    const folder = tempFolder();
    mkdirSync(join(folder, 'target'));
    symlinkSync(join(folder, 'target'), join(folder, 'link'));
    expect(() => openHome(join(folder, 'link'))).toThrow(/not a folder that you own/);
    symlinkSync(join(folder, 'nowhere'), join(folder, 'other'));
    expect(() => openHome(join(folder, 'other'))).toThrow(/not a folder that you own/);
  });
});

describe('files', () => {
  it('are written whole and private, leaving nothing behind', () => {
    const folder = tempFolder();
    writeWhole(join(folder, 'a'), 'x'.repeat(1_000_000));
    writeJson(join(folder, 'b'), { n: 1 });
    expect(readdirSync(folder).sort()).toEqual(['a', 'b']);
    expect(mode(join(folder, 'a'))).toBe(0o600);
    expect(readText(join(folder, 'a'))).toHaveLength(1_000_000);
    expect(readJson(join(folder, 'b'), z.object({ n: z.number() }))).toEqual({ n: 1 });
  });

  it('that are missing, or not what we wrote, are undefined', () => {
    const folder = tempFolder();
    writeFileSync(join(folder, 'broken'), '{"n":');
    writeFileSync(join(folder, 'other'), '{"m":1}');
    const schema = z.object({ n: z.number() });
    for (const name of ['missing', 'broken', 'other']) expect(readJson(join(folder, name), schema)).toBeUndefined();
  });
});

describe('config.json', () => {
  it('names the secrets that are masked from then on, whatever their form', () => {
    const home = tempHome();
    const server = { channel: '123456789012345678', allow: ['123456789012345678'], token: 'odd+token/of=a-server' };
    const notify = [{ url: 'https://me:topic%20word@x' }, { url: 'https://tk_0123456789@x' }];
    const api = 'http://me:odd%2Bpassword@127.0.0.1:1/api';
    writeFileSync(home.path('config.json'), JSON.stringify({ servers: [{ ...server, api }], notify }), { mode: 0o600 });
    loadConfig(home, {});
    expect(maskSecrets('a topic%20word, a topic word and tk_0123456789')).toBe('a [secret], a [secret] and [secret]');
    const said = `400 odd+token/of=a-server, ${api} and odd+password`;
    expect(maskSecrets(said)).toBe('400 [secret], http://me:[secret]@127.0.0.1:1/api and [secret]');
    expect(new ThreadmuxError('discord_refused', said).message).not.toContain('odd');
    expect(maskKnown(JSON.stringify({ said }))).not.toContain('odd');
  });

  it('is refused while others can read it, with the fix', () => {
    const home = tempHome();
    const path = home.path('config.json');
    writeFileSync(path, '{}', { mode: 0o644 });
    chmodSync(path, 0o644);
    expect(() => loadConfig(home, {})).toThrow(
      expect.objectContaining({ code: 'config_invalid', hint: `Run: chmod 600 ${path}` }),
    );
    expect(() => loadConfig(home, {})).not.toThrow(/token/);
    writeFileSync(path, '{"servers": [{"token": "t"}]}');
    expect(() => loadConfig(home, {})).toThrow(/can be read by others \(mode 644\), and it contains a token$/);
    writeFileSync(path, '{}');
    chmodSync(path, 0o600);
    expect(loadConfig(home, {}).servers).toEqual([]);
  });

  it('masks a token also if the rest of the file is wrong', () => {
    const home = tempHome();
    writeWhole(home.path('config.json'), '{"servers": [{"token": "an odd secret", "an odd secret": true}]}');
    expect(() => loadConfig(home, {})).toThrow(/is not a key that threadmux knows/);
    expect(() => loadConfig(home, {})).not.toThrow(/odd secret/);
  });

  it('may name a token file, which must be private too', () => {
    const home = tempHome();
    const id = '123456789012345678';
    writeWhole(
      home.path('config.json'),
      JSON.stringify({ servers: [{ channel: id, allow: [id], tokenFile: 'token' }] }),
    );
    expect(() => loadConfig(home, {})).toThrow(/there is no file/);
    writeWhole(home.path('token'), 'sekret\n');
    expect(loadConfig(home, {}).servers[0]?.token).toBe('sekret');
    chmodSync(home.path('token'), 0o640);
    expect(() => loadConfig(home, {})).toThrow(/can be read by others \(mode 640\)/);
  });
});

describe('the log file', () => {
  it('is rotated when it is full, and keeps three old ones', () => {
    const home = tempHome();
    const log = openLogFile(home, 'test', { limit: 500 });
    for (let n = 0; n < 60; n++) log.info('event', { n });
    expect(readdirSync(home.path('log')).sort()).toEqual([
      'threadmux.log',
      'threadmux.log.1',
      'threadmux.log.2',
      'threadmux.log.3',
    ]);
    expect(readText(home.path('log', 'threadmux.log'))).toContain('test info event n=59');
    expect(mode(home.path('log', 'threadmux.log'))).toBe(0o600);
  });

  it('never contains a secret', () => {
    const home = tempHome();
    openLogFile(home, 'test', { secrets: ['tok-123456'] }).info('said', { text: 'my tok-123456 here' });
    expect(readText(home.path('log', 'threadmux.log'))).not.toContain('tok-123456');
  });
});

import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { claude } from '../../../agents/claude/driver.ts';
import { codex } from '../../../agents/codex/driver.ts';
import { gemini } from '../../../agents/gemini/driver.ts';
import { opencode } from '../../../agents/opencode/driver.ts';
import { isInPath } from '../../../bin/commands/install-agents.ts';
import { examineExtensions, examineHostExtensions } from '../../../bin/doctor/extensions.ts';
import { localHost } from '../../../hosts/host.ts';
import { tempFolder } from '../../support/temp-home.ts';

const paths = { scripts: '/opt/threadmux/dist/hooks', home: '/home/user/.threadmux' };

it('an extension is missing, installed or old', () => {
  const home = tempFolder();
  const levels = () => examineExtensions([gemini], home, paths).map(({ level, says }) => [level, says]);
  expect(levels()).toEqual([['warn', expect.stringContaining('not installed in Gemini')]]);
  const folder = join(home, '.gemini/extensions/threadmux');
  for (const [path, text] of Object.entries(gemini.extension?.files(paths) ?? {})) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  expect(levels()).toEqual([['ok', 'The extension is installed in Gemini.']]);
  writeFileSync(join(folder, 'hooks/hooks.json'), '{}');
  expect(levels()).toEqual([['warn', expect.stringContaining('not up to date')]]);
});

it('an agent that reports without an extension needs none, and one that can have it is offered it', () => {
  const home = tempFolder();
  expect(examineExtensions([claude, codex, opencode], home, paths)).toEqual([
    { part: 'hooks', level: 'ok', says: 'Codex reports if threadmux starts it. Otherwise it works by its screen.' },
    { part: 'hooks', level: 'ok', says: expect.stringContaining('`threadmux install --agent opencode`') },
  ]);
});

it('an extension on a host is looked at if it is there', async () => {
  const home = tempFolder();
  const host = localHost({ name: 'mini', env: process.env });
  const levels = async () =>
    (await examineHostExtensions(host, home, paths)).map(({ level, says, remedy }) => [level, says, remedy]);
  expect(await levels()).toEqual([]);
  const folder = join(home, '.config/opencode/plugins');
  mkdirSync(folder, { recursive: true });
  for (const [path, text] of Object.entries(opencode.extension?.files(paths) ?? {}))
    writeFileSync(join(folder, path), text);
  expect(await levels()).toEqual([['ok', 'The extension is installed in OpenCode on mini.', undefined]]);
  for (const path of Object.keys(opencode.extension?.files(paths) ?? {})) writeFileSync(join(folder, path), 'old');
  expect(await levels()).toEqual([
    ['warn', expect.stringContaining('not up to date'), 'Run `threadmux install --host mini --agent opencode`.'],
  ]);
});

it('a program is found in a folder of PATH if it can be run', () => {
  const folder = tempFolder();
  expect(isInPath(gemini, `/nonexistent:${folder}`)).toBe(false);
  writeFileSync(join(folder, 'gemini'), '#!/bin/sh\n', { mode: 0o755 });
  expect(isInPath(gemini, `/nonexistent:${folder}`)).toBe(true);
  expect(isInPath(gemini, '')).toBe(false);
});

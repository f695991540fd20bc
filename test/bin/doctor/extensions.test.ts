import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { codex } from '../../../agents/codex/driver.ts';
import { gemini } from '../../../agents/gemini/driver.ts';
import { isInPath } from '../../../bin/commands/install-agents.ts';
import { examineExtensions } from '../../../bin/doctor/extensions.ts';
import { tempFolder } from '../../support/temp-home.ts';

const paths = { scripts: '/opt/threadmux/dist/hooks', home: '/home/user/.threadmux' };

it('an extension is missing, installed or old', () => {
  const home = tempFolder();
  const levels = () => examineExtensions([codex, gemini], home, paths).map(({ level, says }) => [level, says]);
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

it('a program is found in a folder of PATH if it can be run', () => {
  const folder = tempFolder();
  expect(isInPath(gemini, `/nonexistent:${folder}`)).toBe(false);
  writeFileSync(join(folder, 'gemini'), '#!/bin/sh\n', { mode: 0o755 });
  expect(isInPath(gemini, `/nonexistent:${folder}`)).toBe(true);
  expect(isInPath(gemini, '')).toBe(false);
});

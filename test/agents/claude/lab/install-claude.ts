// Installs Claude Code once, into a cache outside the project: about 240 MB from the npm registry.

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { claudePackage, claudeVersion } from '../../../support/claude-lab.ts';

export function setup(): void {
  const pkg = claudePackage();
  if (existsSync(join(pkg, 'node_modules/.bin/claude'))) return;
  process.stdout.write(`Installing Claude Code ${claudeVersion()} (once) into ${pkg}\n`);
  mkdirSync(dirname(pkg), { recursive: true });
  const making = mkdtempSync(`${pkg}-`); // its own folder: a partial install must not be mistaken for a complete one
  const run = (program: string, ...args: string[]) => execFileSync(program, args, { cwd: making, stdio: 'inherit' });
  try {
    writeFileSync(join(making, 'package.json'), '{"private":true}\n');
    run('npm', 'install', '--no-fund', '--no-audit', '--loglevel=http', spec());
    run(process.execPath, 'node_modules/@anthropic-ai/claude-code/install.cjs');
    renameSync(making, pkg);
  } finally {
    rmSync(making, { recursive: true, force: true });
  }
}

const spec = () => `@anthropic-ai/claude-code@${claudeVersion()}`;

// The documents for contributors name files. Each one must exist, and every folder must be explained.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const FOLDERS = readdirSync(ROOT, { withFileTypes: true })
  .filter((one) => one.isDirectory() && !one.name.startsWith('.'))
  .map((one) => one.name)
  .filter((name) => !['node_modules', 'dist', 'docs'].includes(name));

it.each(['CONTRIBUTING.md', 'docs/architecture.md'])('every file and folder that %s names exists', (document) => {
  const named = [...read(document).matchAll(/`([\w.-]+\/[\w/.-]*)`/g)].map(([, path = '']) => path);
  const ours = named.filter((path) => FOLDERS.includes(path.split('/')[0] ?? ''));
  expect(ours.length).toBeGreaterThan(20);
  expect(ours.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
});

it('docs/architecture.md explains every folder', () => {
  const table = read('docs/architecture.md');
  expect(FOLDERS.filter((name) => !table.includes(`| \`${name}/\` |`))).toEqual([]);
});

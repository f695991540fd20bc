// The libraries the page uses, by the address they are served at. The build copies them beside the page, so that
// the package needs no other; from source they come out of node_modules.

import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const LANGUAGES = [
  'bash',
  'c',
  'cpp',
  'css',
  'diff',
  'dockerfile',
  'go',
  'ini',
  'java',
  'javascript',
  'json',
  'kotlin',
  'markdown',
  'php',
  'python',
  'ruby',
  'rust',
  'sql',
  'swift',
  'typescript',
  'xml',
  'yaml',
];

/** Path under `page/vendor/` -> file of the package. */
export const VENDOR: Readonly<Record<string, string>> = {
  'markdown-it.js': 'markdown-it/dist/markdown-it.min.js',
  'highlight/core.js': '@highlightjs/cdn-assets/es/core.min.js',
  ...Object.fromEntries(
    LANGUAGES.map((name) => [`highlight/${name}.js`, `@highlightjs/cdn-assets/es/languages/${name}.min.js`]),
  ),
};

/** Shipped with the copies, but not served. */
export const LICENSES: Readonly<Record<string, string>> = {
  'markdown-it.LICENSE': 'markdown-it/LICENSE',
  'highlight/LICENSE': '@highlightjs/cdn-assets/LICENSE',
};

export function vendorFile(path: string): string {
  const copy = fileURLToPath(new URL(`./page/vendor/${path}`, import.meta.url));
  return existsSync(copy) ? copy : fileInPackage(VENDOR[path] ?? '');
}

export function fileInPackage(file: string): string {
  return createRequire(import.meta.url).resolve(file);
}

// Shared by the scripts that bundle.

import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, relative } from 'node:path';

export function isOfPackage(id) {
  return id.includes('/node_modules/');
}

/** A module that looks for files beside itself finds them where it would be without the bundle. */
export function ownPlaces(folder) {
  const dist = '@dist/';
  return {
    name: 'own-places',
    transform(code, id) {
      if (isOfPackage(id) || !code.includes('import.meta.url')) return undefined;
      const compiled = relative('.', id).replace(/\.ts$/, '.js');
      return code.replaceAll('import.meta.url', `new URL(${JSON.stringify(dist + compiled)}, import.meta.url).href`);
    },
    renderChunk: (code, { fileName }) =>
      code.replaceAll(dist, `${relative(dirname(`${folder}/${fileName}`), 'dist')}/`),
  };
}

/** The licenses of the packages of which something is in the bundle. */
export function writeLicenses(folder, packages) {
  writeFileSync(`${folder}/licenses.txt`, `${packages.map(licenseOf).join('\n\n')}\n`);
}

function licenseOf(name) {
  const folder = `node_modules/${name}`;
  const { version } = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'));
  const file = name === 'jsonc-parser' ? 'LICENSE.md' : 'LICENSE';
  return `${name} ${version}\n\n${readFileSync(`${folder}/${file}`, 'utf8').trim()}`;
}

// Shared by the scripts that bundle.

import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, relative } from 'node:path';
import { build } from 'rolldown';

/** Bundles into the folder, and puts the licenses of the packages beside it: of each, something is in the bundle. */
export async function bundle({ folder, packages, input, external, plugin, output }) {
  rmSync(`${folder}/chunks`, { recursive: true, force: true });
  await build({
    input,
    platform: 'node',
    resolve: { mainFields: ['module', 'main'] },
    // Importing a file of ours has no side effects.
    treeshake: { moduleSideEffects: (id) => isOfPackage(id) },
    external,
    plugins: [plugin, ownPlaces(folder)],
    output: { dir: folder, format: 'esm', chunkFileNames: 'chunks/[name].js', ...output },
    logLevel: 'warn',
  });
  writeFileSync(`${folder}/licenses.txt`, `${packages.map(licenseOf).join('\n\n')}\n`);
}

function isOfPackage(id) {
  return id.includes('/node_modules/');
}

/** A module that looks for files beside itself finds them where it would be without the bundle. */
function ownPlaces(folder) {
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

function licenseOf(name) {
  const folder = `node_modules/${name}`;
  const { version } = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'));
  const file = name === 'jsonc-parser' ? 'LICENSE.md' : 'LICENSE';
  return `${name} ${version}\n\n${readFileSync(`${folder}/${file}`, 'utf8').trim()}`;
}

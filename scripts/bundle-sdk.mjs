// Replaces dist/bin/mcp/sdk.js and sdk-validator.js with bundles of the parts of the MCP SDK that we use, and puts the licenses beside them.

import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';

const NAMES = ['sdk', 'sdk-validator'];
const FOLDER = 'dist/bin/mcp';
const LICENSES = `${FOLDER}/sdk.licenses.txt`;
const BANNER = '// Bundled from';
const PACKAGES = [
  ...['@modelcontextprotocol/sdk', 'zod', 'ajv', 'ajv-formats'],
  ...['fast-deep-equal', 'fast-uri', 'json-schema-traverse'],
];

/** A server only needs one to ask a client for input, which we do not. It is a third of the bundle. */
const STUB = '\0no-validator';
const withoutValidator = {
  name: 'without-validator',
  resolveId: (source, importer) =>
    source.endsWith('/validation/ajv-provider.js') && importer?.endsWith('/server/index.js') ? STUB : undefined,
  load: (id) => (id === STUB ? 'export class AjvJsonSchemaValidator {}' : undefined),
};

if (!isUpToDate()) {
  const { build } = await import('rolldown');
  const packages = PACKAGES.map(packageOf);
  const banner = `${BANNER} ${packages[0].name} ${packages[0].version}; see sdk.licenses.txt.`;
  for (const name of NAMES)
    await build({
      input: `bin/mcp/${name}.ts`,
      platform: 'node',
      plugins: name === 'sdk' ? [withoutValidator] : [],
      output: { file: `${FOLDER}/${name}.js`, format: 'esm', minify: true, banner },
      logLevel: 'warn',
    });
  const texts = packages.map(({ name, version, license }) => `${name} ${version}\n\n${license}`);
  writeFileSync(LICENSES, `${texts.join('\n\n')}\n`);
}

/** The compiler writes a file only if its source has changed. */
function isUpToDate() {
  const outputs = NAMES.map((name) => `${FOLDER}/${name}.js`);
  if (!existsSync(LICENSES) || !outputs.every((path) => readFileSync(path, 'utf8').startsWith(BANNER))) return false;
  const inputs = [
    ...NAMES.map((name) => `bin/mcp/${name}.ts`),
    ...['scripts/bundle-sdk.mjs', 'node_modules/@modelcontextprotocol/sdk/package.json'],
  ];
  const newest = Math.max(...inputs.map((path) => statSync(path).mtimeMs));
  return statSync(LICENSES).mtimeMs > newest;
}

function packageOf(name) {
  const folder = `node_modules/${name}`;
  const { version } = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'));
  return { name, version, license: readFileSync(`${folder}/LICENSE`, 'utf8').trim() };
}

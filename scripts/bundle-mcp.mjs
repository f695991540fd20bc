// Bundles `threadmux mcp` with the parts of its packages that it uses, into dist/bin/mcp/, and puts their licenses beside it. An agent waits
// for its start, and every session has one: loading the modules one by one would double the time and the memory.

import { bundle } from './bundle-parts.mjs';

await bundle({
  folder: 'dist/bin/mcp',
  packages: [
    ...['@modelcontextprotocol/sdk', 'zod', 'ajv', 'ajv-formats', 'jsonc-parser'],
    ...['fast-deep-equal', 'fast-uri', 'json-schema-traverse'],
  ],
  input: 'bin/mcp/serve.ts',
  external: [/^node:/, 'undici'],
  plugin: smallServer(),
  output: { minify: true, entryFileNames: 'serve.js' },
});

/**
 * Leaves out what the server never uses: its validator, because it is given one (bin/mcp/serve.ts), and the old zod, because our schemas
 * are of the new one. They are half of the bundle.
 */
function smallServer() {
  const stubs = new Map([
    ['\0no-validator', 'export class AjvJsonSchemaValidator {}'],
    ['\0no-zod-3', 'export const object = undefined, zodToJsonSchema = undefined;'],
  ]);
  return {
    name: 'small-server',
    resolveId(source, importer = '') {
      if (source.endsWith('/validation/ajv-provider.js') && importer.endsWith('/server/index.js'))
        return '\0no-validator';
      return ['zod/v3', 'zod-to-json-schema'].includes(source) ? '\0no-zod-3' : undefined;
    },
    load: (id) => stubs.get(id),
  };
}

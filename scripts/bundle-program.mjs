// Bundles the programs of dist/bin/ with zod, commander and jsonc-parser: to load some hundred modules one by one would take most of the
// time of a short command. What a command does not need stays in chunks of its own.

import { bundle } from './bundle-parts.mjs';

const PACKAGES = ['zod', 'commander', 'jsonc-parser'];

await bundle({
  folder: 'dist/bin',
  packages: PACKAGES,
  input: ['threadmux', 'courier', 'codex-companion', 'terminal-emulator'].map((name) => `bin/${name}.ts`),
  external: (id) => /^[@\w]/.test(id) && !PACKAGES.includes(id),
  plugin: bundledBefore(),
  output: { entryFileNames: '[name].js' },
});

/** The MCP server has its own bundle (bundle-mcp.mjs). */
function bundledBefore() {
  return {
    name: 'bundled-before',
    resolveId: (source) => (source === './mcp/serve.ts' ? { id: './mcp/serve.js', external: true } : undefined),
  };
}

// Bundles the programs of dist/bin/ with zod, commander and jsonc-parser: to load some hundred modules one by one would take most of the
// time of a short command. What a command does not need stays in chunks of its own.

import { rmSync } from 'node:fs';
import { build } from 'rolldown';
import { isOfPackage, ownPlaces, writeLicenses } from './bundle-parts.mjs';

const FOLDER = 'dist/bin';
const PACKAGES = ['zod', 'commander', 'jsonc-parser'];

rmSync(`${FOLDER}/chunks`, { recursive: true, force: true });
await build({
  input: ['threadmux', 'courier', 'codex-companion', 'terminal-emulator'].map((name) => `bin/${name}.ts`),
  platform: 'node',
  resolve: { mainFields: ['module', 'main'] },
  // Importing a file of ours has no side effects.
  treeshake: { moduleSideEffects: (id) => isOfPackage(id) },
  external: (id) => /^[@\w]/.test(id) && !PACKAGES.includes(id),
  plugins: [bundledBefore(), ownPlaces(FOLDER)],
  output: { dir: FOLDER, format: 'esm', entryFileNames: '[name].js', chunkFileNames: 'chunks/[name].js' },
  logLevel: 'warn',
});
writeLicenses(FOLDER, PACKAGES);

/** The MCP server has its own bundle (bundle-mcp.mjs). */
function bundledBefore() {
  return {
    name: 'bundled-before',
    resolveId: (source) => (source === './mcp/serve.ts' ? { id: './mcp/serve.js', external: true } : undefined),
  };
}

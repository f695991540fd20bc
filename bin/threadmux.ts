#!/usr/bin/env node
// The program. An agent waits for the start of the MCP server, so it is loaded without the rest.

const [, , command, ...rest] = process.argv;
if (command === 'mcp' && rest.length === 0) {
  (await import('./mcp/small-heap.ts')).useSmallHeap();
  await (await import('./mcp/serve.ts')).serveMcp();
} else (await import('./run-command-line.ts')).runCommandLine();

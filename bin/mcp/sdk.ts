// What the server uses of the MCP SDK, which is imported only here and in sdk-validator.ts. The build replaces both files with bundles of
// just these parts (scripts/bundle-sdk.mjs): loading the whole SDK would double the start and the memory of `threadmux mcp`.

export { Server } from '@modelcontextprotocol/sdk/server/index.js';
export { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
export { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';

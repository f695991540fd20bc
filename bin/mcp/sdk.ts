// What the server uses of the MCP SDK, which is imported only here and in sdk-validator.ts. The build bundles these parts with the server
// (scripts/bundle-mcp.mjs): loading the whole SDK would double its start and its memory.

export { Server } from '@modelcontextprotocol/sdk/server/index.js';
export { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
export { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';

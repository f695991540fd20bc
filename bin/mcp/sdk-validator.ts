// Checks JSON against a schema. Loaded at the first call of a tool; see sdk.ts.

export { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv-provider.js';

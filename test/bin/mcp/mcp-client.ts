// A real client of `threadmux mcp`: the SDK's own, with the server as its child process.

import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { expect } from 'vitest';
import { atEnd } from '../../support/at-end.ts';
import { type Cli, PROGRAM } from '../cli.ts';

interface ToolError {
  readonly code: string;
  readonly message: string;
  readonly hint: string | null;
}

interface McpClient {
  readonly client: Client;
  /** The structured result, which the client has checked against the tool's schema. */
  call(name: string, input?: object): Promise<Record<string, unknown>>;
  /** The structured error of a call that fails. */
  error(name: string, input?: object): Promise<ToolError>;
}

type AnswerHere = (question: string, options: readonly string[], signal: AbortSignal) => Promise<string>;

export interface McpPlace {
  readonly cli: Pick<Cli, 'dir' | 'root' | 'env'>;
  /** The environment of a program in the session's pane. */
  inside?(session: string): Readonly<Record<string, string>>;
}

/** `session`: the session in whose pane the client runs. `answer`: the client asks its user by itself. */
export async function connectMcp(up: McpPlace, session?: string, answer?: AnswerHere): Promise<McpClient> {
  const capabilities = answer === undefined ? {} : { elicitation: { form: {} } };
  const client = new Client({ name: 'test', version: '1' }, { capabilities });
  if (answer !== undefined)
    client.setRequestHandler(ElicitRequestSchema, async ({ params }, { signal }) => {
      if (!('requestedSchema' in params)) throw new Error('no form');
      const { enum: options = [] } = params.requestedSchema.properties.answer as { enum?: string[] };
      return { action: 'accept', content: { answer: await answer(params.message, options, signal) } };
    });
  const env = { ...up.cli.env, THREADMUX_HOME: up.cli.root, ...(session === undefined ? {} : up.inside?.(session)) };
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [PROGRAM, 'mcp'],
    env,
    cwd: join(up.cli.dir, session === undefined ? '' : 'shop'),
    stderr: 'inherit',
  });
  await client.connect(transport);
  await client.listTools(); // the client checks results only of tools that it knows
  atEnd(() => client.close());
  const options = { timeout: 90_000, resetTimeoutOnProgress: true };
  const result = (name: string, input: object) =>
    client.callTool({ name, arguments: { ...input } }, undefined, options);
  return {
    client,
    async call(name, input = {}) {
      const { structuredContent, isError, content } = await result(name, input);
      const text = JSON.stringify(structuredContent);
      expect([name, isError ?? false, content]).toEqual([name, false, [{ type: 'text', text }]]);
      return structuredContent as Record<string, unknown>;
    },
    async error(name, input = {}) {
      const { isError, content } = await result(name, input);
      const [{ text }] = content as [{ text: string }];
      expect([name, isError, text]).toEqual([name, true, expect.stringMatching(/^\{"error":/)]);
      return JSON.parse(text).error;
    },
  };
}

// threadmux mcp: an MCP server on stdio. It lists the tools, checks their input and returns structured results and errors. stdout belongs to the
// protocol.

import * as z from 'zod';
import { errorData, ThreadmuxError } from '../../core/errors.ts';
import { maskSecrets } from '../../core/mask-secrets.ts';
import { VERSION } from '../../core/version.ts';
import type { AskHere } from '../acts/own-thread.ts';
import { CallToolRequestSchema, ListToolsRequestSchema, Server, StdioServerTransport } from './sdk.ts';
import { collectGarbage } from './small-heap.ts';
import { type McpTool, TOOLS } from './tool-definitions.ts';
import type { callTool, ToolInput } from './tool-handlers.ts';

const INSTRUCTIONS =
  'threadmux: every tmux session with a coding agent has a thread in which a person reads and writes. Use these tools to start and steer other sessions, and to reach the person in your own thread.';

/** Clients end a call that shows no sign of life. */
const PROGRESS_MS = 10_000;

export async function serveMcp(): Promise<void> {
  z.config({ jitless: true }); // each schema is used a few times, and compiling it takes longer
  const server = new Server(
    { name: 'threadmux', title: 'threadmux', version: VERSION },
    { capabilities: { tools: {} }, instructions: INSTRUCTIONS, jsonSchemaValidator: UNCHECKED },
  );
  server.setRequestHandler(ListToolsRequestSchema, async () => ({ tools: TOOLS.map((tool) => ({ ...tool })) }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, { signal, sendNotification }) => {
    const token = params._meta?.progressToken;
    let progress = 0;
    const timer =
      token === undefined
        ? undefined
        : setInterval(() => {
            const notification = { progressToken: token, progress: ++progress };
            sendNotification({ method: 'notifications/progress', params: notification }).catch(() => {}); // the client is gone
          }, PROGRESS_MS);
    try {
      return asResult(await call(params.name, params.arguments ?? {}, { signal, askHere: askWith(server) }));
    } catch (error) {
      if (signal.aborted) throw error;
      return asError(error);
    } finally {
      clearInterval(timer);
      setImmediate(collectGarbage); // after the answer
    }
  });
  const closed = new Promise<void>((resolve) => {
    server.onclose = resolve;
  });
  process.stdin.on('end', () => void server.close());
  await server.connect(new StdioServerTransport());
  await closed;
  process.exit(0); // what still waits has nobody to tell
}

async function call(name: string, input: ToolInput, client: Parameters<typeof callTool>[2]): Promise<ToolInput> {
  const tool = TOOLS.find((one) => one.name === name);
  if (tool === undefined)
    throw new ThreadmuxError('not_found', `there is no tool ${JSON.stringify(name)}`, {
      hint: `The tools are ${TOOLS.map((one) => one.name).join(', ')}.`,
    });
  const checked = (await checkOf(tool))(input);
  if (!checked.valid)
    throw new ThreadmuxError('bad_usage', `the input of ${name} is not valid: ${checked.errorMessage}`, {
      hint: 'See the input schema of the tool.',
    });
  const tools = await import('./tool-handlers.ts');
  return tools.callTool(name, input, client);
}

type Check = (input: ToolInput) => { readonly valid: boolean; readonly errorMessage?: string | undefined };
const checks = new Map<string, Check>();

/** Each schema is compiled once: to compile it takes more memory than all the rest of a call. */
async function checkOf({ name, inputSchema }: McpTool): Promise<Check> {
  const { AjvJsonSchemaValidator } = await import('./sdk-validator.ts');
  const check = checks.get(name) ?? new AjvJsonSchemaValidator().getValidator(inputSchema);
  checks.set(name, check);
  return check;
}

function asResult(value: ToolInput) {
  return { content: [{ type: 'text' as const, text: JSON.stringify(value) }], structuredContent: { ...value } };
}

/** As text only: clients check structured content against the schema of a result. */
function asError(thrown: unknown) {
  const text = maskSecrets(JSON.stringify(errorData(thrown)));
  return { isError: true, content: [{ type: 'text' as const, text }] };
}

type Validator = NonNullable<NonNullable<ConstructorParameters<typeof Server>[1]>['jsonSchemaValidator']>;

/** What the client answers is checked here, so the server needs no other validator. */
const UNCHECKED: Validator = {
  getValidator: () => (input) => ({ valid: true, data: input as never, errorMessage: undefined }),
};

/** Asks a person through the client ("elicitation"): a coding agent shows the question in its terminal. Undefined if the client cannot. */
function askWith(server: Server): AskHere | undefined {
  if (server.getClientCapabilities()?.elicitation?.form === undefined) return undefined;
  return async ({ question, options, seconds }, signal) => {
    const answer = { type: 'string' as const, title: 'Answer', ...(options.length > 0 ? { enum: [...options] } : {}) };
    const requestedSchema = { type: 'object' as const, properties: { answer }, required: ['answer'] };
    try {
      const asked = { mode: 'form' as const, message: question, requestedSchema };
      const { action, content } = await server.elicitInput(asked, { signal, timeout: seconds * 1_000 });
      const given = action === 'accept' ? content?.answer : undefined;
      if (typeof given !== 'string' || given === '') return undefined;
      return options.length === 0 ? given : options.find((one) => one === given);
    } catch {
      return undefined; // the thread is asked as well
    }
  };
}

// The messages of a Codex app server that we use: JSON-RPC, seen in version 0.166. Other messages and fields are ignored.

import * as z from 'zod';
import { wordSchema } from '../../event.ts';

const item = z.looseObject({ type: wordSchema, id: wordSchema });

const turn = z.object({
  id: wordSchema,
  status: z.enum(['completed', 'interrupted', 'failed', 'inProgress']).catch('inProgress'),
  items: z.array(item).catch([]),
  error: z.object({ message: z.string(), additionalDetails: z.string().nullish() }).nullish().catch(undefined),
  /** Seconds since 1970. */
  startedAt: z.number().nullish(),
});

const thread = z.object({
  id: wordSchema,
  cwd: wordSchema,
  model: wordSchema.nullish().catch(undefined),
  /** Codex makes such a conversation for itself, for example to find a title. */
  ephemeral: z.boolean().catch(false),
  /** Set for a subagent. */
  parentThreadId: wordSchema.nullish(),
  status: z.object({ type: wordSchema }).catch({ type: 'idle' }),
  turns: z.array(turn).catch([]),
});

const inThread = { threadId: wordSchema };
const inTurn = { ...inThread, turnId: wordSchema };

const notes = {
  'thread/started': z.object({ thread }),
  'thread/status/changed': z.object({ ...inThread, status: z.object({ type: wordSchema }) }),
  'item/started': z.object({ ...inTurn, item }),
  'item/completed': z.object({ ...inTurn, item }),
  'turn/completed': z.object({ ...inThread, turn }),
  'serverRequest/resolved': z.object({ ...inThread, requestId: z.union([z.string(), z.number()]) }),
};

const option = z.object({ label: z.string(), description: z.string().catch('') });

const requests = {
  /** Only for the approval of a tool. A form of the server itself is answered in the terminal. */
  'mcpServer/elicitation/request': z.looseObject({
    ...inTurn,
    itemId: z.literal('').catch(''),
    serverName: wordSchema,
    requestedSchema: z.object({ properties: z.strictObject({}) }),
    _meta: z.looseObject({
      codex_approval_kind: z.literal('mcp_tool_call'),
      tool_name: wordSchema,
      tool_params: z.record(z.string(), z.unknown()).nullish(),
      persist: z.array(z.unknown()).catch([]),
    }),
  }),
  'item/commandExecution/requestApproval': z.looseObject({
    ...inTurn,
    itemId: wordSchema,
    command: z.string().nullish(),
    cwd: wordSchema.nullish(),
    reason: z.string().nullish(),
    availableDecisions: z.array(z.unknown()).nullish(),
  }),
  'item/fileChange/requestApproval': z.looseObject({ ...inTurn, itemId: wordSchema, reason: z.string().nullish() }),
  'item/tool/requestUserInput': z.looseObject({
    ...inTurn,
    itemId: wordSchema,
    questions: z.array(
      z.object({
        id: wordSchema,
        header: z.string().catch(''),
        question: z.string(),
        isSecret: z.boolean().catch(false),
        options: z.array(option).nullish(),
      }),
    ),
  }),
};

/** What a resumed conversation brings: the newest turn with all its items. */
const resumed = z.object({ thread, initialTurnsPage: z.object({ data: z.array(turn) }).nullish() });

const loaded = z.object({ data: z.array(wordSchema) });
const read = z.object({ thread });

export type ServerItem = z.infer<typeof item>;
export type ServerTurn = z.infer<typeof turn>;
export type ServerThread = z.infer<typeof thread>;

type Notes = typeof notes;
export type ServerNote = {
  [M in keyof Notes]: { readonly method: M; readonly params: z.infer<Notes[M]> };
}[keyof Notes];

type Requests = typeof requests;
export type ServerRequest = {
  [M in keyof Requests]: { readonly method: M; readonly id: string | number; readonly params: z.infer<Requests[M]> };
}[keyof Requests];

/** Undefined for a message that we do not use, or whose fields are not as expected. */
export function parseNote(method: string, params: unknown): ServerNote | undefined {
  if (!Object.hasOwn(notes, method)) return undefined;
  const parsed = notes[method as keyof Notes].safeParse(params);
  return parsed.success ? ({ method, params: parsed.data } as ServerNote) : undefined;
}

export function parseRequest(method: string, id: string | number, params: unknown): ServerRequest | undefined {
  if (!Object.hasOwn(requests, method)) return undefined;
  const parsed = requests[method as keyof Requests].safeParse(params);
  return parsed.success ? ({ method, id, params: parsed.data } as ServerRequest) : undefined;
}

export const readLoaded = (result: unknown): readonly string[] => loaded.safeParse(result).data?.data ?? [];
export const readThread = (result: unknown): ServerThread | undefined => read.safeParse(result).data?.thread;

/** The newest turn last. */
export function readResumed(result: unknown): { readonly thread: ServerThread; readonly turns: readonly ServerTurn[] } {
  const { thread, initialTurnsPage } = resumed.parse(result);
  return { thread, turns: initialTurnsPage?.data.toReversed() ?? thread.turns };
}

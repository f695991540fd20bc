// The wire formats in which coding agents talk to a model. Each reads a request, asks the script, and writes its answer:
// streamed if the agent wants that. Returns what the server must still send: { json } or { fail: status }.

import { answer } from './script.mjs';

let numbers = 0;
const id = (prefix) => `${prefix}_${String(++numbers).padStart(8, '0')}`;

/** OpenAI Responses: Codex. Its tools are an item of the input, grouped in name spaces. */
export async function responses(body, res) {
  const input = body.input ?? [];
  const more = input.filter(({ type }) => type === 'additional_tools').flatMap(({ tools }) => tools ?? []);
  const offered = [...(body.tools ?? []), ...more]
    .flatMap((tool) => (tool.type === 'namespace' ? tool.tools : [tool]))
    .map(({ name, type }) => name ?? type);
  const items = input.flatMap((item) => {
    if (item.type === 'message' || (!item.type && item.role))
      return [{ role: item.role, text: typed([item.content].flat().map(textOfPart)) }];
    if (item.type?.endsWith('_call_output')) return [{ role: 'result', text: textOf(item.output) }];
    return item.type?.endsWith('_call') ? [{ role: 'round', text: '' }] : [];
  });
  const turn = turnOf(items, offered);
  const isTitle = turn.prompt.startsWith('Generate a concise, single-line task title');
  const blocks = isTitle ? [{ text: 'Scripted title' }] : await answer(turn);
  if (blocks.status) return { fail: blocks.status };
  const output = blocks.map(responseItem);
  const usage = {
    input_tokens: 1200,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: 42,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 1242,
  };
  const done = { id: id('resp'), object: 'response', status: 'completed', model: body.model, output, usage };
  if (!body.stream) return { json: done };
  res.writeHead(200, { 'content-type': 'text/event-stream' });
  const send = (type, data) => res.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
  send('response.created', { response: { id: done.id, object: 'response', status: 'in_progress', output: [] } });
  for (const [output_index, item] of output.entries()) {
    const isText = item.type === 'message';
    const begun = { ...item, status: 'in_progress', ...(isText ? { content: [] } : {}) };
    send('response.output_item.added', { output_index, item: begun });
    if (isText) {
      const delta = item.content[0].text;
      send('response.output_text.delta', { output_index, item_id: item.id, content_index: 0, delta });
    }
    send('response.output_item.done', { output_index, item });
  }
  send('response.completed', { response: done });
  res.end();
  return {};
}

function responseItem({ tool, input, text }) {
  if (tool === undefined) {
    const content = [{ type: 'output_text', text, annotations: [] }];
    return { type: 'message', id: id('msg'), role: 'assistant', status: 'completed', content };
  }
  const call = { call_id: id('call'), name: tool, status: 'completed' };
  return typeof input === 'string'
    ? { type: 'custom_tool_call', id: id('ctc'), ...call, input }
    : { type: 'function_call', id: id('fc'), ...call, arguments: JSON.stringify(input) };
}

/** OpenAI Chat Completions: OpenCode, pi. A request without tools asks for a title. */
export async function chat(body, res) {
  const offered = (body.tools ?? []).map((tool) => tool.function?.name);
  const items = (body.messages ?? []).map((message) => {
    if (message.role === 'user') return { role: 'user', text: typed([message.content].flat().map(textOfPart)) };
    if (message.role === 'tool') return { role: 'result', text: textOf(message.content) };
    return { role: message.tool_calls?.length ? 'round' : 'other', text: '' };
  });
  const blocks = offered.length > 0 ? await answer(turnOf(items, offered)) : [{ text: 'Scripted title' }];
  if (blocks.status) return { fail: blocks.status };
  const content = blocks.flatMap(({ text }) => text ?? []).join('\n');
  const tool_calls = blocks
    .filter(({ tool }) => tool !== undefined)
    .map(({ tool, input }, index) => ({
      index,
      id: id('call'),
      type: 'function',
      function: { name: tool, arguments: JSON.stringify(input) },
    }));
  const base = { id: id('chatcmpl'), created: Math.floor(Date.now() / 1000), model: body.model };
  const finish_reason = tool_calls.length > 0 ? 'tool_calls' : 'stop';
  const usage = { prompt_tokens: 1200, completion_tokens: 42, total_tokens: 1242 };
  if (!body.stream) {
    const message = { role: 'assistant', content, ...(tool_calls.length > 0 ? { tool_calls } : {}) };
    return { json: { ...base, object: 'chat.completion', choices: [{ index: 0, finish_reason, message }], usage } };
  }
  res.writeHead(200, { 'content-type': 'text/event-stream' });
  const send = (delta, finish, more = {}) => {
    const choices = [{ index: 0, delta, finish_reason: finish }];
    res.write(`data: ${JSON.stringify({ ...base, object: 'chat.completion.chunk', choices, ...more })}\n\n`);
  };
  send({ role: 'assistant', content }, null);
  if (tool_calls.length > 0) send({ tool_calls }, null);
  send({}, finish_reason, { usage });
  res.end('data: [DONE]\n\n');
  return {};
}

/** Gemini. A request with a schema chooses a model or the next speaker; one without tools asks for a summary. */
export async function gemini(body, res, isStreamed) {
  const offered = (body.tools ?? []).flatMap((tool) => (tool.functionDeclarations ?? []).map(({ name }) => name));
  const items = (body.contents ?? []).flatMap(({ role, parts = [] }) => {
    if (role === 'model') return parts.some((part) => part.functionCall) ? [{ role: 'round', text: '' }] : [];
    const results = parts.flatMap((part) => part.functionResponse?.response ?? []);
    if (results.length > 0)
      return [{ role: 'result', text: results.map((one) => textOf(one.output ?? one)).join('\n') }];
    return [{ role: 'user', text: typed(parts.map(({ text }) => text)) }];
  });
  const { responseJsonSchema, responseSchema } = body.generationConfig ?? {};
  const blocks =
    (responseJsonSchema ?? responseSchema)
      ? [{ text: JSON.stringify(GEMINI_CHOICES) }]
      : offered.length > 0
        ? await answer(turnOf(items, offered))
        : [{ text: 'Scripted summary' }];
  if (blocks.status) return { fail: blocks.status };
  const parts = blocks.map(({ tool, input, text }) =>
    tool === undefined ? { text } : { functionCall: { id: id('call'), name: tool, args: input } },
  );
  const json = {
    candidates: [{ index: 0, finishReason: 'STOP', content: { role: 'model', parts } }],
    usageMetadata: { promptTokenCount: 1200, candidatesTokenCount: 42, totalTokenCount: 1242 },
    modelVersion: 'scripted',
    responseId: id('resp'),
  };
  if (!isStreamed) return { json };
  res.writeHead(200, { 'content-type': 'text/event-stream' });
  res.end(`data: ${JSON.stringify(json)}\n\n`);
  return {};
}

const GEMINI_CHOICES = {
  reasoning: 'scripted',
  next_speaker: 'user',
  model_choice: 'flash',
  complexity_reasoning: 'scripted',
  complexity_score: 1,
};

/** Texts that an agent adds by itself were not typed by a person. */
const ADDED = /^(?:<|# AGENTS|This is the Gemini CLI|Setting up|\[Request interrupted)/;

/** A text, a part with a text, or a picture. */
const textOfPart = (part) => (typeof part === 'string' ? part : part.text);

function typed(parts) {
  return parts
    .map((part) => String(part ?? '').trim())
    .filter((text) => text !== '' && !ADDED.test(text))
    .join('\n');
}

/** The last prompt of a person, and what happened since. */
function turnOf(items, offered) {
  const at = items.findLastIndex(({ role, text }) => role === 'user' && text !== '');
  const after = items.slice(at + 1);
  return {
    prompt: items[at]?.text ?? '',
    results: after.filter(({ role }) => role === 'result').map(({ text }) => text),
    rounds: after.filter(({ role }) => role === 'round').length,
    offered,
  };
}

function textOf(value) {
  if (typeof value === 'string') return value;
  return Array.isArray(value)
    ? value.map((part) => part.text ?? part.output ?? '').join('')
    : JSON.stringify(value ?? '');
}

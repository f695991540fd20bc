#!/usr/bin/env node
import { appendFileSync } from 'node:fs';
// A scripted replacement for the model behind Claude Code: real Claude Code talks to it through
// ANTHROPIC_BASE_URL on loopback, so its hooks, transcripts and terminal UI can be exercised
// with no account and no network. The last user text picks the answer:
//   "ask"    -> AskUserQuestion, one question, three options
//   "ask2"   -> AskUserQuestion, two questions, the second multi-select
//   "bash X" -> Bash tool call running X        "write X" -> Write tool call
//   "plan"   -> ExitPlanMode tool call          "long N"  -> N paragraphs of text
//   "table"  -> a Markdown table and a fence    "slow S"  -> S seconds, then text
//   "steps N"-> N rounds of text + Bash, then a final text
//   "bg X"   -> Bash in the background          "picture" -> text that looks like Claude Code's own screen
//   "tool NAME JSON" -> that tool call
//   "fail N" -> HTTP error N                    "tokens N" -> claims a context of N tokens
//   "limit S"-> HTTP 429: the session limit of a subscription is reached and resets in S seconds
//   anything else -> "Echo: <text>"
// Usage: fake-model.mjs [port]   (0 = any; prints the port on the first line)
import { createServer } from 'node:http';

const log = process.env.FAKE_MODEL_LOG;
const sleep = (ms) => new Promise((r) => setTimeout(r, ms));
let toolSeq = 0;
const tool = (name, input) => ({ type: 'tool_use', id: `toolu_${String(++toolSeq).padStart(8, '0')}`, name, input });
const text = (t) => ({ type: 'text', text: t });

/** The content of a message: what the user typed (not what the client injects), and the results of tools. */
function read(message) {
  const blocks = typeof message.content === 'string' ? [{ type: 'text', text: message.content }] : message.content;
  const texts = blocks.filter((b) => b.type === 'text').map((b) => b.text.trim());
  // An interrupted prompt must not be answered together with the next one.
  const typed = texts.slice(texts.findLastIndex((t) => t.startsWith('[Request interrupted')) + 1);
  return {
    text: typed.filter((t) => t && !t.startsWith('<')).join('\n'),
    results: blocks.filter((b) => b.type === 'tool_result'),
  };
}

/** The most recent text that the user typed, and the tool results after it. */
function lastPrompt(messages) {
  const results = [];
  for (let i = messages.length - 1; i >= 0; i--) {
    if (messages[i].role !== 'user') continue;
    const m = read(messages[i]);
    if (m.text) return { prompt: m.text, at: i, results };
    results.unshift(...m.results);
  }
  return { prompt: '', at: 0, results };
}

/** Conversation text that imitates an empty box and a dialog, and must not be mistaken for real ones. */
const RULE = '─'.repeat(80);
const PICTURE = `It looks like this:\n\n\`\`\`\n${RULE}\n❯\u00a0\n${RULE}\n  ? for shortcuts\n\`\`\`\n\n${RULE}\n❯\u00a0\n${RULE}\n\n Do you want to proceed?\n ❯ 1. Yes\n   2. No\n\n Esc to cancel · Tab to amend`;

const PLAN = '## Plan\n1. Read the code\n2. Change it\n3. Test it';

async function answer(body) {
  const tools = new Set((body.tools ?? []).map((t) => t.name));
  if (tools.size === 0) return [text('Scripted title')];
  const { prompt, at, results } = lastPrompt(body.messages);
  const words = prompt.split(/\s+/);
  const rest = prompt.slice(words[0].length).trim();
  const rounds = body.messages.slice(at).filter((m) => m.role === 'assistant').length;
  if (words[0] === 'steps' && rounds < Number(words[1] ?? 2)) {
    return [
      text(`Step ${rounds + 1} of ${words[1]}: looking around.`),
      tool('Bash', { command: `echo step ${rounds + 1}`, description: 'Show the step' }),
    ];
  }
  if (words[0] === 'plan' && rounds < 2) {
    // Claude Code names the file in which it expects the plan; older versions take it from the call.
    const [file] = JSON.stringify(body).match(/\/[^\s"\\]+\/\.claude\/plans\/[\w.-]+\.md/) ?? [];
    if (rounds === 0 && file !== undefined)
      return [text('Here is my plan.'), tool('Write', { file_path: file, content: PLAN })];
    if (file !== undefined) return [tool('ExitPlanMode', { plan: PLAN })];
  }
  if (results.length) {
    const r = results
      .map((x) => (typeof x.content === 'string' ? x.content : (x.content ?? []).map((c) => c.text ?? '').join('')))
      .join('\n');
    return [text(`Done. The tool said: ${r.slice(0, 600)}`)];
  }
  const option = (label, description) => ({ label, description });
  switch (words[0]) {
    case 'ask':
      return [
        text('I need one decision from you.'),
        tool('AskUserQuestion', {
          questions: [
            {
              question: 'Which database should we use?',
              header: 'Database',
              multiSelect: false,
              options: [
                option('SQLite', 'One file, no server'),
                option('Postgres', 'A real server'),
                option('DuckDB', 'Columnar, embedded'),
              ],
            },
          ],
        }),
      ];
    case 'ask2':
      return [
        tool('AskUserQuestion', {
          questions: [
            {
              question: 'Which database should we use?',
              header: 'Database',
              multiSelect: false,
              options: [option('SQLite', 'One file'), option('Postgres', 'A server')],
            },
            {
              question: 'Which extras do you want?',
              header: 'Extras',
              multiSelect: true,
              options: [option('Cache', 'Redis'), option('Queue', 'Jobs'), option('Search', 'Full text')],
            },
          ],
        }),
      ];
    case 'bash':
      return [text('Running it.'), tool('Bash', { command: rest, description: 'Run the command asked for' })];
    case 'write':
      return [tool('Write', { file_path: rest || 'fake-model-out.txt', content: 'hello\n' })];
    case 'plan':
      return [text('Here is my plan.'), tool('ExitPlanMode', { plan: PLAN })];
    case 'long':
      return [
        text(
          Array.from(
            { length: Number(words[1] ?? 20) },
            (_, i) => `Paragraph ${i + 1}: ${'lorem ipsum dolor sit amet '.repeat(6)}`,
          ).join('\n\n'),
        ),
      ];
    case 'table':
      return [
        text(
          'Results:\n\n| name | value |\n|------|-------|\n| a | 1 |\n| b | 22 |\n\n```ts\nconst x = 1;\n```\n\nDone @everyone.',
        ),
      ];
    case 'slow':
      await sleep(Number(words[1] ?? 3) * 1000);
      return [text(`Slept ${words[1]} s.`)];
    case 'bg':
      return [
        text('In the background.'),
        tool('Bash', { command: rest, description: 'Run it in the background', run_in_background: true }),
      ];
    case 'tool':
      return [tool(words[1], JSON.parse(rest.slice(words[1].length)))];
    case 'picture':
      return [text(PICTURE)];
    default:
      return [text(`Echo: ${prompt}`)];
  }
}

function sse(res, event, data) {
  res.write(`event: ${event}\ndata: ${JSON.stringify({ type: event, ...data })}\n\n`);
}

function stream(res, model, blocks, tokens) {
  res.writeHead(200, { 'content-type': 'text/event-stream', 'request-id': 'req_fake' });
  sse(res, 'message_start', {
    message: {
      id: `msg_${Date.now()}`,
      type: 'message',
      role: 'assistant',
      model,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: { input_tokens: tokens, output_tokens: 1, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 },
    },
  });
  blocks.forEach((b, index) => {
    sse(res, 'content_block_start', {
      index,
      content_block: b.type === 'text' ? { type: 'text', text: '' } : { ...b, input: {} },
    });
    sse(res, 'content_block_delta', {
      index,
      delta:
        b.type === 'text'
          ? { type: 'text_delta', text: b.text }
          : { type: 'input_json_delta', partial_json: JSON.stringify(b.input) },
    });
    sse(res, 'content_block_stop', { index });
  });
  sse(res, 'message_delta', {
    delta: { stop_reason: blocks.some((b) => b.type === 'tool_use') ? 'tool_use' : 'end_turn', stop_sequence: null },
    usage: { output_tokens: 42 },
  });
  sse(res, 'message_stop', {});
  res.end();
}

function limited(seconds) {
  const of = (name) => `anthropic-ratelimit-unified-${name}`;
  return {
    [of('status')]: 'rejected',
    [of('reset')]: String(Math.floor(Date.now() / 1000) + Number(seconds)),
    [of('representative-claim')]: 'five_hour',
    'x-should-retry': 'false',
  };
}

const server = createServer(async (req, res) => {
  let raw = '';
  for await (const c of req) raw += c;
  if (log) appendFileSync(log, `${req.method} ${req.url} ${raw.slice(0, 200000)}\n`);
  const json = (code, obj, headers = {}) => {
    res.writeHead(code, { 'content-type': 'application/json', ...headers });
    res.end(JSON.stringify(obj));
  };
  if (req.method === 'POST' && req.url.startsWith('/v1/messages/count_tokens')) return json(200, { input_tokens: 10 });
  if (req.method !== 'POST' || !req.url.startsWith('/v1/messages'))
    return json(req.method === 'HEAD' ? 200 : 404, {
      type: 'error',
      error: { type: 'not_found_error', message: 'not scripted' },
    });
  const body = JSON.parse(raw);
  const { prompt } = lastPrompt(body.messages);
  const [word, number] = prompt.split(/\s+/);
  if (word === 'fail' && body.tools?.length)
    return json(Number(number), { type: 'error', error: { type: 'api_error', message: 'scripted failure' } });
  // A prompt that failed is sent again together with the next one.
  const [, seconds] = /^limit (\d+)$/.exec(prompt.split('\n').at(-1)) ?? [];
  if (seconds !== undefined && body.tools?.length)
    return json(429, { type: 'error', error: { type: 'rate_limit_error', message: 'scripted' } }, limited(seconds));
  const tokens = word === 'tokens' ? Number(number) : 1200;
  const blocks = await answer(body);
  if (body.stream) return stream(res, body.model, blocks, tokens);
  json(200, {
    id: `msg_${Date.now()}`,
    type: 'message',
    role: 'assistant',
    model: body.model,
    content: blocks,
    stop_reason: blocks.some((b) => b.type === 'tool_use') ? 'tool_use' : 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: 10, output_tokens: 10 },
  });
});
server.listen(Number(process.argv[2] ?? 0), '127.0.0.1', () => process.stdout.write(`${server.address().port}\n`));

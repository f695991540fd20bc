#!/usr/bin/env node
// A fake `claude -p` with stream-json in both directions. The prompt is JSON: the steps it takes, in order.
//   {"say": "text", "everyMs": 0}  streams it word by word, then sends it whole     {"print": …}  a line unchanged
//   {"tool": "Bash", "input": …}   {"ask": "Bash"} asks and waits for the answer    {"run": "sh"}  waits for a command
//   {"leave": "sh"} starts one in its own session, and continues                    {"raw": "…"}  bytes, no line feed
//   {"big": 1000000}  a line with a picture of this size
//   {"waitMs": 1000}   {"stderr": "…"}   {"exit": 3}   {"echo": true} repeats the prompts of this conversation
// A prompt that is not JSON is repeated. Arguments and environment are appended to $CLAUDE_FAKE_LOG.
import { spawn, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';

const { argv, env } = process;
const resumed = argv.includes('--resume') ? argv[argv.indexOf('--resume') + 1] : undefined;
const session = resumed ?? randomUUID();
const memory = `${env.CLAUDE_FAKE_LOG}.${session}`;
const print = (value) => process.stdout.write(`${JSON.stringify({ ...value, session_id: session })}\n`);
const main = { parent_tool_use_id: null };
const assistant = (block) => print({ type: 'assistant', ...main, message: { content: [block] } });
const streamed = (event) => print({ type: 'stream_event', ...main, event });
const note = (what) => appendFileSync(env.CLAUDE_FAKE_LOG, `${JSON.stringify(what)}\n`);
const result = (more) =>
  print({
    type: 'result',
    subtype: 'success',
    is_error: false,
    num_turns: 2,
    duration_ms: 12_000,
    total_cost_usd: 0.0421,
    result: '',
    ...more,
  });

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const next = async () => JSON.parse((await lines.next()).value ?? 'null');

note({ argv: argv.slice(2), cwd: process.cwd(), env, pid: process.pid });
if (resumed !== undefined && !existsSync(memory)) {
  const why = `No conversation found with session ID: ${resumed}`;
  result({ is_error: true, num_turns: 0, subtype: 'error_during_execution', errors: [why] });
  process.exit(1);
}
const prompt = (await next()).message.content;
appendFileSync(memory, `${prompt}\n`);
print({ type: 'system', subtype: 'init' });
for (const step of stepsOf(prompt)) await take(step);
result({});
await lines.next(); // until there is no more input

function stepsOf(text) {
  try {
    return JSON.parse(text);
  } catch {
    return [{ say: `Echo: ${text}` }];
  }
}

async function take(step) {
  if (step.print !== undefined) print(step.print);
  if (step.raw !== undefined) process.stdout.write(step.raw);
  if (step.big !== undefined) print({ type: 'user', ...main, message: { content: [picture(step.big)] } });
  if (step.stderr !== undefined) process.stderr.write(step.stderr);
  if (step.say !== undefined) await say(step.say, step.everyMs ?? 0);
  if (step.echo) await say(readFileSync(memory, 'utf8'), 0);
  if (step.tool !== undefined) assistant({ type: 'tool_use', id: 'toolu_1', name: step.tool, input: step.input });
  if (step.ask !== undefined) await ask(step.ask);
  if (step.run !== undefined) spawnSync('sh', ['-c', step.run], { stdio: 'ignore' });
  if (step.leave !== undefined) spawn('sh', ['-c', step.leave], { stdio: 'ignore', detached: true }).unref();
  if (step.waitMs !== undefined) await sleep(step.waitMs);
  if (step.exit !== undefined) process.exit(step.exit);
}

function picture(bytes) {
  return { type: 'tool_result', content: [{ type: 'image', data: 'A'.repeat(bytes) }] };
}

async function say(text, everyMs) {
  streamed({ type: 'message_start' });
  for (const word of text.match(/\S+\s*/g) ?? []) {
    streamed({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: word } });
    if (everyMs > 0) await sleep(everyMs);
  }
  assistant({ type: 'text', text });
}

async function ask(tool) {
  print({
    type: 'control_request',
    request_id: 'r1',
    request: { subtype: 'can_use_tool', tool_name: tool, input: {} },
  });
  const answer = await next();
  await say(`Answer: ${JSON.stringify(answer.response.response)}`, 0);
}

// What the scripted model answers. The first word of the prompt chooses:
//   run CMD            call the agent's shell tool (Codex: outside its sandbox; `run sandboxed CMD` stays inside)
//   write FILE         call the agent's tool that writes files
//   ask, ask2          call the agent's question tool with one question, or with two
//   askasync           Codex: the question tool that does not wait
//   delegate TEXT      call the tool that gives TEXT to a subagent
//   steps N            N rounds of text and shell, then text
//   slow S             wait S seconds, then text
//   long N, table      N paragraphs; a Markdown table with code
//   fail CODE [TIMES]  answer with this HTTP status, always or the first TIMES times
//   tools              list the tools that were offered
//   anything else      "Echo: <text>"

import { setTimeout as sleep } from 'node:timers/promises';

const failed = new Map();

/** `turn` is { prompt, results, rounds, offered }. Returns blocks { text } or { tool, input }, or { status } for a failure. */
export async function answer({ prompt, results, rounds, offered }) {
  const [word = '', second] = prompt.trim().split(/\s+/);
  const rest = prompt.trim().slice(word.length).trim();
  if (word === 'fail') return failOrAnswer(prompt, second);
  if (word === 'steps' && rounds < Number(second ?? 2))
    return [{ text: `Step ${rounds + 1}: looking around.` }, pick(SHELLS, offered, step(rounds + 1))];
  if (results.length > 0) return [{ text: `Done. The tool said: ${results.join('\n').slice(0, 600)}` }];
  switch (word) {
    case 'run':
      return [{ text: 'Running it.' }, pick(SHELLS, offered, rest)];
    case 'write':
      return [{ text: 'Writing it.' }, pick(WRITERS, offered, rest || 'scripted-out.txt')];
    case 'ask':
      return [{ text: 'I need one decision from you.' }, pick(ASKERS, offered, questions(false))];
    case 'ask2':
      return [pick(ASKERS, offered, questions(true))];
    case 'askasync':
      return [{ text: 'A question while I go on.' }, pick(ASYNC_ASKERS, offered, questions(false))];
    case 'delegate':
      return [{ text: 'A subagent does it.' }, pick(DELEGATES, offered, rest)];
    case 'tools':
      return [{ text: `Offered: ${offered.join(', ')}` }];
    case 'long':
      return [{ text: paragraphs(Number(second ?? 20)) }];
    case 'table':
      return [{ text: TABLE }];
    case 'slow':
      await sleep(Number(second ?? 3) * 1000);
      return [{ text: `Slept ${second ?? 3} s.` }];
    default:
      return [{ text: `Echo: ${prompt}` }];
  }
}

// Gemini CLI runs a single `echo` without asking, but not always.
const step = (number) => `touch steps && echo step ${number}`;

function failOrAnswer(prompt, status = '500') {
  const times = (failed.get(prompt) ?? 0) + 1;
  failed.set(prompt, times);
  const limit = Number(prompt.trim().split(/\s+/)[2] ?? Number.POSITIVE_INFINITY);
  return times <= limit ? { status: Number(status) } : [{ text: `Back after ${times - 1} failures.` }];
}

/** The first tool of the table that the agent offers. */
function pick(table, offered, argument) {
  const found = table.find(([name]) => offered.includes(name));
  if (found === undefined) return { text: `No such tool was offered. Offered: ${offered.join(', ')}` };
  return { tool: found[0], input: found[1](argument) };
}

const describe = (command) => ({ command, description: 'Run the command asked for' });
const escalate = (command) =>
  command.startsWith('sandboxed ')
    ? { cmd: command.slice(10) }
    : { cmd: command, sandbox_permissions: 'require_escalated', justification: 'Do you allow this command?' };
const patch = (file) => `*** Begin Patch\n*** Add File: ${file}\n+hello\n*** End Patch\n`;

// Codex has one tool that takes JavaScript, `exec`. Its shell asks only when told to leave the sandbox.
const SHELLS = [
  ['exec', (command) => `text(JSON.stringify(await tools.exec_command(${JSON.stringify(escalate(command))})))`],
  ['exec_command', escalate],
  ['shell', (command) => ({ command: ['bash', '-lc', command] })],
  ['run_shell_command', (command) => ({ ...describe(command), is_background: false })],
  ['bash', describe],
];
const WRITERS = [
  ['exec', (file) => `text(JSON.stringify(await tools.apply_patch(${JSON.stringify(patch(file))})))`],
  ['write_file', (file) => ({ file_path: file, content: 'hello\n' })],
  ['write', (file) => ({ filePath: file, path: file, content: 'hello\n' })],
  ['apply_patch', patch],
];
const DELEGATES = [['task', (prompt) => ({ description: 'Do it', prompt, subagent_type: 'general' })]];
const only = (list, ...names) => list.map((one) => Object.fromEntries(names.map((name) => [name, one[name]])));
const ASKERS = [
  ['request_user_input', (asked) => ({ questions: only(asked, 'id', 'header', 'question', 'options') })],
  ['ask_user', (asked) => ({ questions: only(asked, 'header', 'question', 'type', 'multiSelect', 'options') })],
  ['question', (asked) => ({ questions: only(asked, 'header', 'question', 'multiple', 'options') })],
];
const ASYNC_ASKERS = [
  [
    'request_user_input_async',
    (asked) => ({
      questions: asked.map(({ question, options }) => ({
        title: question,
        options: options.map(({ label }) => label),
      })),
    }),
  ],
];

const optionsOf = (pairs) => pairs.map(([label, description]) => ({ label, description }));

function questions(two) {
  const database = {
    id: 'database',
    header: 'Database',
    question: 'Which database should we use?',
    type: 'choice',
    multiSelect: false,
    multiple: false,
    options: optionsOf([
      ['SQLite', 'One file, no server'],
      ['Postgres', 'A real server'],
      ['DuckDB', 'Columnar, embedded'],
    ]),
  };
  const extras = {
    id: 'extras',
    header: 'Extras',
    question: 'Which extras do you want?',
    type: 'choice',
    multiSelect: true,
    multiple: true,
    options: optionsOf([
      ['Cache', 'Redis'],
      ['Queue', 'Jobs'],
      ['Search', 'Full text'],
    ]),
  };
  return two ? [database, extras] : [database];
}

const paragraphs = (count) =>
  Array.from({ length: count }, (_, at) => `Paragraph ${at + 1}: ${'lorem ipsum dolor sit amet '.repeat(6)}`).join(
    '\n\n',
  );

const TABLE =
  'Results:\n\n| name | value |\n|------|-------|\n| a | 1 |\n| b | 22 |\n\n```ts\nconst x = 1;\n```\n\nDone @everyone.';

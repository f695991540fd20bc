// A fake Claude Code in a pane: it draws a box like the real one, takes pastes and keys like it, runs the real `drop` for
// its hooks, and records everything that was submitted.
// usage: node fake-claude.mjs <folder> [<path of drop>]; without the path no hook runs, as before an installation

import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';

const [folder, drop] = process.argv.slice(2);
const transcript = `${folder}/transcript.jsonl`;
const session = `stand-in-${process.pid}`;
const state = {
  box: [], // its content: {text, shown}
  stash: undefined,
  queue: [],
  busy: false,
  /** Whether there are any, or the text that they all have. */
  replies: true,
  dialog: undefined,
  /** Dialogs that appear as soon as the previous one is approved. */
  next: [],
  /** A list to choose from: {title, text, options, at, numbered, help, next}; `field`: the option that is a text field, `code`: a line for a code. */
  choice: undefined,
  /** A list that opens by itself as soon as a text is pasted; `takesText`: the text is lost then. */
  offer: undefined,
  /** How long it is busy, in ms, before it acts on a key. */
  slow: 0,
  /** How long, in ms, the screen stays as it is when a prompt is submitted, although its hook has run. */
  late: 0,
  drawsAgain: 0,
  /** How often Enter has no effect. */
  swallow: 0,
  swallowed: 0,
  /** Hooks do not run, as if they were not installed. */
  mute: drop === undefined,
  asksModel: false,
  said: ['Stand-in for Claude Code'],
};

const note = (kind, text) => appendFileSync(`${folder}/record`, `${JSON.stringify({ kind, text })}\n`);
const textOf = (box) => box.map(({ text }) => text).join('');

function hook(event, more) {
  if (state.mute) return;
  const base = { session_id: session, transcript_path: transcript, cwd: process.cwd() };
  spawnSync(drop, {
    input: JSON.stringify({ ...base, hook_event_name: event, ...more }),
    env: { ...process.env, CLAUDE_PROJECT_DIR: process.cwd() },
  });
}

let prompts = 0;
function turn(texts) {
  let id = '';
  for (const text of texts) {
    id = `prompt-${session}-${++prompts}`;
    hook('UserPromptSubmit', { prompt_id: id, prompt: text });
    note('prompt', text);
    const line = { type: 'user', promptId: id, origin: { kind: 'human' }, uuid: id };
    write({ ...line, message: { role: 'user', content: text } });
  }
  if (!state.replies) return;
  const reply = typeof state.replies === 'string' ? state.replies : `Echo: ${texts.at(-1).slice(0, 50)}`;
  const content = [{ type: 'text', text: reply }];
  const message = { id: `msg-${id}`, role: 'assistant', content };
  write({ type: 'assistant', uuid: `reply-${id}`, message });
  hook('Stop', { prompt_id: id, stop_hook_active: false, last_assistant_message: reply });
}

/** What a local command prints is only in the transcript, with the command before it, and both when it has ended. */
function printed(command, text) {
  const [name, ...args] = command.split(' ');
  const line = { type: 'system', subtype: 'local_command', timestamp: new Date().toISOString() };
  const parentUuid = randomUUID();
  const content = `<command-name>${name}</command-name>\n            <command-args>${args.join(' ')}</command-args>`;
  write({ ...line, uuid: parentUuid, content });
  write({
    ...line,
    parentUuid,
    uuid: randomUUID(),
    content: `<local-command-stdout>${text}</local-command-stdout>`,
  });
}

/** Like Claude Code: a model is asked about first, where `state.asksModel`. */
function setModel(command) {
  const model = command.split(' ')[1];
  if (!state.asksModel) return printed(command, `Set model to \x1b[1m${model}\x1b[22m`);
  state.choice = { title: 'Switch model?', options: ['Yes, switch', 'No, go back'], at: 0, numbered: true, command };
}

function write(line) {
  appendFileSync(transcript, `${JSON.stringify({ isSidechain: false, ...line })}\n`);
}

/** Like Claude Code: the arrows move the highlighted option, Enter takes it, Esc leaves. */
function inChoice(bytes) {
  const { options, at, next = [] } = state.choice;
  const step = { '\x1b[A': -1, '\x1b[B': 1 }[bytes];
  if (step !== undefined) {
    state.choice.at = (at + step + options.length) % options.length;
    return;
  }
  if (bytes !== '\r' && bytes !== '\x1b') return intoChoice(bytes);
  const { field, code, written = '' } = state.choice;
  if (code && bytes === '\r') note('code', written);
  else note('chosen', bytes === '\r' ? (at === field ? written : options[at]) : 'Esc');
  const { linger } = state.choice;
  if (bytes === '\r' && linger) {
    // The real one marks the option that was taken, and shows the dialog until it has loaded what follows.
    state.choice.options = options.map((label, index) => (index === at ? `${label} ✔` : label));
    setTimeout(() => ORDERS.choice() ?? draw(), linger);
    return;
  }
  const { command } = state.choice;
  const isTaken = bytes === '\r' && at === 0;
  if (command) printed(command, isTaken ? `Set model to ${command.split(' ')[1]}` : 'Kept model as Sonnet 5');
  state.choice = bytes === '\r' && next.length > 0 ? { ...next[0], next: next.slice(1) } : undefined;
}

function intoChoice(text) {
  const { field, code, at, written = '' } = state.choice;
  if (!code && at !== field) return note('into-dialog', text);
  // Somebody answers it in the terminal in the same moment, and another one opens.
  if (state.choice.replacedBy) state.choice = state.choice.replacedBy;
  else state.choice.written = written + text;
}

/** Like Claude Code: a field shows the cursor while it is highlighted, and of a code only the end. */
function choiceRows({ title, text = [], options = [], at, numbered = false, field, code, written = '', ...rest }) {
  const { help = 'Enter to confirm · Esc to cancel' } = rest;
  const lines = options.map((label, index) => {
    const number = numbered ? `${index + 1}. ` : '';
    if (index === field && index === at) {
      const hint = `\x1b[7m${label[0]}\x1b[0;2m${label.slice(1)}\x1b[0m`;
      return ` \x1b[38;5;153m❯\x1b[39m ${number}${written === '' ? hint : `${written.replaceAll('\n', '\r\n     ')}\x1b[7m \x1b[0m`}`;
    }
    const words = `${number}${index === field && written !== '' ? written : label}`;
    return index === at ? ` \x1b[38;5;153m❯ ${words}\x1b[39m` : `   ${words}`;
  });
  if (code)
    lines.push(` Paste code here if prompted > ${'*'.repeat(Math.max(0, written.length - 6))}${written.slice(-6)}`);
  return [
    '─'.repeat(process.stdout.columns),
    ` ${title}`,
    '',
    ...text.map((line) => ` ${line}`),
    '',
    ...lines,
    '',
    ` ${help}`,
  ];
}

function enter() {
  if (state.dialog !== undefined) {
    note('approved', state.dialog);
    state.dialog = state.next.shift();
    return;
  }
  if (state.swallow > 0) {
    state.swallow--;
    state.swallowed++;
    return;
  }
  const text = textOf(state.box);
  if (text.trim() === '') return;
  if (/\\$|@\S+$/.test(text)) return insert('\n');
  state.box = state.stash ?? [];
  state.stash = undefined;
  if (text.startsWith('!')) return note('shell', text);
  if (text.startsWith('/')) {
    note('slash', text.trim());
    if (text.trim() === '/cost') state.dialog = 'cost';
    else if (text.startsWith('/print')) printed(text.trim(), `${text.trim()} has printed \x1b[1mthis\x1b[22m`);
    else if (text.startsWith('/model ')) setModel(text.trim());
    else if (text.trim() === '/model')
      state.choice = { title: 'Select model', options: ['Default ✔', 'Opus', 'Haiku'], at: 0, numbered: true };
    return;
  }
  state.said.push(
    `❯ ${text
      .trim()
      .split('\n')[0]
      .slice(0, process.stdout.columns - 4)}`,
  );
  if (state.late > 0) {
    state.drawsAgain = Date.now() + state.late;
    setTimeout(draw, state.late + 1);
  }
  draw(); // the text leaves the box before any hook runs
  if (state.busy) state.queue.push(text.trim());
  else turn([text.trim()]);
}

/** Like Claude Code: the path of an image at the end of a paste becomes a mark before the text. */
function withImage(pasted) {
  const [, words, path] = /^(.*?)\s*(\/\S+\.(?:png|jpe?g))\s*$/s.exec(pasted) ?? [];
  return path !== undefined && isPng(path) ? `[Image #1]${words}` : pasted;
}

function isPng(path) {
  try {
    return readFileSync(path).subarray(1, 4).toString() === 'PNG';
  } catch {
    return false;
  }
}

function insert(given, pasted = false) {
  if (state.choice !== undefined) return intoChoice(given);
  if (state.dialog !== undefined) return note('into-dialog', given);
  const text = pasted ? withImage(given) : given;
  const lines = text.split('\n').length - 1;
  const shown = pasted && (lines > 2 || text.length > 800) ? `[Pasted text #1 +${lines} lines]` : text;
  if (!state.offer?.takesText) state.box.push({ text, shown });
  [state.choice, state.offer] = [state.offer ?? state.choice, undefined];
}

function key(bytes) {
  if (state.choice !== undefined) return inChoice(bytes);
  if (bytes === '\r') return enter();
  if (bytes === '\x13') {
    if (state.box.length === 0) return note('key', bytes);
    [state.stash, state.box] = [state.box, []];
    return;
  }
  note('key', bytes);
  if (bytes === '\x1b') {
    state.dialog = undefined;
    return;
  }
  if (bytes === '\x03') return leave();
  if (/^\P{Cc}+$/u.test(bytes)) insert(bytes);
}

const BEGIN = '\x1b[200~';
const END = '\x1b[201~';
let pending = '';
function input(bytes) {
  pending += bytes;
  for (;;) {
    const end = pending.startsWith(BEGIN) ? pending.indexOf(END) : -1;
    if (end >= 0) {
      insert(pending.slice(BEGIN.length, end), true);
      pending = pending.slice(end + END.length);
    } else if (pending === '' || pending.startsWith(BEGIN)) return;
    else {
      const [one] = /^(?:\p{Cc}(?:\[[A-D])?|\P{Cc}+)/u.exec(pending);
      key(one);
      pending = pending.slice(one.length);
    }
  }
}

function draw() {
  if (Date.now() < state.drawsAgain) return;
  const width = process.stdout.columns;
  const rule = '─'.repeat(width);
  const rows = state.said.slice(-Math.max(1, process.stdout.rows - 16));
  let cursor;
  if (state.choice !== undefined) rows.push(...choiceRows(state.choice));
  else if (state.dialog === 'cost') rows.push(rule, '  Total cost: $0.01', '', '  Esc to cancel');
  else if (state.dialog !== undefined)
    rows.push(
      rule,
      ' Bash command',
      '',
      `   ${state.dialog}`,
      '',
      ' Do you want to proceed?',
      ' ❯ 1. Yes',
      '   2. No',
      '',
      ' Esc to cancel · Tab to amend',
    );
  else {
    if (state.busy) rows.push('', '✻ Pondering… (3s)');
    rows.push('', rule);
    const lines = state.box
      .map(({ shown }) => shown)
      .join('')
      .split('\n')
      .flatMap((line) => line.match(new RegExp(`.{1,${width - 4}}`, 'gsu')) ?? ['']);
    cursor = [rows.length + lines.length, Math.min(2 + (lines.at(-1)?.length ?? 0), width - 1)];
    const hint =
      state.queue.length > 0 && state.box.length === 0
        ? '\x1b[7mP\x1b[0;2mress up to edit queued messages\x1b[0m'
        : undefined;
    rows.push(...(hint === undefined ? lines : [hint]).map((line, at) => `${at === 0 ? '❯\u00a0' : '  '}${line}`));
    rows.push(rule, state.busy ? '  esc to interrupt' : '  ? for shortcuts');
    if (state.stash !== undefined) rows.push('  › stashed');
  }
  const place = cursor === undefined ? '\x1b[?25l' : `\x1b[${cursor[0]};${cursor[1] + 1}H\x1b[?25h`;
  process.stdout.write(`\x1b[?2026h\x1b[H\x1b[2J${rows.join('\r\n')}${place}\x1b[?2026l`);
}

function leave(isTold) {
  if (isTold) hook('SessionEnd', { reason: 'prompt_input_exit' });
  process.stdout.write('\x1b[?2004l\x1b[H\x1b[2JGoodbye.\r\n', () => process.exit(0));
}

const ORDERS = {
  busy: () => {
    state.busy = true;
  },
  /** Ends the running turn; everything queued is answered in one turn. */
  idle() {
    state.busy = false;
    if (state.queue.length > 0) turn(state.queue.splice(0));
  },
  dialog: (command) => {
    state.dialog = command;
  },
  choice: (choice) => {
    state.choice = choice;
  },
  offer: (choice) => {
    state.offer = choice;
  },
  next: (commands) => {
    state.next = commands;
  },
  slow: (ms) => {
    state.slow = ms;
  },
  late: (ms) => {
    state.late = ms;
  },
  close: () => {
    state.dialog = undefined;
  },
  draft: (text) => {
    state.box = [{ text, shown: text }];
  },
  swallow: (times) => {
    state.swallow = times;
  },
  asksModel: (is) => {
    state.asksModel = is;
  },
  mute: (is) => {
    state.mute = is;
  },
  replies: (is) => {
    state.replies = is;
  },
  /** With a value, its hook reports it, as the hooks of the real one do. */
  exit: (isTold) => setTimeout(() => leave(isTold), 20),
};

createServer((socket) => {
  socket.once('data', (data) => {
    const { order, value } = JSON.parse(data);
    ORDERS[order](value);
    draw();
    const stash = state.stash && textOf(state.stash);
    socket.end(JSON.stringify({ box: textOf(state.box), stash, swallowed: state.swallowed }));
  });
  socket.on('error', () => {});
}).listen(`${folder}/control`);

// As the real one does. Only on request: a test that removes its folders at the end does not expect a last letter.
if (process.env.FAKE_REPORTS_ITS_END)
  process.on('SIGHUP', () => {
    hook('SessionEnd', { reason: 'other' });
    process.exit(129);
  });
process.stdin.setRawMode(true);
process.stdin.setEncoding('utf8');
process.stdin.on('data', (bytes) => {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, state.slow);
  input(bytes);
  draw();
});
process.stdout.on('resize', draw);
process.stdout.write('\x1b[?2004h');
writeFileSync(transcript, '');
draw();
hook('SessionStart', { source: 'startup' });
writeFileSync(`${folder}/ready`, '');

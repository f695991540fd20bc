// An agent that does not exist, "parrot": it draws a box, takes pastes and keys, asks for permission, and reports everything
// through the real `drop` and `ask`. A test drives it with the words that it is told.
// usage: node made-up-agent.mjs <record>; PARROT_SCRIPTS names the folder of drop and ask, and without it nothing is reported.

import { spawn, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { appendFileSync } from 'node:fs';

const [record, ...args] = process.argv.slice(2);
const scripts = process.env.PARROT_SCRIPTS;
const session = args[args.indexOf('--resume') + 1] ?? `parrot-${randomUUID()}`;
const state = { box: '', said: ['Parrot 1.0'], busy: false, dialog: undefined, asking: undefined, turns: 0 };

const note = (kind, text) => appendFileSync(record, `${JSON.stringify({ kind, text })}\n`);
note('start', args.join(' '));

function drop(event, more = {}) {
  if (scripts === undefined) return;
  const input = JSON.stringify({ event, session, cwd: process.cwd(), turn: `turn-${state.turns}`, ...more });
  spawnSync(`${scripts}/drop`, ['parrot'], { input });
}

function submit(text) {
  state.turns++;
  state.said.push(`you said: ${text.split('\n')[0]}`);
  note('prompt', text);
  drop('submitted', { prompt: text });
  if (text === 'work') {
    state.busy = true;
    return;
  }
  if (text === 'fail') return drop('failed', { error: 'the service failed', details: 'HTTP 500 *now*' });
  if (text.startsWith('run ')) return ask(text.slice(4));
  if (text === 'think') {
    drop('said', { id: '1', text: 'First I look.' });
    drop('tool', { name: 'Read', input: { file_path: 'a.txt' } });
    drop('said', { id: '2', text: 'Now I write.' });
    drop('tool', { name: 'Write', input: { file_path: 'b.txt' } });
  }
  reply(`Parrot heard: ${text}`);
}

function reply(text) {
  state.busy = false;
  state.said.push(text);
  drop('idle', { text, id: 'last' });
}

/** The dialog stays live while `ask` waits: the first answer wins. */
function ask(command) {
  const id = randomUUID();
  state.dialog = command;
  if (scripts === undefined) return;
  const asked = { event: 'asked', kind: 'permission', tool: 'Bash', input: { command }, ask: id, always: 'all of it' };
  const child = spawn(`${scripts}/ask`, ['parrot'], { stdio: ['pipe', 'pipe', 'ignore'] });
  child.stdin.end(JSON.stringify({ ...asked, session, cwd: process.cwd(), turn: `turn-${state.turns}` }));
  let printed = '';
  child.stdout.on('data', (bytes) => {
    printed += bytes;
  });
  child.on('close', () => {
    if (printed === '' || state.asking?.id !== id) return;
    state.asking = undefined;
    decided(JSON.parse(printed).decision);
  });
  state.asking = { id, child };
}

function inDialog(key) {
  if (key !== 'y' && key !== 'n') return note('into-dialog', key);
  const { asking } = state;
  state.asking = undefined;
  asking?.child.kill('SIGTERM');
  if (asking !== undefined) drop('resolved', { ask: asking.id });
  decided(key === 'y' ? 'allow' : 'deny');
}

function decided(decision) {
  note('decided', `${decision} ${state.dialog}`);
  const command = state.dialog;
  state.dialog = undefined;
  reply(decision === 'deny' ? `I did not run ${command}` : `I ran ${command}`);
  draw();
}

function draw() {
  const rows = [...state.said.slice(-8), ''];
  if (state.dialog !== undefined) rows.push(`May I run: ${state.dialog}`, '(y) Yes', '(n) No', 'press a letter');
  else rows.push(state.busy ? 'parrot is working' : 'parrot is quiet', `parrot> ${state.box.replaceAll('\n', '⏎')}`);
  // As real agents do, it hides the cursor in a dialog: there is nothing to write.
  process.stdout.write(`\x1b[2J\x1b[H${rows.join('\r\n')}\x1b[?25${state.dialog === undefined ? 'h' : 'l'}`);
}

function key(bytes) {
  if (state.dialog !== undefined) return inDialog(bytes);
  if (bytes === '\r') {
    const text = state.box;
    state.box = '';
    draw();
    if (text.trim() !== '') submit(text);
  } else if (bytes === '\x15') state.box = '';
  else if (bytes === '\x1b' && state.busy) {
    state.busy = false;
    drop('idle', { interrupted: true });
  } else if (bytes === '\x04') {
    drop('ended');
    process.exit(0);
  } else if (/^\P{Cc}+$/u.test(bytes)) state.box += bytes;
}

const [BEGIN, END] = ['\x1b[200~', '\x1b[201~'];
let pending = '';
function input(bytes) {
  pending += bytes;
  while (pending !== '') {
    if (pending.startsWith(BEGIN)) {
      const end = pending.indexOf(END);
      if (end < 0) return;
      const text = pending.slice(BEGIN.length, end);
      pending = pending.slice(end + END.length);
      if (state.dialog === undefined) state.box += text.replaceAll('\r', '\n');
      else note('into-dialog', text);
    } else {
      const [one] = /^(?:\p{Cc}|\P{Cc}+)/u.exec(pending);
      pending = pending.slice(one.length);
      key(one);
    }
    draw();
  }
}

process.stdin.setRawMode(true);
process.stdin.setEncoding('utf8').on('data', input);
process.stdout.write('\x1b[?2004h');
draw();
drop('started', args.includes('--resume') ? { source: 'resume' } : {});

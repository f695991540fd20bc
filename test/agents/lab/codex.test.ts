// The real Codex with a server of its own, and our companion beside it; and Codex with hooks, where there is no server.

import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { codex } from '../../../agents/codex/driver.ts';
import type { AgentDriver } from '../../../agents/driver.ts';
import type { AskedEvent } from '../../../agents/event.ts';
import type { PromptDecision } from '../../../core/prompt.ts';
import { type AgentPane, type Letter, startAgentPane } from './agent-pane.ts';

const SOON = { timeout: 60_000, interval: 100 };

const idleBox = (pane: AgentPane) => pane.waitFor((screen) => screen.kind === 'empty' && !screen.busy);
const decide = (pane: AgentPane, letter: Letter & { event: AskedEvent }, decision: PromptDecision) =>
  pane.answer(letter, codex.answer(letter.event, decision) ?? '');
const kinds = (pane: AgentPane) => pane.events().map(({ event }) => event);
const runFolder = (pane: AgentPane) => join(pane.dir, 'threadmux/run');

/** The pipes of the processes that wait for an answer. */
const waiting = (pane: AgentPane) => readdirSync(join(pane.dir, 'threadmux/answers'));

async function startCodex(driver: AgentDriver = codex): Promise<AgentPane> {
  const pane = await startAgentPane('codex', driver);
  await idleBox(pane);
  return pane;
}

/** Processes of this pane, by a part of their command line. */
function processes(pane: AgentPane, words: string): readonly number[] {
  const { stdout } = spawnSync('ps', ['-eo', 'pid=,args='], { encoding: 'utf8' });
  return stdout
    .split('\n')
    .filter((line) => line.includes(pane.dir) && line.includes(words) && !line.includes('codex-pane'))
    .map((line) => Number.parseInt(line, 10));
}

it('reports a turn with everything that was said in it', async () => {
  const pane = await startCodex();
  expect((await pane.next('started')).event.cwd).toBe(pane.project);
  await pane.paste('steps 2');
  const submitted = await pane.next('submitted');
  expect(submitted.event.prompt).toBe('steps 2');
  expect(submitted.headers).toMatchObject({ agent: 'codex', pane: '%0' });
  for (const step of ['touch steps && echo step 1', 'touch steps && echo step 2']) {
    const asked = await pane.next('asked');
    expect(asked.event.input.command).toBe(step);
    decide(pane, asked, { kind: 'allow', always: false });
  }
  expect((await pane.next('idle')).event.text).toMatch(/^Done\. The tool said/);
  const said = pane.events().flatMap((event) => (event.event === 'said' ? [event.text] : []));
  expect(said).toEqual(['Step 1: looking around.', 'Step 2: looking around.']);
  const turn = kinds(pane).filter((kind) => kind !== 'started');
  expect(turn).toEqual(['submitted', 'said', 'tool', 'asked', 'said', 'tool', 'asked', 'idle']);
  expect(statSync(join(runFolder(pane), readdirSync(runFolder(pane))[0] ?? '')).mode & 0o777).toBe(0o700);
});

it('answers a permission while the dialog is open, and passes on why it was denied', async () => {
  const pane = await startCodex();
  await pane.paste('run echo allowed-by-tap');
  const first = await pane.next('asked');
  expect(first.event).toMatchObject({ kind: 'permission', tool: 'Bash', input: { command: 'echo allowed-by-tap' } });
  expect(first.event.always).toEqual([expect.stringContaining('echo allowed-by-tap')]);
  expect(await pane.waitFor((screen) => screen.kind === 'dialog')).toMatchObject({ which: 'permission' });
  decide(pane, first, { kind: 'allow', always: false });
  await pane.next('idle');
  expect(pane.screen()).toContain('allowed-by-tap');
  await idleBox(pane);

  await pane.paste('run echo second');
  decide(pane, await pane.next('asked'), { kind: 'deny', reason: 'please use printf instead' });
  expect((await pane.next('submitted')).event.prompt).toBe('please use printf instead');
  await pane.next('idle');
  await idleBox(pane);

  await pane.paste('write /nonexistent-lab-folder/new.txt');
  const third = await pane.next('asked');
  const input = { file_path: '/nonexistent-lab-folder/new.txt', content: 'hello\n' };
  expect(third.event).toMatchObject({ kind: 'permission', tool: 'Write', input });
  decide(pane, third, { kind: 'deny', reason: '' });
  await pane.next('idle');
  expect(kinds(pane)).not.toContain('resolved');
});

it('closes a prompt that was answered in the terminal, and no process waits for it', async () => {
  const pane = await startCodex();
  await pane.paste('run echo answered-in-terminal');
  const asked = await pane.next('asked');
  await pane.waitFor((screen) => screen.kind === 'dialog');
  expect(waiting(pane)).toHaveLength(1);
  pane.press('y');
  expect((await pane.next('resolved')).event.ask).toBe(asked.event.ask);
  await pane.next('idle');
  await vi.waitFor(() => expect(waiting(pane)).toEqual([]), SOON);

  await idleBox(pane);
  await pane.paste('run echo never');
  const second = await pane.next('asked');
  await pane.waitFor((screen) => screen.kind === 'dialog');
  pane.press('Escape');
  expect((await pane.next('resolved')).event.ask).toBe(second.event.ask);
  expect((await pane.next('idle')).event.interrupted).toBe(true);
});

it('answers questions with options and with own words', async () => {
  const pane = await startCodex();
  pane.press('BTab'); // only plan mode has the question that waits
  await pane.waitFor((screen) => screen.kind === 'empty' && screen.mode === 'plan');
  await pane.paste('ask2');
  const asked = await pane.next('asked');
  expect(asked.event).toMatchObject({ kind: 'question', questions: [{ header: 'Database' }, { header: 'Extras' }] });
  expect(await pane.waitFor((screen) => screen.kind === 'dialog')).toMatchObject({ which: 'question' });
  decide(pane, asked, { kind: 'answers', answers: ['Postgres', 'none of them, "thanks"'] });
  const reply = (await pane.next('idle')).event.text;
  expect(reply).toContain('Postgres');
  expect(reply).toContain('none of them, \\"thanks\\"');
});

it('reports every end of a turn: interrupted and failed', async () => {
  const pane = await startCodex();
  await pane.paste('slow 60');
  await pane.next('submitted');
  await pane.waitFor((screen) => screen.kind === 'empty' && screen.busy);
  pane.press('Escape');
  expect((await pane.next('idle')).event.interrupted).toBe(true);
  await idleBox(pane);
  await pane.paste('fail 429');
  expect((await pane.next('failed')).event.error).toContain('429');
  await idleBox(pane);
  await pane.paste('still there?');
  await pane.next('idle');
});

it('ends with its pane', async () => {
  const pane = await startCodex();
  await pane.paste('run echo never');
  await pane.next('asked');
  pane.tmux('respawn-pane', '-k', '-t', 'demo', 'sh');
  await pane.next('ended');
  await vi.waitFor(() => {
    expect(processes(pane, 'codex-companion')).toEqual([]);
    expect(processes(pane, 'app-server')).toEqual([]);
    expect(waiting(pane)).toEqual([]);
    expect(readdirSync(runFolder(pane))).toEqual([]);
  }, SOON);
});

it('takes a text after Esc was pressed in its empty box', async () => {
  const pane = await startCodex();
  await pane.paste('hello');
  await pane.next('idle');
  await idleBox(pane);
  pane.press('Escape');
  await vi.waitFor(() => expect(pane.screen()).toContain('esc again to edit'), SOON);
  expect(pane.read()).toMatchObject({ kind: 'empty' });
  await pane.paste('after Esc');
  expect((await pane.next('submitted')).event.prompt).toBe('after Esc');
});

it('leaves nothing behind when it exits', async () => {
  const pane = await startCodex();
  await pane.next('started');
  await pane.paste('/exit');
  await pane.next('ended');
  await vi.waitFor(() => {
    expect(processes(pane, 'codex-companion')).toEqual([]);
    expect(processes(pane, 'app-server')).toEqual([]);
    expect(readdirSync(runFolder(pane))).toEqual([]);
  }, SOON);
});

it('goes on after a crash of the companion, and of the server', async () => {
  const pane = await startCodex();
  await pane.paste('hello');
  await pane.next('idle');
  for (const pid of processes(pane, 'codex-companion')) process.kill(pid, 'SIGKILL');
  await vi.waitFor(() => expect(processes(pane, 'codex-companion')).toHaveLength(1), SOON);
  await pane.next('started');
  await pane.paste('after the companion');
  expect((await pane.next('submitted')).event.prompt).toBe('after the companion');
  await pane.next('idle');

  for (const pid of processes(pane, 'app-server')) process.kill(pid, 'SIGKILL');
  await pane.waitFor((screen) => screen.kind === 'aside');
  await idleBox(pane);
  await pane.paste('after the server');
  expect((await pane.next('submitted')).event.prompt).toBe('after the server');
  await pane.next('idle');
});

/** As on a host without Node.js. */
const withHooks: AgentDriver = { ...codex, launch: ({ local: _, ...options }) => codex.launch(options) };

it('reports by hooks where it has no server, and a hook answers a permission', async () => {
  const pane = await startCodex(withHooks);
  await pane.paste('hello there');
  expect((await pane.next('started')).event.cwd).toBe(pane.project);
  expect((await pane.next('submitted')).event.prompt).toBe('hello there');
  expect((await pane.next('idle')).event.text).toBe('Echo: hello there');
  await idleBox(pane);
  await pane.paste('run echo by-hook');
  const asked = await pane.next('asked');
  expect(asked.event).toMatchObject({ kind: 'permission', tool: 'Bash', input: { command: 'echo by-hook' } });
  decide(pane, asked, { kind: 'allow', always: false });
  expect((await pane.next('idle')).event.text).toContain('by-hook');
  await idleBox(pane);
  await pane.paste('run echo denied');
  decide(pane, await pane.next('asked'), { kind: 'deny', reason: 'not today' });
  expect((await pane.next('idle')).event.text).toContain('not today');
  expect(existsSync(runFolder(pane))).toBe(false);
});

it('starts with hooks and says so if the server does not start', async () => {
  const pane = await startAgentPane('codex', {
    ...codex,
    launch(options) {
      const [program = ''] = options.command;
      const script = readFileSync(program, 'utf8').replace('\nexec ', '\n[ "$1" != app-server ] || exit 2\nexec ');
      writeFileSync(program, script);
      return codex.launch(options);
    },
  });
  expect((await pane.next('notice')).event.message).toContain('The server of Codex did not start.');
  await idleBox(pane);
  await pane.paste('hello there');
  expect((await pane.next('idle')).event.text).toBe('Echo: hello there');
  await vi.waitFor(() => expect(readdirSync(runFolder(pane))).toEqual([]), SOON);
});

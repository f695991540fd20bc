// The same table of cases for every agent: the real program, driven from its thread. A case that an agent cannot do is in `CANNOT`, with
// the reason and what happens instead.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { guaranteeNotes } from '../../../agents/guarantees.ts';
import { driverOf } from '../../../agents/list.ts';
import { connectMcp } from '../../bin/mcp/mcp-client.ts';
import { type LabAgentName, labAgents } from './packages.ts';
import { LAB_PATIENCE, type LabThread, startThreadmuxLab, type ThreadmuxLab } from './threadmux-lab.ts';

const CASES = [
  ...['start', 'chat', 'many lines', 'text between tools', 'message while it works', 'permission allowed'],
  ...['permission denied', 'question', 'own words', 'answer in the terminal', 'draft', 'interruption', 'failure'],
  ...['text with !', 'text with /', 'scripts', 'tools', 'exit'],
] as const;
type Case = (typeof CASES)[number];

/** The keys of the person at the terminal, where agents differ. `ask`: before and after a question, which Codex asks in plan mode only. */
const KEYS: Readonly<Record<LabAgentName, { allow: string[]; clear: string; exit: string[]; ask?: string }>> = {
  codex: { allow: ['y'], clear: 'C-u', exit: ['C-c'], ask: 'BTab' },
  gemini: { allow: ['1'], clear: 'C-u', exit: ['C-c', 'C-c'] },
  opencode: { allow: ['Enter'], clear: 'C-u', exit: ['C-c'] },
  pi: { allow: [], clear: 'C-u', exit: ['C-d'] },
};

/** The buttons of a permission: those of a prompt, or the options of the dialog. */
const buttonsOf = (name: LabAgentName) =>
  name === 'gemini' ? { allow: 'Allow once', deny: 'No, suggest changes' } : { allow: 'Allow', deny: 'Deny' };

/** Exit codes of the command line. */
const NEEDS_PERSON = 4;
const NOT_FOUND = 3;

interface Agent {
  readonly name: LabAgentName;
  readonly thread: LabThread;
}

let lab: ThreadmuxLab;
beforeAll(async () => {
  lab = await startThreadmuxLab(labAgents());
});
afterAll(() => lab?.stop());

const wrote = ({ thread }: Agent, file: string) => existsSync(join(thread.project, file));
const appears = (agent: Agent, file: string) =>
  vi.waitFor(() => expect(wrote(agent, file), agent.thread.screen()).toBe(true), LAB_PATIENCE);
const reads = (prompt: string) =>
  lab.model.requests.some(({ body }) => body.includes(JSON.stringify(prompt).slice(1, -1)));
/** The last line of a card that is closed. */
const verdict = ({ thread }: Agent, card: Parameters<LabThread['now']>[0]) =>
  vi.waitFor(async () => {
    const { components, content } = await thread.now(card);
    expect(components, content).toEqual([]);
    return content.split('\n').at(-1) ?? '';
  }, LAB_PATIENCE);

/** Into the mode in which it may ask questions, and back. */
async function switchForQuestions({ name, thread }: Agent): Promise<void> {
  const { ask } = KEYS[name];
  if (ask === undefined) return;
  const modeNow = async () => {
    const now = await thread.read();
    return now.kind === 'empty' ? now.mode : undefined;
  };
  const before = await modeNow();
  // Codex ignores the key while a turn runs, so it is pressed again if nothing changes.
  await vi.waitFor(async () => {
    thread.press(ask);
    await vi.waitFor(async () => expect([before, undefined]).not.toContain(await modeNow()));
  }, LAB_PATIENCE);
}

const DOES: Readonly<Record<Case, (agent: Agent) => Promise<void>>> = {
  async start({ name, thread }) {
    const driver = driverOf(name);
    const welcome = (await lab.person.messages(lab.channelId)).find(({ id }) => id === thread.thread);
    expect(welcome?.content).toContain(` · ${driver.title}`);
    for (const note of guaranteeNotes(driver)) expect(welcome?.content).toContain(note);
    expect(thread.record()).toMatchObject({ agent: name, shell: 'no' });
  },

  async chat({ thread }) {
    const message = await thread.say('hello from the thread');
    await thread.marked(message, '✅');
    await thread.posted(message, 'Echo: hello from the thread');
    await thread.ready();
    const replies = (await thread.since(message)).filter(({ content }) => content.includes('Echo: hello'));
    expect(replies).toHaveLength(1);
  },

  async 'many lines'(agent) {
    const text = [
      'first $(touch hacked) `touch hacked` ; touch hacked',
      '"double" \'single\' \\ {braces} #hash %s ~ä😀',
      '\tindented; EOF',
      '!touch hacked',
      'last line',
    ].join('\n');
    const message = await agent.thread.say(text);
    await agent.thread.marked(message, '✅');
    await agent.thread.posted(message, 'last line');
    for (const line of text.split('\n')) expect(reads(line.trim()), line).toBe(true);
    expect(wrote(agent, 'hacked')).toBe(false);
  },

  async 'text between tools'({ name, thread }) {
    const message = await thread.say('steps 2');
    const { permission, textBetweenTools } = driverOf(name).guarantees;
    for (const step of permission === 'never' ? [] : [1, 2]) {
      const card = await thread.card(message, buttonsOf(name).allow);
      if (textBetweenTools) await thread.posted(message, `Step ${step}: looking around.`);
      await thread.tap(card, buttonsOf(name).allow);
      await vi.waitFor(async () => expect((await thread.now(card)).components).toEqual([]), LAB_PATIENCE);
    }
    const last = await thread.posted(message, 'Done. The tool said');
    const said = (await thread.since(message)).map(({ content }) => content);
    expect(said.join('\n')).toMatch(/Step 1:.*Step 2:.*Done\. The tool said/s);
    expect(last.flags & (1 << 12)).toBe(0); // the reply notifies
    await thread.ready();
  },

  async 'message while it works'({ name, thread }) {
    const slow = await thread.say('slow 8');
    await thread.shows((now) => now.kind === 'empty' && now.busy);
    const message = await thread.say('entered meanwhile');
    if (name !== 'codex') await thread.posted(slow, 'Slept 8 s'); // there it joins the running turn, which answers both
    await thread.posted(message, 'Echo: entered meanwhile');
    await thread.marked(message, '✅');
    await thread.ready();
  },

  async 'permission allowed'(agent) {
    const { thread } = agent;
    const message = await thread.say('run touch allowed.txt');
    const card = await thread.card(message, buttonsOf(agent.name).allow);
    expect(card.content).toContain('touch allowed.txt');
    expect(wrote(agent, 'allowed.txt')).toBe(false);
    await thread.tap(card, buttonsOf(agent.name).allow);
    await appears(agent, 'allowed.txt');
    await verdict(agent, card);
    await thread.posted(message, 'Done. The tool said');
    await thread.ready();
  },

  async 'permission denied'(agent) {
    const { thread } = agent;
    const message = await thread.say('run touch denied.txt');
    const { deny } = buttonsOf(agent.name);
    const card = await thread.card(message, deny);
    await thread.tap(card, deny);
    await verdict(agent, card);
    await thread.ready();
    expect(wrote(agent, 'denied.txt')).toBe(false);
  },

  async question(agent) {
    const { thread } = agent;
    await switchForQuestions(agent);
    const message = await thread.say('ask');
    const card = await thread.card(message, 'Postgres');
    expect(card.content).toContain('Which database should we use?');
    await thread.tap(card, 'Postgres');
    await verdict(agent, card);
    await thread.posted(message, /Done\. The tool said:.*Postgres/s);
    await thread.ready();
    await switchForQuestions(agent);
  },

  async 'own words'(agent) {
    const { thread } = agent;
    await switchForQuestions(agent);
    const message = await thread.say('ask');
    const card = await thread.card(message, 'Postgres');
    const words = await thread.say('the one that we have already');
    if (driverOf(agent.name).guarantees.question === 'keys') {
      await thread.marked(words, '📨');
      await thread.posted(words, /question.*waits|waits.*question/is);
      await thread.tap(card, 'Postgres');
      await thread.posted(message, 'Done. The tool said');
      await thread.marked(words, '✅');
      await thread.posted(words, 'Echo: the one that we have already');
    } else {
      await verdict(agent, card);
      await thread.posted(message, /Done\. The tool said:.*the one that we have already/s);
    }
    await thread.ready();
    await switchForQuestions(agent);
  },

  async 'answer in the terminal'(agent) {
    const { thread, name } = agent;
    const message = await thread.say('run touch terminal.txt');
    const card = await thread.card(message, buttonsOf(name).allow);
    await thread.shows((now) => now.kind === 'dialog');
    for (const key of KEYS[name].allow) thread.press(key);
    await appears(agent, 'terminal.txt');
    expect(await verdict(agent, card)).toContain('in the terminal');
    await thread.ready();
  },

  async draft({ name, thread }) {
    thread.type('half written');
    await thread.shows((now) => now.kind === 'draft');
    const message = await thread.say('not into the draft');
    if (driverOf(name).guarantees.draft === 'waits') {
      await thread.marked(message, '📨');
      expect(thread.screen()).toContain('half written');
      thread.press(KEYS[name].clear);
    }
    await thread.marked(message, '✅');
    await thread.posted(message, 'Echo: not into the draft');
    if (driverOf(name).guarantees.draft === 'kept') expect(await thread.read()).toMatchObject({ text: 'half written' });
    thread.press(KEYS[name].clear);
    await thread.ready();
    expect(reads('half writtennot')).toBe(false);
  },

  async interruption({ thread }) {
    const message = await thread.say('slow 90');
    await thread.marked(message, '✅');
    await thread.shows((now) => now.kind === 'empty' && now.busy);
    await thread.say('!stop');
    await thread.ready();
    await vi.waitFor(() => expect(thread.record().state).toBe('idle'), LAB_PATIENCE);
    expect((await thread.since(message)).some(({ content }) => content.includes('Slept'))).toBe(false);
  },

  async failure({ thread }) {
    const message = await thread.say('fail 401');
    await thread.posted(message, /⚠️ .* stopped: /);
    await thread.ready();
    for (const status of [429, 500]) {
      const failing = await thread.say(`fail ${status}`);
      await thread.marked(failing, '✅');
      // Agents try again for a long time, unless they are interrupted. An interruption before the first try would do nothing.
      await vi.waitFor(async () => {
        const screen = await thread.read();
        const isOver = (await thread.since(failing)).some(({ content }) => content.includes(' stopped: '));
        expect(isOver || (screen.kind === 'empty' && screen.busy), thread.screen()).toBe(true);
      }, LAB_PATIENCE);
      await thread.say('!stop');
      await thread.ready();
    }
  },

  async 'text with !'(agent) {
    const { thread } = agent;
    const message = await thread.say('!touch hacked');
    await thread.posted(message, /!touch|touch/);
    expect(reads('!touch hacked"')).toBe(false);
    // Other ways into the box than a command of ours.
    const { sessionName } = thread.record();
    const blank = await thread.say('\u200b !touch hacked');
    const sent = lab.command('send', sessionName, ' !touch hacked', '--wait', '30');
    if (driverOf(agent.name).typing.refuse('!touch hacked') === undefined) {
      await sent;
      await thread.posted(blank, /Echo: !touch hacked/);
      await thread.marked(blank, '✅');
    } else {
      await expect(sent).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining('Nothing was typed') });
      await thread.ready();
    }
    expect(wrote(agent, 'hacked')).toBe(false);
  },

  async 'text with /'({ name, thread }) {
    const message = await thread.say('/xyzzy is only a word');
    // Where the commands of the agent are known, a person is asked about others.
    if (driverOf(name).commands !== undefined) {
      const card = await thread.card(message, 'Send as text');
      await thread.tap(card, 'Send as text');
    }
    await thread.marked(message, '✅');
    await thread.posted(message, '/xyzzy is only a word');
    await thread.ready();
  },

  async scripts({ name, thread }) {
    const session = `${name}-script`;
    const start = ['start', session, '--agent', name, '--dir', thread.project];
    const first = await lab.command(...start, '--prompt', 'hello from a script', '--wait', '--timeout', '150');
    expect(first).toBe('Echo: hello from a script\n');
    expect(await lab.command('reply', session)).toBe(first);
    expect(await lab.command('wait', session, '--timeout', '60')).toBe(first);
    const second = await lab.command('send', session, 'slow 2', '--wait-reply', '--timeout', '60');
    expect(second).toBe('Slept 2 s.\n');
    expect(await lab.command('reply', session)).toBe(second);
    if (driverOf(name).guarantees.permission !== 'never') {
      const asking = lab.command('send', session, 'run touch by-script.txt', '--wait-reply', '--timeout', '60');
      await expect(asking).rejects.toMatchObject({ code: NEEDS_PERSON, stdout: '' });
    }
    await lab.command('stop', session);
    await expect(lab.command('reply', session)).rejects.toMatchObject({ code: NOT_FOUND });
  },

  async tools({ thread }) {
    const { sessionName: session } = thread.record();
    const { call } = await connectMcp(lab);
    expect(await call('send_message', { session, text: 'hello from a tool' })).toEqual({ outcome: 'submitted' });
    const reply = 'Echo: hello from a tool';
    expect(await call('wait', { session, timeout_seconds: 60 })).toEqual({ state: 'idle', about: null, reply });
    expect(await call('read_reply', { session })).toEqual({ reply, finished: true });
    expect((await call('read_screen', { session, lines: 100 })).text).toContain(reply);
    expect((await call('list_sessions')).sessions).toContainEqual(expect.objectContaining({ session, state: 'idle' }));
    await call('send_message', { session, text: 'slow 90' });
    await thread.shows((now) => now.kind === 'empty' && now.busy);
    expect(await call('interrupt_session', { session })).toEqual({ interrupted: true });
    expect(await call('wait', { session, timeout_seconds: 60 })).toMatchObject({ state: 'idle' });
    await thread.ready();
  },

  async exit(agent) {
    const { thread, name } = agent;
    for (const key of KEYS[name].exit) thread.press(key);
    await vi.waitFor(async () => {
      const { archived, closed } = thread.record();
      expect(closed || archived !== 'no', `${thread.screen()}`).toBe(true);
    }, LAB_PATIENCE);
  },
};

interface Cannot {
  readonly because: string;
  /** It is refused politely, or there is nothing to refuse. */
  readonly instead: (agent: Agent) => Promise<void>;
}

const neverAsks: Cannot = {
  because: 'pi never asks for a permission',
  async instead(agent) {
    const { thread } = agent;
    const file = `unasked-${Date.now()}.txt`;
    const message = await thread.say(`run touch ${file}`);
    await thread.posted(message, 'Done. The tool said');
    expect(wrote(agent, file)).toBe(true);
    expect((await thread.since(message)).every(({ components }) => components.length === 0)).toBe(true);
    const welcome = (await lab.person.messages(lab.channelId)).find(({ id }) => id === thread.thread);
    expect(welcome?.content).toContain('without asking for permission');
  },
};

const noQuestions: Cannot = {
  because: 'pi has no tool for questions',
  async instead({ thread }) {
    const message = await thread.say('ask');
    await thread.posted(message, 'No such tool was offered');
  },
};

const CANNOT: Readonly<Partial<Record<LabAgentName, Partial<Record<Case, Cannot>>>>> = {
  gemini: {
    failure: {
      because: 'Gemini CLI reports the end of a failed turn without the reason, which its screen shows',
      async instead({ thread }) {
        const message = await thread.say('fail 400');
        await thread.marked(message, '✅');
        await thread.ready();
        await vi.waitFor(() => expect(thread.record().state).toBe('idle'), LAB_PATIENCE);
        const next = await thread.say('still there?');
        await thread.posted(next, 'Echo: still there?');
        await thread.ready();
      },
    },
  },
  pi: {
    'permission allowed': neverAsks,
    'permission denied': neverAsks,
    'answer in the terminal': neverAsks,
    question: noQuestions,
    'own words': noQuestions,
    'text with /': {
      because: 'pi takes a text that begins with "/" for a command',
      async instead({ thread }) {
        const message = await thread.say('/quit');
        await thread.marked(message, '⚠️');
        await thread.posted(message, 'Put a word before it');
        await thread.ready();
      },
    },
  },
};

describe.each(labAgents())('%s', (name) => {
  let agent: Agent;
  beforeAll(async () => {
    agent = { name, thread: await lab.start(name) };
  });

  for (const one of CASES) {
    const cannot = CANNOT[name]?.[one];
    it(cannot === undefined ? one : `${one}: not possible, because ${cannot.because}`, () =>
      (cannot?.instead ?? DOES[one])(agent),
    );
  }
});

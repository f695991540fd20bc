import { appendFileSync, readFileSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readTurn, toolAnswered } from '../../../../agents/claude/transcript/transcript.ts';
import { type AgentTurn, openTool } from '../../../../agents/turn.ts';
import { tempFile } from '../../../support/temp-home.ts';

const fixture = (name: string) => join(import.meta.dirname, '../../../fixtures/claude', name);

/** The recorded transcript up to and including a certain line. */
function recorded(name: string, until?: (line: string) => boolean): string {
  const lines = readFileSync(fixture(name), 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.stringify(JSON.parse(line)));
  const end = until === undefined ? lines.length : lines.findIndex(until) + 1;
  expect(end).toBeGreaterThan(0);
  return fileWith(`${lines.slice(0, end).join('\n')}\n`);
}

const fileWith = (content: string) => tempFile('session.jsonl', content);

const lines = (...entries: object[]) => entries.map((entry) => `${JSON.stringify(entry)}\n`).join('');
const human = (text: string, more: object = {}) => ({
  type: 'user',
  uuid: `u-${text}`,
  message: { role: 'user', content: text },
  ...more,
});
const said = (text: string, more: object = {}) => ({
  type: 'assistant',
  uuid: `a-${text}`,
  message: { id: `m-${text}`, content: [{ type: 'text', text }], stop_reason: 'end_turn' },
  ...more,
});
const texts = (turn: AgentTurn | undefined) =>
  turn?.messages.flatMap((message) => message.texts.map(({ text }) => text));

describe('readTurn', () => {
  it('returns all texts of the last turn, in order, and the tools used', async () => {
    const path = recorded('transcript.jsonl', (line) => line.includes('"messageCount":15'));
    const turn = await readTurn(path);
    expect(turn).toMatchObject({
      promptId: 'c246dd8e-7a77-4077-9e70-f88b8a5d01b7',
      prompts: ['steps 2'],
      state: 'finished',
      tools: [
        { name: 'Bash', label: 'Bash: Show the step', outcome: 'ok' },
        { name: 'Bash', label: 'Bash: Show the step', outcome: 'ok' },
      ],
    });
    expect(texts(turn)).toEqual([
      'Step 1 of 2: looking around.',
      'Step 2 of 2: looking around.',
      'Done. The tool said: step 1\nstep 2',
    ]);
  });

  it('finds a reply that was written before the prompt of a new transcript', async () => {
    const reply = said('hello');
    const prompt = human('hi', { promptId: 'p', origin: { kind: 'human' } });
    const ended = { type: 'system', subtype: 'turn_duration', durationMs: 7, uuid: 'e' };
    for (const more of [[], [ended]]) {
      const turn = await readTurn(fileWith(lines({ type: 'mode', mode: 'normal' }, reply, prompt, ...more)));
      expect([turn?.promptId, turn?.prompts, turn?.state, texts(turn)]).toEqual(['p', ['hi'], 'finished', ['hello']]);
    }
    const next = human('more', { promptId: 'q', origin: { kind: 'human' } });
    const path = fileWith(lines(reply, prompt, ended, next));
    expect(texts(await readTurn(path))).toEqual([]);
    expect(texts(await readTurn(path, { promptId: 'p' }))).toEqual(['hello']);
  });

  it('keeps the texts of one message together, each with the id of its line', async () => {
    const turn = await readTurn(fixture('transcript.queued.jsonl'), {
      promptId: promptIdOf('transcript.queued.jsonl', '"content":"two"'),
    });
    expect(turn?.messages[0]?.texts.map(({ text }) => text)).toEqual(['First text.', 'Second text.']);
    expect(new Set(turn?.messages.flatMap((m) => m.texts.map((t) => t.uuid))).size).toBe(3);
  });

  it('finds an earlier turn by the id from its hooks', async () => {
    const promptId = 'c246dd8e-7a77-4077-9e70-f88b8a5d01b7';
    expect((await readTurn(fixture('transcript.jsonl'), { promptId }))?.prompts).toEqual(['steps 2']);
    expect(await readTurn(fixture('transcript.jsonl'), { promptId: 'none' })).toBeUndefined();
  });

  it('says that a turn is running while a tool waits for permission', async () => {
    const path = recorded('transcript.jsonl', (line) => line.includes('"id":"toolu_00000005"'));
    const turn = await readTurn(path);
    expect(turn).toMatchObject({ state: 'running', tools: [{ id: 'toolu_00000005', outcome: undefined }] });
    const input = { command: 'curl http://127.0.0.1:1/', description: 'Run the command asked for' };
    expect(turn && openTool(turn, 'Bash', input)?.id).toBe('toolu_00000005');
    expect(turn && openTool(turn, 'Bash', { command: 'other' })).toBeUndefined();
  });

  it('says that a turn was interrupted, or that a tool was refused', async () => {
    const path = recorded('transcript.jsonl', (line) => line.includes('[Request interrupted'));
    expect(await readTurn(path)).toMatchObject({
      prompts: ['ask2'],
      state: 'interrupted',
      tools: [{ name: 'AskUserQuestion', outcome: 'error' }],
    });
  });

  it('treats queued prompts as one turn', async () => {
    const path = recorded('transcript.queued.jsonl', (line) => line.includes('"messageCount":33'));
    const turn = await readTurn(path);
    expect(turn?.prompts).toEqual([
      ...['slow 5', 'queued one', 'queued two', 'steps 2', 'hello mid turn', 'bash sleep 4'],
      'steer me', // typed while the tool ran
    ]);
    expect(texts(turn)).toEqual(['Running it.', 'Done. The tool said: (Bash completed with no output)']);
  });

  it('does not treat an earlier interruption as part of this turn', async () => {
    const path = recorded('transcript.queued.jsonl', (line) => line.includes('"messageCount":20'));
    expect(await readTurn(path)).toMatchObject({ prompts: ['sub', 'slow 20'], state: 'finished' });
  });

  it('treats the notice of a background task as its own turn', async () => {
    const path = recorded('transcript.queued.jsonl', (line) => line.includes('"messageCount":45'));
    const turn = await readTurn(path);
    expect(turn?.prompts).toHaveLength(1);
    expect(turn?.prompts[0]).toContain('<task-notification>');
    expect(turn?.messages).toHaveLength(1);
  });

  it('continues across a compaction without returning its summary', async () => {
    const turn = await readTurn(fixture('transcript.queued.jsonl'));
    expect(turn?.prompts).toEqual(['/compact']);
    expect(texts(turn)?.[0]).toMatch(/^Echo: Continue/);
  });

  it('returns nothing for a command that only printed something', async () => {
    const clear = (line: string) => line.includes('"subtype":"local_command"');
    expect(await readTurn(recorded('transcript.cleared.jsonl', clear))).toBeUndefined();
    const setup = (line: string) => line.includes('Terminal setup cannot');
    expect(texts(await readTurn(recorded('transcript.cleared.jsonl', setup)))).toEqual(['Echo: after clear']);
  });

  it('separates an API failure from what Claude said', async () => {
    const path = recorded('transcript.failed.jsonl', (line) => line.includes('"apiErrorStatus":400'));
    expect(await readTurn(path)).toMatchObject({ prompts: ['fail 400'], state: 'failed', messages: [] });
  });

  it('never returns what a subagent said, or what was only thought', async () => {
    const thinking = { id: 'm', content: [{ type: 'thinking', thinking: 'secret' }], stop_reason: null };
    const path = fileWith(
      lines(
        human('go', { promptId: 'p', origin: { kind: 'human' } }),
        { type: 'assistant', uuid: 'a1', message: thinking },
        said('from the subagent', { isSidechain: true }),
        human('for the subagent', { isSidechain: true, promptId: 'p' }),
        said('No response requested.', {
          message: { id: 'x', model: '<synthetic>', content: [{ type: 'text', text: 'No response requested.' }] },
        }),
        said('mine'),
      ),
    );
    const turn = await readTurn(path);
    expect(texts(turn)).toEqual(['mine']);
    expect(turn?.prompts).toEqual(['go']);
  });

  it('reads versions that give prompts neither an id nor an origin', async () => {
    const result = { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: 'x' }] };
    const path = fileWith(
      lines(
        human('before'),
        said('old'),
        human('one'),
        human('two'),
        said('first', { message: { id: 'm', content: [{ type: 'text', text: 'first' }], stop_reason: null } }),
        { type: 'user', uuid: 'r', message: result },
        human('<local-command-stdout>x</local-command-stdout>'),
        said('last'),
      ),
    );
    const turn = await readTurn(path);
    expect(turn).toMatchObject({ promptId: undefined, prompts: ['one', 'two'], state: 'finished' });
    expect(texts(turn)).toEqual(['first', 'last']);
  });

  it('does not join an interrupted prompt to the next one', async () => {
    const path = fileWith(lines(human('one'), human('[Request interrupted by user]'), human('two'), said('b')));
    expect(await readTurn(path)).toMatchObject({ prompts: ['two'], state: 'finished' });
  });

  it('handles garbage, half a line and a repeated line', async () => {
    const path = fileWith(
      `${lines(human('go'), said('a'), said('a'))}\u0000\u0000garbage\n{"type":"assistant"}\n[]\n${lines(said('b'))}{"type":"assis`,
    );
    expect(texts(await readTurn(path))).toEqual(['a', 'b']);
  });

  it('has only the end of a turn that is longer than the part it read', async () => {
    const path = fileWith(lines(human('go'), said('a'.repeat(5000)), said('b'.repeat(5000))));
    const turn = await readTurn(path, { maxBytes: 4000 });
    expect(turn).toMatchObject({ prompts: [] });
    expect(texts(turn)).toEqual(['b'.repeat(5000)]);
  });

  it('returns nothing for a missing file', async () => {
    expect(await readTurn('/nonexistent/x.jsonl')).toBeUndefined();
  });

  it('reads only the last turn of a 1 GB file', async () => {
    const path = fileWith('');
    truncateSync(path, 1024 ** 3);
    appendFileSync(
      path,
      `\n${lines(said('old'), human('x', { promptId: 'p0' }), human('go', { promptId: 'p' }), said('new'))}`,
    );
    expect(texts(await readTurn(path))).toEqual(['new']);
  });
});

describe('a message in very many lines', () => {
  it('is read in linear time', async () => {
    const message = { id: 'm', content: [{ type: 'text', text: 'x' }] };
    const one = (_: unknown, at: number) => ({ type: 'assistant', uuid: `a${at}`, message });
    const path = fileWith(lines(human('go'), ...Array.from({ length: 40_000 }, one)));
    const from = process.cpuUsage();
    expect(texts(await readTurn(path))).toHaveLength(40_000);
    const { user, system } = process.cpuUsage(from);
    expect(user + system).toBeLessThan(6_000_000);
  });
});

describe('a tool that the user declined', () => {
  const rejected = 'The tool use was rejected (eg. if it was a file edit, the new_string was NOT written to the file).';
  it.each([
    ['Esc', `The user doesn't want to proceed with this tool use. ${rejected} STOP what you are doing and wait.`, ''],
    ['Esc while it ran', "The user doesn't want to take this action right now. STOP what you are doing and wait.", ''],
    [
      'words',
      `The user doesn't want to proceed with this tool use. ${rejected} To tell you how to proceed, the user said:\nUse tmp\nplease`,
      ': Use tmp',
    ],
    ['a subagent', `Permission for this tool use was denied. ${rejected} Try a different approach.`, ''],
    [
      'words to a subagent',
      `Permission for this tool use was denied. ${rejected} The user said:\nUse tmp`,
      ': Use tmp',
    ],
  ])('does not show the text that is meant for the model (%s)', async (_, content, words) => {
    const tool = { type: 'tool_use', id: 't', name: 'Bash', input: {} };
    const result = { type: 'tool_result', tool_use_id: 't', is_error: true, content };
    const uses = { type: 'assistant', uuid: 'a', message: { id: 'm', content: [tool], stop_reason: 'tool_use' } };
    const turn = await readTurn(
      fileWith(lines(human('go'), uses, { ...human('result'), message: { content: [result] } })),
    );
    expect(turn?.tools).toMatchObject([{ outcome: 'error', failure: `declined${words}` }]);
  });
});

describe('toolAnswered', () => {
  it.each([
    ['toolu_00000003', 'ok'],
    ['toolu_00000004', 'error'],
    ['toolu_unknown', undefined],
  ])('returns for %s: %s', async (id, answer) => {
    expect(await toolAnswered(fixture('transcript.jsonl'), id)).toBe(answer);
  });

  it('returns nothing while the dialog is open', async () => {
    const path = recorded('transcript.jsonl', (line) => line.includes('"id":"toolu_00000005"'));
    expect(await toolAnswered(path, 'toolu_00000005')).toBeUndefined();
  });
});

function promptIdOf(name: string, holding: string): string {
  const line = readFileSync(fixture(name), 'utf8')
    .split('\n')
    .find((each) => each.includes(holding));
  return (JSON.parse(line ?? '{}') as { promptId: string }).promptId;
}

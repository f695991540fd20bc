// Untrusted JSON may be nested very deep, and code that walks through it recurses once per level.

import { describe, expect, it } from 'vitest';
import { parseStreamLine } from '../../agents/claude/headless.ts';
import { readJsonTree } from '../../agents/claude/json-edit.ts';
import { parseTranscriptEntry } from '../../agents/claude/transcript/entry.ts';
import { readTurn } from '../../agents/claude/transcript/transcript.ts';
import { openTool } from '../../agents/turn.ts';
import { harmless, MOST_LEVELS, MOST_VALUES, parseForeignJson, parseJson } from '../../core/json.ts';
import { judgeResponse } from '../../discord/response.ts';
import { parseLetter } from '../../hooks/letter.ts';
import { parseBody } from '../../workspace/request-body.ts';
import { tempFile } from '../support/temp-home.ts';

const nested = (levels: number) => `${'{"a":['.repeat(levels / 2)}${']}'.repeat(levels / 2)}`;
const DEEP = nested(500_000);

describe('parseJson', () => {
  it('accepts reasonable nesting, and refuses deeper nesting', () => {
    expect(JSON.stringify(parseJson(nested(MOST_LEVELS)))).toBe(nested(MOST_LEVELS));
    for (const text of [nested(MOST_LEVELS + 2), DEEP, `[1, "a", {"b": ${DEEP}}]`])
      expect(() => parseJson(text)).toThrow(/^it is nested more than 100 levels deep$/);
  });

  it.each(['null', '1', '"[[["', '[]', '{}', '[1,[2,{"a":null}]]'])('is otherwise the same as JSON.parse: %s', (text) =>
    expect(parseJson(text)).toEqual(JSON.parse(text)),
  );

  it('is otherwise the same as JSON.parse, also for a long list', () => {
    const text = `[${'0,'.repeat(200_000)}0]`;
    expect(JSON.stringify(parseJson(text))).toBe(text);
  });
});

describe('JSON with too many values', () => {
  const head =
    '{"hook_event_name":"PermissionRequest","tool_name":"X","session_id":"s","transcript_path":"/t","cwd":"/"';

  it.each(['{},', '[],', '[[[]]],', '0,'])('is not a letter, which would take minutes and gigabytes: %s', (piece) => {
    const many = piece.repeat(Math.floor((32 * 2 ** 20) / piece.length)).slice(0, -1);
    const before = process.cpuUsage();
    const reading = parseLetter(`threadmux 2\npane %1\n\n${head},"tool_input":{"x":[${many}]}}`, 'salt', 0);
    const { user, system } = process.cpuUsage(before);
    expect(reading).toEqual({ kind: 'corrupt', why: `it has more than ${MOST_VALUES} values` });
    expect((user + system) / 1000).toBeLessThan(1_500);
  });

  it('is not a line of a transcript or of a headless agent', () => {
    const many = `[${'{},'.repeat(MOST_VALUES)}{}]`;
    expect(parseTranscriptEntry(`{"type":"user","uuid":"u","message":{"content":"hi"},"x":${many}}`)).toBeUndefined();
    expect(parseStreamLine(`{"type":"result","subtype":"success","result":"a","x":${many}}`)).toEqual([]);
  });

  it('is counted outside of strings', () => {
    const text = JSON.stringify({ text: '[{,"\\'.repeat(MOST_VALUES), more: ['"', '\\', ','] });
    expect(JSON.stringify(parseForeignJson(text))).toBe(text);
    const most = `[${'0,'.repeat(MOST_VALUES - 3)}0]`;
    expect(JSON.stringify(parseForeignJson(most))).toBe(most);
    expect(() => parseForeignJson(`["${'a'.repeat(MOST_VALUES)}\\\\"${',0'.repeat(MOST_VALUES)}]`)).toThrow(/values/);
  });
});

describe('JSON that is nested too deep', () => {
  const tool = { tool_name: 'Bash', session_id: 's', transcript_path: '/t', cwd: '/' };
  const head = JSON.stringify({ hook_event_name: 'PermissionRequest', ...tool }).slice(0, -1);

  it('is not a letter', () => {
    const letter = `threadmux 2\npane %1\n\n${head},"tool_input":{"x":${nested(50_000)}}}`;
    expect(parseLetter(letter, 'salt', 0)).toEqual({ kind: 'corrupt', why: 'it is nested more than 100 levels deep' });
  });

  it('is not a transcript line, and no tool is compared with it', async () => {
    const prompt = { type: 'user', uuid: 'u', message: { content: 'do it' }, promptId: 'p' };
    const use = `{"type":"tool_use","id":"t","name":"Bash","input":{"x":${DEEP}}}`;
    const line = `{"type":"assistant","uuid":"v","message":{"id":"m","content":[${use}]}}`;
    const turn = await readTurn(tempFile('transcript.jsonl', `${JSON.stringify(prompt)}\n${line}\n`));
    expect(turn && openTool(turn, 'Bash', { x: JSON.parse(DEEP) })).toBeUndefined();
    expect(() => JSON.stringify(turn)).not.toThrow();
    expect(parseTranscriptEntry(line)).toBeUndefined();
  });

  it('is not stored by the workspace, which would send it inside more levels', async () => {
    const body = async (levels: number) => parseBody(Buffer.from(nested(levels)), 'application/json');
    expect(await body(50)).toMatchObject({ uploads: [] });
    await expect(body(52)).rejects.toThrow();
    await expect(body(500_000)).rejects.toThrow();
  });

  it('is not an answer of Discord, and not the settings of an agent', () => {
    const answer = { status: 400, headers: {}, body: `{"code":1,"errors":${DEEP}}` };
    expect(judgeResponse('GET /x', answer).kind).toBe('refused');
    expect(readJsonTree(DEEP)).toMatchObject({ kind: 'invalid', why: 'it is nested more than 100 levels deep' });
    expect(readJsonTree(nested(MOST_LEVELS)).kind).toBe('tree');
  });
});

it('JSON for a terminal has no character that it would act on, or that turns words around, and the same value', () => {
  const value = 'a\u001b\u007f\u009b\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069é😀';
  const json = harmless(JSON.stringify(value));
  expect(json).toMatch(/^[ -~é😀]*$/u);
  expect(json).toContain('\\u061c\\u200e');
  expect(JSON.parse(json)).toBe(value);
});

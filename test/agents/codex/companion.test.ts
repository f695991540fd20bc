import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { askedBy, serverAnswer } from '../../../agents/codex/companion/approvals.ts';
import { parseNote, parseRequest, type ServerRequest } from '../../../agents/codex/companion/server-messages.ts';
import {
  changesOf,
  completedItem,
  endedTurn,
  shellCommand,
  startedItem,
} from '../../../agents/codex/companion/thread-events.ts';

const FILE = join(import.meta.dirname, '../../fixtures/hooks/codex-0.166.0/server-messages.jsonl');
const messages = readFileSync(FILE, 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line));
const base = { session: 'thread', cwd: '/home/user/project', transcript: '' } as const;

const paramsOf = (method: string) => messages.find((one) => one.method === method)?.params;

function requestOf(method: string, change: object = {}): ServerRequest {
  const request = parseRequest(method, 7, { ...paramsOf(method), ...change });
  if (request === undefined) throw new Error(`${method} cannot be read`);
  return request;
}

const COMMAND = 'item/commandExecution/requestApproval';
const QUESTION = 'item/tool/requestUserInput';
const CHANGE = 'item/fileChange/requestApproval';

describe('what a server tells', () => {
  it('is a prompt when it is taken', () => {
    const { item, turnId } = paramsOf('item/started');
    const prompt = 'run curl -s http://127.0.0.1:1/ || echo ran-by-client';
    expect(startedItem(base, turnId, item)).toMatchObject({ event: 'submitted', turn: turnId, prompt });
    expect(completedItem(base, turnId, item)).toBeUndefined();
  });

  it('is a text when it is complete, with an id that no other turn has', () => {
    const item = { type: 'agentMessage', id: 'msg_1', text: 'Done.' };
    expect(startedItem(base, 'turn', item)).toBeUndefined();
    expect(completedItem(base, 'turn', item)).toMatchObject({ event: 'said', id: 'turn/msg_1', text: 'Done.' });
    expect(completedItem(base, 'turn', { ...item, text: ' \n' })).toBeUndefined();
  });

  it.each([
    [{ type: 'commandExecution', source: 'agent', command: "/bin/bash -lc 'ls -l'" }, 'Bash', { command: 'ls -l' }],
    [{ type: 'fileChange', changes: [{ path: '/x', kind: { type: 'add' }, diff: 'a' }] }, 'Edit', { file_path: '/x' }],
    [{ type: 'mcpToolCall', server: 'files', tool: 'read' }, 'files.read', {}],
    [{ type: 'webSearch', query: 'tmux' }, 'WebSearch', { query: 'tmux' }],
  ])('is a tool: %o', (item, name, input) => {
    expect(startedItem(base, 'turn', { id: 'x', ...item })).toMatchObject({ event: 'tool', name, input });
  });

  it('is no tool of the agent if the user ran the command', () => {
    expect(startedItem(base, 'turn', { id: 'x', type: 'commandExecution', source: 'userShell' })).toBeUndefined();
  });

  it.each([
    ['completed', { event: 'idle', interrupted: false }],
    ['interrupted', { event: 'idle', interrupted: true }],
    ['failed', { event: 'failed', error: 'too many', details: 'wait' }],
    ['inProgress', undefined],
  ] as const)('is the end of a turn that was %s', (status, event) => {
    const error = status === 'failed' ? { message: 'too many', additionalDetails: 'wait' } : null;
    const ended = endedTurn(base, { id: 'turn', status, items: [], error }, undefined);
    if (event === undefined) expect(ended).toBeUndefined();
    else expect(ended).toMatchObject(event);
  });

  it('is the reply of a turn, if its last text was not reported yet', () => {
    const turn = { id: 'turn', status: 'completed', items: [], error: null } as const;
    const last = { id: 'turn/msg_1', text: 'Done.' };
    expect(endedTurn(base, { ...turn, items: [] }, last)).toMatchObject({ event: 'idle', ...last });
  });

  it('that is not as expected is ignored', () => {
    expect(parseNote('turn/completed', { threadId: 1 })).toBeUndefined();
    expect(parseNote('constructor', {})).toBeUndefined();
    expect(parseRequest('account/login', 1, {})).toBeUndefined();
  });
});

describe('a command that the server asks about', () => {
  it('is shown as it will run, with everything unusual', () => {
    const asked = askedBy(base, requestOf(COMMAND, { kind: 'stdin', additionalPermissions: { network: true } }), []);
    expect(asked).toMatchObject({
      event: 'asked',
      kind: 'permission',
      tool: 'Bash',
      cwd: '/home/user/project',
      always: ['commands that start with: curl -s http://127.0.0.1:1/'],
    });
    expect(asked?.input).toEqual({
      command: 'curl -s http://127.0.0.1:1/ || echo ran-by-client',
      description: 'Do you allow this command?',
      kind: 'stdin',
      additionalPermissions: { network: true },
    });
  });

  it('stays whole if it cannot be taken out of its shell exactly', () => {
    const command = `/bin/bash -lc 'echo '"'"'hidden'"'"''`;
    expect(shellCommand(command)).toBe(command);
  });

  it.each(['/tmp/evil/bash', '/home/user/bin/sh', '/opt/homebrew/bin/zsh', './bin/bash', '/bin/../tmp/sh'])(
    'stays whole if %s runs it, which somebody else may have written',
    (shell) => {
      const command = `${shell} -lc 'ls'`;
      expect(shellCommand(command)).toBe(command);
    },
  );

  it('says in which folder it runs, if that is not the one of the conversation', () => {
    expect(askedBy(base, requestOf(COMMAND, { cwd: base.cwd }), [])?.input).not.toHaveProperty('cwd');
    expect(askedBy(base, requestOf(COMMAND, { cwd: '/home/user' }), [])?.input).toMatchObject({ cwd: '/home/user' });
  });

  it.each([
    [{ kind: 'allow', always: false } as const, { decision: 'accept' }, undefined],
    [
      { kind: 'allow', always: true } as const,
      {
        decision: {
          acceptWithExecpolicyAmendment: { execpolicy_amendment: ['curl', '-s', 'http://127.0.0.1:1/'] },
        },
      },
      undefined,
    ],
    [{ kind: 'deny', reason: '' } as const, { decision: 'decline' }, undefined],
    [{ kind: 'deny', reason: 'use wget' } as const, { decision: 'decline' }, 'use wget'],
  ])('is answered: %o', (decision, result, say) => {
    const answer = serverAnswer(requestOf(COMMAND), decision);
    expect(answer?.result).toEqual(result);
    expect(answer?.say).toBe(say);
  });

  it.each([
    [['git', 'log'], 'commands that start with: git log'],
    [['sh', '-c', 'ls && rm'], 'commands that start with: sh -c "ls && rm"'],
    [[], 'every command'],
  ])('says exactly what "always" would allow: %j', (prefix, words) => {
    const availableDecisions = [{ acceptWithExecpolicyAmendment: { execpolicy_amendment: prefix } }];
    expect(askedBy(base, requestOf(COMMAND, { availableDecisions }), [])?.always).toEqual([words]);
  });

  it('is allowed once if "always" is not offered any more', () => {
    const request = requestOf(COMMAND, { availableDecisions: ['accept', 'cancel'] });
    expect(askedBy(base, request, [])).not.toHaveProperty('always');
    expect(serverAnswer(request, { kind: 'allow', always: true })?.result).toEqual({ decision: 'accept' });
  });
});

describe('a tool of an MCP server that the server asks about', () => {
  const TOOL = 'mcpServer/elicitation/request';
  const given = {
    command: `git log ${'x'.repeat(80)} && rm -rf build`,
    depth: 2,
    path: 'a',
    quiet: true,
    zw: 'a\u200bb',
  };
  const meta = {
    codex_approval_kind: 'mcp_tool_call',
    persist: ['session', 'always'],
    tool_name: 'run',
    tool_params: given,
  };
  const params = {
    threadId: 't',
    turnId: 'u',
    serverName: 'files',
    mode: 'form',
    _meta: meta,
    message: 'Allow the files MCP server to run tool "run"?',
    requestedSchema: { type: 'object', properties: {} },
  };
  const request = parseRequest(TOOL, 1, params) as ServerRequest;

  it('is shown with all its arguments, which the dialog cuts', () => {
    const always = ['this tool, in this session'];
    expect(askedBy(base, request, [])).toMatchObject({ kind: 'permission', tool: 'files.run', always });
    expect(askedBy(base, request, [])?.input).toEqual(given);
  });

  it.each([
    [{ kind: 'allow', always: false } as const, { action: 'accept', content: {} }],
    [{ kind: 'allow', always: true } as const, { action: 'accept', content: {}, _meta: { persist: 'session' } }],
    [{ kind: 'deny', reason: '' } as const, { action: 'decline' }],
  ])('is answered: %o', (decision, result) => {
    expect(serverAnswer(request, decision)?.result).toEqual(result);
  });

  it('is allowed once if more is not offered', () => {
    const once = parseRequest(TOOL, 1, { ...params, _meta: { ...meta, persist: null } }) as ServerRequest;
    expect(askedBy(base, once, [])).not.toHaveProperty('always');
    expect(serverAnswer(once, { kind: 'allow', always: true })?.result).toEqual({ action: 'accept', content: {} });
  });

  it('is no form of the MCP server itself, which stays in the terminal', () => {
    const requestedSchema = { type: 'object', properties: { name: { type: 'string' } } };
    expect(parseRequest(TOOL, 1, { ...params, requestedSchema })).toBeUndefined();
    expect(parseRequest(TOOL, 1, { ...params, _meta: null })).toBeUndefined();
  });
});

describe('a change of files that the server asks about', () => {
  const request = parseRequest(CHANGE, 8, { threadId: 't', turnId: 'u', itemId: 'i', reason: null }) as ServerRequest;
  const add = { path: '/new.txt', kind: { type: 'add' }, diff: 'hello\n' };
  const update = { path: '/old.txt', kind: { type: 'update', move_path: '/moved.txt' }, diff: '@@ -1 +1 @@\n-a\n+b\n' };
  const changes = (...all: object[]) => changesOf({ type: 'fileChange', id: 'i', changes: all });

  it('shows what else would be allowed with it', () => {
    const root = parseRequest(CHANGE, 8, { threadId: 't', turnId: 'u', itemId: 'i', grantRoot: '/' }) as ServerRequest;
    expect(askedBy(base, root, changes(add))?.input).toMatchObject({ grantRoot: '/', file_path: '/new.txt' });
    expect(askedBy(base, root, changes(update))?.input).toMatchObject({ grantRoot: '/' });
  });

  it('shows a new file', () => {
    expect(askedBy(base, request, changes(add))).toMatchObject({
      tool: 'Write',
      input: { file_path: '/new.txt', content: 'hello\n' },
    });
  });

  it('shows every change of several', () => {
    const diff = askedBy(base, request, changes(add, update))?.input.diff;
    expect(diff).toBe('add /new.txt\n+hello\n+\nupdate /old.txt\nmove it to /moved.txt\n@@ -1 +1 @@\n-a\n+b\n');
  });

  it('cannot look like a part of another change', () => {
    const example = { ...add, diff: 'An example:\nupdate /etc/hosts\n@@ -1 +1 @@' };
    const removed = { path: '/old\nadd /x', kind: { type: 'delete' }, diff: 'update /y' };
    const shown = String(askedBy(base, request, changes(example, removed, update))?.input.diff);
    const heads = shown.split('\n').filter((line) => /^\w/.test(line));
    expect(heads).toEqual(['add /new.txt', 'delete /old⟨U+000A⟩add /x', 'update /old.txt', 'move it to /moved.txt']);
  });

  it('is left to the terminal if it cannot be shown whole', () => {
    expect(askedBy(base, request, [])).toBeUndefined();
    expect(askedBy(base, request, changes(add, { path: '/x' }))).toBeUndefined();
  });

  it('can be allowed for the session', () => {
    expect(serverAnswer(request, { kind: 'allow', always: true })?.result).toEqual({ decision: 'acceptForSession' });
  });
});

describe('a question of the server', () => {
  it('is shown with its options', () => {
    expect(askedBy(base, requestOf(QUESTION), [])).toMatchObject({
      kind: 'question',
      questions: [{ question: 'Which database should we use?', multiSelect: false, options: { length: 3 } }],
    });
  });

  it('is answered by the id of each question', () => {
    const answer = serverAnswer(requestOf(QUESTION), { kind: 'answers', answers: ['my, own words'] });
    expect(answer?.result).toEqual({ answers: { database: { answers: ['my, own words'] } } });
  });

  it('for a secret is left to the terminal', () => {
    const questions = [{ id: 'key', header: 'Key', question: 'Your key?', isSecret: true, options: null }];
    expect(askedBy(base, requestOf(QUESTION, { questions }), [])).toBeUndefined();
  });

  it('is never answered by a permission', () => {
    expect(serverAnswer(requestOf(QUESTION), { kind: 'allow', always: false })).toBeUndefined();
    expect(serverAnswer(requestOf(COMMAND), { kind: 'answers', answers: ['yes'] })).toBeUndefined();
  });
});

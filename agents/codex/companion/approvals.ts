// The requests of a Codex app server that a person answers: what the card shows, and what the server gets. Pure.

import { ownValue } from '../../../core/own-value.ts';
import type { PromptDecision } from '../../../core/prompt.ts';
import { exactLine } from '../../../core/untrusted-text.ts';
import type { AskedEvent } from '../../event.ts';
import type { ServerRequest } from './server-messages.ts';
import { type EventBase, type PatchedFile, shellCommand } from './thread-events.ts';

/**
 * Undefined if it cannot be answered from here: a file change that cannot be shown whole, or a question for a secret. Then the
 * dialog in the terminal has to be answered. `changes`: of the item that the request is about.
 */
export function askedBy(
  base: EventBase,
  request: ServerRequest,
  changes: readonly PatchedFile[],
): AskedEvent | undefined {
  const { turnId, itemId } = request.params;
  const ask = `${turnId}/${itemId}/${request.id}`;
  const at = { ...base, event: 'asked' as const, turn: turnId, ask, questions: [] };
  switch (request.method) {
    case 'item/commandExecution/requestApproval':
      return { ...at, kind: 'permission', tool: 'Bash', ...commandInput(base, request.params) };
    case 'item/fileChange/requestApproval': {
      if (changes.length === 0) return undefined;
      const { reason, ...params } = request.params;
      const more = { ...(reason ? { description: reason } : {}), ...unusual(base, params) };
      return { ...at, kind: 'permission', ...changeInput(changes, more), always: ['changes of these files'] };
    }
    case 'mcpServer/elicitation/request': {
      const { serverName, _meta } = request.params;
      const always = _meta.persist.includes('session') ? { always: ['this tool, in this session'] } : {};
      const tool = `${serverName}.${_meta.tool_name}`;
      return { ...at, kind: 'permission', tool, input: _meta.tool_params ?? {}, ...always };
    }
    case 'item/tool/requestUserInput': {
      const { questions } = request.params;
      if (questions.some(({ isSecret }) => isSecret)) return undefined;
      const asked = questions.map(({ header, question, options }) => ({
        header,
        question,
        multiSelect: false,
        options: options ?? [],
      }));
      return { ...at, kind: 'question', tool: 'AskUserQuestion', input: {}, questions: asked };
    }
  }
}

type CommandParams = (ServerRequest & { method: 'item/commandExecution/requestApproval' })['params'];

/** Fields that are shown in another place, or that say nothing to a person. */
const NOT_SHOWN: ReadonlySet<string> = new Set([
  ...['threadId', 'turnId', 'itemId', 'approvalId', 'startedAtMs', 'command', 'reason', 'commandActions'],
  ...['availableDecisions', 'proposedExecpolicyAmendment', 'proposedNetworkPolicyAmendments'],
]);
const USUAL = { kind: 'command', environmentId: 'local' };

/** Another folder, a wider permission, or a field of a newer version: it belongs to what is allowed. */
function unusual({ cwd }: EventBase, params: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const usual = { ...USUAL, cwd };
  const isUsual = (name: string, value: unknown) =>
    value === undefined || value === null || value === usual[name as keyof typeof usual];
  return Object.fromEntries(
    Object.entries(params).filter(([name, value]) => !NOT_SHOWN.has(name) && !isUsual(name, value)),
  );
}

function commandInput(base: EventBase, params: CommandParams): Pick<AskedEvent, 'input' | 'always'> {
  const input = {
    ...unusual(base, params),
    command: shellCommand(params.command),
    ...(params.reason ? { description: params.reason } : {}),
  };
  const always = alwaysOf(params.availableDecisions ?? []);
  return { input, ...(always === undefined ? {} : { always: [always.words] }) };
}

/** The decision of the dialog's "don't ask again", and what it would allow. */
function alwaysOf(decisions: readonly unknown[]): { readonly decision: unknown; readonly words: string } | undefined {
  for (const decision of decisions) {
    const prefix = (decision as Amendment | undefined)?.acceptWithExecpolicyAmendment?.execpolicy_amendment;
    if (Array.isArray(prefix)) return { decision, words: startingWith(prefix) };
    if (decision === 'acceptForSession') return { decision, words: 'this command, in this session' };
  }
  return undefined;
}

/** Exact: a rule of one word with a space is another rule than one of two words, and an empty one fits every command. */
function startingWith(prefix: readonly unknown[]): string {
  const words = prefix.map((word) => (/^[\w@%+=:,./-]+$/.test(String(word)) ? word : JSON.stringify(word)));
  return words.length === 0 ? 'every command' : `commands that start with: ${words.join(' ')}`;
}

interface Amendment {
  readonly acceptWithExecpolicyAmendment?: { readonly execpolicy_amendment?: readonly string[] };
}

function changeInput(
  changes: readonly PatchedFile[],
  more: Readonly<Record<string, unknown>>,
): Pick<AskedEvent, 'tool' | 'input'> {
  const [first, ...others] = changes;
  if (first?.kind === 'add' && others.length === 0)
    return { tool: 'Write', input: { ...more, file_path: first.path, content: first.diff } };
  const diff = changes.map((change) => `${headOf(change)}\n${linesOf(change)}`).join('\n');
  return { tool: 'Edit', input: { ...more, diff } };
}

function headOf({ path, kind, movedTo }: PatchedFile): string {
  return `${kind} ${exactLine(path)}${movedTo === undefined ? '' : `\nmove it to ${exactLine(movedTo)}`}`;
}

const SIGNS: Readonly<Record<string, string>> = { add: '+', delete: '-' };

/** A file that is added or deleted comes without signs: its lines could look like the head of another change, or hide one. */
function linesOf({ kind, diff }: PatchedFile): string {
  return kind === 'update' ? diff : diff.replace(/^/gm, ownValue(SIGNS, kind) ?? '|');
}

/** What the server gets. `say`: a text for the agent afterwards, because a refusal has no room for a reason. */
export function serverAnswer(
  request: ServerRequest,
  decision: PromptDecision,
): { readonly result: unknown; readonly say?: string } | undefined {
  if (request.method === 'item/tool/requestUserInput') {
    if (decision.kind !== 'answers') return undefined;
    const answers = request.params.questions.map(({ id }, at) => [id, { answers: [decision.answers[at] ?? ''] }]);
    return { result: { answers: Object.fromEntries(answers) } };
  }
  const isTool = request.method === 'mcpServer/elicitation/request';
  if (decision.kind === 'deny') {
    const result = isTool ? { action: 'decline' } : { decision: 'decline' };
    return { result, ...(decision.reason === '' ? {} : { say: decision.reason }) };
  }
  if (decision.kind !== 'allow') return undefined;
  if (isTool) {
    const isForSession = decision.always && request.params._meta.persist.includes('session');
    return { result: { action: 'accept', content: {}, ...(isForSession ? { _meta: { persist: 'session' } } : {}) } };
  }
  if (!decision.always) return { result: { decision: 'accept' } };
  if (request.method === 'item/fileChange/requestApproval') return { result: { decision: 'acceptForSession' } };
  const always = alwaysOf(request.params.availableDecisions ?? []);
  return { result: { decision: always?.decision ?? 'accept' } };
}

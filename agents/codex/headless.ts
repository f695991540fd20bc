// Codex without a terminal: `codex exec --json`. It never asks: what its sandbox does not allow is denied.

import * as z from 'zod';
import { parsedForeignJson } from '../../core/json.ts';
import { ownValue } from '../../core/own-value.ts';
import { splitCommand } from '../driver.ts';
import type { HeadlessEvent, HeadlessReader, HeadlessRunner } from '../headless.ts';
import { headlessLabel } from '../tool-label.ts';
import { shellCommand } from './companion/thread-events.ts';

export const headlessCodex: HeadlessRunner = {
  asks: false,
  argv({ command, skipPermissions, session }) {
    const { program, options } = splitCommand(command);
    return [
      // The configuration of threadmux says in which directories it may work, and not every one is a repository.
      ...[...program, 'exec', ...options, '--json', '--skip-git-repo-check'],
      ...(skipPermissions ? ['--dangerously-bypass-approvals-and-sandbox'] : []),
      ...(session === undefined ? [] : ['resume', session]),
      '-',
    ];
  },
  input: (text) => text,
  keepsInput: false,
  reader: openReader,
  isLost: (failure) => /no rollout found for thread id/.test(failure),
};

const text = z.string().catch('');
const lineSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('thread.started'), thread_id: z.string().max(8_192) }),
  z.object({ type: z.enum(['item.started', 'item.completed']), item: z.looseObject({ type: z.string() }) }),
  z.object({ type: z.literal('turn.completed') }),
  z.object({ type: z.literal('turn.failed'), error: z.object({ message: text }).catch({ message: '' }) }),
]);
type Line = z.output<typeof lineSchema>;
type Item = Extract<Line, { readonly item: unknown }>['item'];

function openReader(): HeadlessReader {
  let last = '';

  function eventsOf(line: Line): readonly HeadlessEvent[] {
    switch (line.type) {
      case 'thread.started':
        return [{ kind: 'init', sessionId: line.thread_id }];
      case 'item.started':
        return toolOf(line.item);
      case 'item.completed': {
        if (line.item.type !== 'agent_message') return failureOf(line.item);
        last = text.parse(line.item.text);
        return [{ kind: 'text', text: last }];
      }
      case 'turn.completed':
        return [{ kind: 'result', isError: false, text: last }];
      case 'turn.failed':
        return [{ kind: 'result', isError: true, text: line.error.message }];
    }
  }

  return {
    line(printed) {
      const read = printed.startsWith('{') ? lineSchema.safeParse(parsedForeignJson(printed)) : undefined;
      return read?.success ? eventsOf(read.data) : [];
    },
  };
}

function toolOf(item: Item): readonly HeadlessEvent[] {
  const label = (name: string, input: unknown): readonly HeadlessEvent[] => [
    { kind: 'tool', label: headlessLabel(name, input) },
  ];
  switch (item.type) {
    case 'command_execution':
      return label('Bash', { command: shellCommand(item.command) });
    case 'file_change':
      return label('Edit', { file_path: paths.parse(item.changes).join(', ') });
    case 'mcp_tool_call':
      return label(`${text.parse(item.server)}.${text.parse(item.tool)}`, {});
    case 'web_search':
      return label('WebSearch', { query: text.parse(item.query) });
    default:
      return [];
  }
}

const paths = z
  .array(z.object({ path: z.string() }).transform(({ path }) => path))
  .max(1_000)
  .catch([]);

function failureOf(item: Item): readonly HeadlessEvent[] {
  const because = ownValue(WHY_FAILED, text.parse(item.status));
  if (item.type === 'error') return [{ kind: 'tool failed', text: text.parse(item.message) }];
  if (because === undefined) return [];
  const code = typeof item.exit_code === 'number' ? `exit code ${item.exit_code}` : because;
  const output = text.parse(item.aggregated_output).trim();
  const said = output.slice(output.lastIndexOf('\n') + 1);
  return [{ kind: 'tool failed', text: said === '' ? code : `${code}: ${said}` }];
}

const WHY_FAILED: Readonly<Record<string, string | undefined>> = { failed: 'it failed', declined: 'it was denied' };

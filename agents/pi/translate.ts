// Translates the events of a pi extension into those of agents/event.ts. Pure: it runs inside pi.

import { type Fields, fieldsOf, listField, textField } from '../loose-fields.ts';

interface PiPlace {
  readonly session: string;
  readonly cwd: string;
}

export type PiStep =
  | { readonly do: 'drop'; readonly event: Fields }
  /** pi may try again by itself: reported only if it does not. */
  | { readonly do: 'unless it goes on'; readonly event: Fields }
  | { readonly do: 'goes on' };

export function openPiTranslator() {
  /** The last text of the turn, not reported yet. */
  let held: { readonly id: string; readonly text: string } | undefined;

  return {
    read(event: Fields, place: PiPlace): readonly PiStep[] {
      const drop = (name: string, more: Fields = {}): PiStep => ({
        do: 'drop',
        event: { event: name, ...place, ...more },
      });
      const flush = (): readonly PiStep[] => {
        const said = held === undefined ? [] : [drop('said', held)];
        held = undefined;
        return said;
      };
      switch (event.type) {
        case 'session_start':
          held = undefined;
          return [drop('started', { source: textField(event.reason) })];
        case 'input':
          return [...flush(), drop('submitted', { prompt: textField(event.text) })];
        case 'agent_start':
          return [{ do: 'goes on' }];
        case 'message_end': {
          const message = fieldsOf(event.message);
          const said = textOf(message);
          if (message.role !== 'assistant' || said === '') return [];
          const before = flush();
          held = { id: `${place.session}.${String(message.timestamp)}`, text: said };
          return before;
        }
        case 'tool_execution_start':
          return [...flush(), drop('tool', inOurWords(textField(event.toolName), fieldsOf(event.args)))];
        case 'agent_end': {
          const last = listField(event.messages)
            .map(fieldsOf)
            .findLast(({ role }) => role === 'assistant');
          if (last?.stopReason === 'error') {
            const details = textField(last.errorMessage);
            const failed = {
              event: 'failed',
              ...place,
              error: 'the model failed',
              ...(details === '' ? {} : { details }),
            };
            return [...flush(), { do: 'unless it goes on', event: failed }];
          }
          const final = held;
          held = undefined;
          return [drop('idle', { ...final, interrupted: last?.stopReason === 'aborted' })];
        }
        case 'session_shutdown':
          return event.reason === 'quit' ? [...flush(), drop('ended', { reason: 'exit' })] : flush();
        default:
          return [];
      }
    },
  };
}

function textOf({ content }: Fields): string {
  return listField(content)
    .map(fieldsOf)
    .filter(({ type }) => type === 'text')
    .map((part) => textField(part.text))
    .join('\n')
    .trim();
}

/** The names of pi's tools, and ours. */
const TOOLS: Readonly<Record<string, string>> = {
  bash: 'Bash',
  read: 'Read',
  write: 'Write',
  edit: 'Edit',
  grep: 'Grep',
  find: 'Glob',
  ls: 'LS',
};

function inOurWords(tool: string, { path, ...input }: Fields): Fields {
  const name = Object.hasOwn(TOOLS, tool) ? TOOLS[tool] : tool;
  return { name, input: path === undefined ? input : { ...input, file_path: path } };
}

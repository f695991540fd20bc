// OpenCode without a terminal: `opencode run --format json`. It never asks: what would need a permission is denied, and its turn
// ends. It prints no result, so the end of the process is the end of the turn.

import * as z from 'zod';
import { parsedForeignJson } from '../../core/json.ts';
import { splitCommand } from '../driver.ts';
import type { HeadlessEvent, HeadlessReader, HeadlessRunner } from '../headless.ts';
import { type Fields, fieldsOf, textField } from '../loose-fields.ts';
import { headlessLabel } from '../tool-label.ts';
import { failureInOurWords, inOurWords } from './words.ts';

export const headlessOpencode: HeadlessRunner = {
  asks: false,
  argv({ command, skipPermissions, session }) {
    const { program, options } = splitCommand(command);
    return [
      ...[...program, 'run', ...options, '--format', 'json'],
      ...(skipPermissions ? ['--auto'] : []),
      ...(session === undefined ? [] : ['--session', session]),
    ];
  },
  input: (text) => text,
  keepsInput: false,
  reader: openReader,
  isLost: (failure) => /Session not found/.test(failure),
};

const part = z.looseObject({ type: z.string() });
const lineSchema = z.object({
  type: z.enum(['step_start', 'text', 'tool_use', 'step_finish', 'error']),
  sessionID: z.string().max(8_192),
  part: part.catch({ type: '' }),
  error: z.unknown().optional(),
});
type Line = z.output<typeof lineSchema>;

function openReader(): HeadlessReader {
  let isKnown = false;
  let said = '';
  let failure: string | undefined;
  let [turns, costUsd] = [0, 0];

  function eventsOf({ type, part, error }: Line): readonly HeadlessEvent[] {
    switch (type) {
      case 'text':
        said = textField(part.text);
        return [{ kind: 'text', text: said }];
      case 'tool_use':
        return toolOf(textField(part.tool), fieldsOf(part.state));
      case 'step_finish':
        turns += 1;
        costUsd += typeof part.cost === 'number' ? part.cost : 0;
        return [];
      case 'error':
        failure = failureText(fieldsOf(error));
        return [];
      case 'step_start':
        return [];
    }
  }

  return {
    line(printed) {
      const read = printed.startsWith('{') ? lineSchema.safeParse(parsedForeignJson(printed)) : undefined;
      if (read?.success !== true) return [];
      const events = eventsOf(read.data);
      if (isKnown) return events;
      isKnown = true;
      return [{ kind: 'init', sessionId: read.data.sessionID }, ...events];
    },
    end(status) {
      if (failure !== undefined) return [{ kind: 'result', isError: true, text: failure, turns, costUsd }];
      return status === 0 && turns > 0 ? [{ kind: 'result', isError: false, text: said, turns, costUsd }] : [];
    },
  };
}

function failureText(failure: Fields): string {
  const { error, details } = failureInOurWords(failure);
  return [error, details].map(textField).filter(Boolean).join(': ');
}

function toolOf(tool: string, state: Fields): readonly HeadlessEvent[] {
  const used = inOurWords(tool, fieldsOf(state.input));
  const label = headlessLabel(used.tool, used.input);
  if (state.status !== 'error') return [{ kind: 'tool', label }];
  const why = textField(state.error);
  const denied = /^The user rejected permission/.test(why);
  return [
    { kind: 'tool', label },
    { kind: 'tool failed', text: denied ? DENIED : why },
  ];
}

const DENIED = 'It needs a permission, and without a terminal OpenCode cannot ask for one.';

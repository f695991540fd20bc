// The plugin that OpenCode loads. It reports through `drop` and `ask`, and gives OpenCode the answers of people; its dialog in the
// terminal stays live meanwhile. It never throws: that would end the user's turn.

import { fileURLToPath } from 'node:url';
import { type Fields, textField } from '../loose-fields.ts';
import { openReporter } from '../reporter.ts';
import { type OpencodeStep, openTranslator } from './translate.ts';

interface PluginInput {
  readonly directory: string;
  readonly client: { readonly _client: { post(request: Fields): Promise<unknown> } };
}

/** The plugin may be given twice for the same home, by `install` and by the bridge. */
const LOADED = Symbol.for('threadmux.opencode');

// OpenCode takes every export of this file for a plugin.
export const ThreadmuxPlugin = async ({ client, directory }: PluginInput, options: Fields = {}) => {
  const global = globalThis as { [LOADED]?: Set<string> };
  global[LOADED] ??= new Set();
  const loaded = global[LOADED];
  const home = textField(options.home);
  const key = `${home}\0${directory}`;
  if (loaded.has(key)) return {};
  loaded.add(key);

  const translator = openTranslator(directory, textField(options.session));
  const reporter = openReporter('opencode', fileURLToPath(new URL('..', import.meta.url)), home);

  const take = (steps: readonly OpencodeStep[]) => {
    for (const step of steps) {
      if (step.do === 'drop') reporter.drop(step.event);
      else if (step.do === 'close') reporter.close(step.ask, step.event);
      else reporter.ask(step.ask, step.event, (printed) => void answer(step, printed).catch(() => {}));
    }
  };

  /** If it was answered in the terminal at the same moment, OpenCode refuses this. */
  async function answer({ kind, ask: id }: OpencodeStep & { do: 'ask' }, printed: string): Promise<void> {
    if (printed.trim() === '') return;
    const { verb, body } = JSON.parse(printed) as { verb: 'reply' | 'reject'; body: Fields };
    const url = kind === 'permission' ? '/permission/{id}/reply' : `/question/{id}/${verb}`;
    await client._client.post({ url, path: { id }, body, headers: { 'Content-Type': 'application/json' } });
  }

  take(translator.started());
  return {
    event: quietly(({ event }: { event: { type: string; properties: Fields } }) =>
      take(translator.event(event.type, event.properties)),
    ),
    'chat.message': quietly((input: { sessionID: string }, output: { parts: readonly Fields[] }) =>
      take(translator.prompt(input.sessionID, output.parts)),
    ),
    'command.execute.before': quietly((input: { sessionID: string; command: string; arguments: string }) =>
      translator.command(input.sessionID, input.command, input.arguments),
    ),
    /** An agent that OpenCode's shell starts in the same pane has no thread of its own. */
    'shell.env': quietly((_: unknown, output: { env: Record<string, string> }) => {
      output.env.THREADMUX_NESTED = '1';
    }),
    async dispose() {
      loaded.delete(key);
      take(translator.ended());
      await reporter.finish();
    },
  };
};

function quietly<T extends readonly never[]>(act: (...args: T) => void): (...args: T) => Promise<void> {
  return async (...args) => {
    try {
      act(...args);
    } catch {
      // A report is lost; the turn of the user goes on.
    }
  };
}

// The extension that pi loads. It reports through `drop`. pi has no permission dialog and no question tool, so nothing is asked.

import { fileURLToPath } from 'node:url';
import { openReporter } from '../reporter.ts';
import { openPiTranslator, type PiStep } from './translate.ts';

interface PiContext {
  readonly hasUI: boolean;
  readonly cwd: string;
  readonly sessionManager: { getSessionId(): string };
}

interface Pi {
  on(event: string, handler: (event: Readonly<Record<string, unknown>>, context: PiContext) => unknown): void;
}

const EVENTS = [
  ...['session_start', 'input', 'agent_start', 'message_end', 'tool_execution_start'],
  ...['agent_end', 'session_shutdown'],
];
/** pi waits 2, 4 and 8 seconds before it tries again. */
const GOES_ON_WITHIN_MS = 20_000;
/** The extension may be given twice for the same home, by `install` and by the bridge. */
const LOADED = Symbol.for('threadmux.pi');

/** `home`: threadmux's home, if `install` knows it. */
function reportToThreadmux(pi: Pi, home = process.env.THREADMUX_HOME ?? ''): void {
  const global = globalThis as { [LOADED]?: Set<string> };
  global[LOADED] ??= new Set();
  const loaded = global[LOADED];
  if (loaded.has(home)) return;
  loaded.add(home);
  const translator = openPiTranslator();
  const reporter = openReporter('pi', fileURLToPath(new URL('..', import.meta.url)), home);
  let waiting: NodeJS.Timeout | undefined;

  const take = (step: PiStep) => {
    clearTimeout(waiting);
    if (step.do === 'drop') reporter.drop(step.event);
    if (step.do !== 'unless it goes on') return;
    waiting = setTimeout(() => reporter.drop(step.event), GOES_ON_WITHIN_MS);
    waiting.unref();
  };

  for (const name of EVENTS)
    pi.on(name, async (event, { hasUI, cwd, sessionManager }) => {
      try {
        if (!hasUI) return; // a run without a terminal, such as one that another agent started
        for (const step of translator.read(event, { session: sessionManager.getSessionId(), cwd })) take(step);
        if (name !== 'session_shutdown') return;
        loaded.delete(home); // pi loads its extensions again for another conversation
        await reporter.finish();
      } catch {
        // A report is lost; the turn of the user goes on.
      }
    });
}

// biome-ignore lint/style/noDefaultExport: pi takes the default export
export { reportToThreadmux as default };

// threadmux auto: whether sessions that are made and closed by hand get and lose their threads by themselves.

import { loadAutoThreads, saveAutoThreads } from '../../home/installed.ts';
import { openContext } from '../command-context.ts';
import { printJson, printNote, printText } from '../print.ts';

export function auto(to: string | undefined, flags: { readonly json?: boolean }): void {
  const { home } = openContext('cli');
  if (to !== undefined) saveAutoThreads(home, to === 'on');
  const on = loadAutoThreads(home);
  if (flags.json) return printJson({ on });
  printText(on ? 'on' : 'off');
  printNote(
    on
      ? 'Every tmux session of this machine gets a thread, and loses it when it closes.'
      : 'Only sessions that report by themselves, or that threadmux starts, get a thread.',
  );
}

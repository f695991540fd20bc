// threadmux auto: whether sessions that are made and closed by hand get and lose their threads by themselves.

import { loadAuto, saveAuto } from '../home/auto.ts';
import { openContext } from './context.ts';
import { printJson, printText, tell } from './print.ts';

export function auto(to: string | undefined, flags: { readonly json?: boolean }): void {
  const { home } = openContext('cli');
  if (to !== undefined) saveAuto(home, to === 'on');
  const on = loadAuto(home);
  if (flags.json) return printJson({ on });
  printText(on ? 'on' : 'off');
  tell(
    on
      ? 'Every tmux session of this machine gets a thread, and loses it when it closes.'
      : 'Only sessions that report by themselves, or that threadmux starts, get a thread.',
  );
}

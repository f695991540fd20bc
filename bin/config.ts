// threadmux config: the configuration in force, with tokens masked, and where each value came from.

import { shownConfig } from '../core/config.ts';
import { openContext } from './context.ts';
import { printJson } from './print.ts';

export function config(): void {
  printJson(shownConfig(openContext('cli').config));
}

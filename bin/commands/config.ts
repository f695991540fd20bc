// threadmux config: the configuration in force, with tokens masked, and where each value came from.

import { maskedConfig } from '../../core/config.ts';
import { openContext } from '../command-context.ts';
import { printJson } from '../print.ts';

export function config(): void {
  printJson(maskedConfig(openContext('cli').config));
}

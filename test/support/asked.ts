// What Claude Code's permission hook asks, as threadmux reads it.

import { claude } from '../../agents/claude/driver.ts';
import type { AskedEvent } from '../../agents/event.ts';
import { permissionText } from '../../threads/prompts/prompt-text.ts';
import { fixture } from './hook-process.ts';

/** `more` replaces fields of a recorded request to run a command. */
export function askedBy(more: object = {}, recorded = 'PermissionRequest.Bash'): AskedEvent {
  const event = claude.readEvent({ ...fixture(recorded), ...more });
  if (event?.event !== 'asked') throw new Error('not a request');
  return event;
}

/** The text of a request with this input. */
export function textOfRequest(tool: string, input: object, cwd: string, suggestions: readonly object[]) {
  const asked = askedBy({ permission_suggestions: suggestions });
  return permissionText({ ...asked, tool, input: { ...input }, cwd }, 'Claude');
}

// Decides what happens with a text that begins with "/": a command of the agent is passed, prose is typed as text, and a
// person is asked about everything else. Pure.

import type { CommandRisk, SlashCommand, SlashCommands } from '../agents/slash-command.ts';
import { cleanInbound } from '../core/untrusted-text.ts';

export type SlashDecision =
  | { readonly kind: 'text' }
  | { readonly kind: 'command' }
  /** Nothing is typed before a person has tapped. */
  | { readonly kind: 'ask'; readonly name: string; readonly why: AskReason };

export type AskReason = 'unknown' | 'restricted' | CommandRisk;

/** `own` is read only if the agent itself has no such command. `only`: "slashCommands" of the configuration. */
export async function decideSlash(
  text: string,
  commands: SlashCommands | undefined,
  own: () => Promise<readonly SlashCommand[]>,
  only: readonly string[] | undefined,
): Promise<SlashDecision> {
  const name = commandName(text);
  if (name === undefined || commands === undefined) return { kind: 'text' };
  const command = findCommand(name, commands.builtin) ?? findCommand(name, await own());
  if (isRestricted(text, only)) return { kind: 'ask', name, why: 'restricted' };
  if (command === undefined && only === undefined) return { kind: 'ask', name, why: 'unknown' };
  return command?.risk === undefined ? { kind: 'command' } : { kind: 'ask', name, why: command.risk };
}

/** For callers who cannot ask: one of the agent's own commands that needs no confirmation. */
export function isPlainCommand(
  text: string,
  commands: SlashCommands | undefined,
  only: readonly string[] | undefined,
): boolean {
  const name = commandName(text);
  if (commands === undefined || name === undefined || isRestricted(text, only)) return false;
  const command = findCommand(name, commands.builtin);
  return command === undefined ? only !== undefined : command.risk === undefined;
}

/** A command that the configuration does not allow. */
export function isRestricted(text: string, only: readonly string[] | undefined): boolean {
  const name = commandName(text);
  return name !== undefined && only !== undefined && !only.includes(`/${name}`);
}

/** Undefined if it is prose, such as "/usr/bin is full". */
function commandName(text: string): string | undefined {
  return /^\/([\p{L}\p{N}][\p{L}\p{N}_.:-]*)(?=\s|$)/u.exec(cleanInbound(text).trim())?.[1];
}

function findCommand(name: string, commands: readonly SlashCommand[]): SlashCommand | undefined {
  return commands.find((one) => one.name === name || one.aliases?.includes(name));
}

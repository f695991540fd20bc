// The declared sessions of a server, from its configuration. Pure.

import { posix } from 'node:path';
import type { Config, ServerConfig } from '../../core/config.ts';
import { ThreadmuxError } from '../../core/errors.ts';
import { type DeclaredSession, type Project, projectsOf } from '../../core/project.ts';
import { labelOf } from '../../core/session-name.ts';
import { untrustedCode } from '../../core/untrusted-text.ts';

export interface DeclaredPlace extends Pick<DeclaredSession, 'name' | 'start' | 'prompt'> {
  readonly host: string;
  readonly directory: string;
  readonly project: Project;
  /** "shop", or "shop@mini" on another host than the default one. Unique. */
  readonly label: string;
}

export function declaredOf(
  config: Parameters<typeof projectsOf>[0] & Pick<Config, 'defaultHost'>,
  servers: readonly ServerConfig[],
  server: string,
): readonly DeclaredPlace[] {
  const projects = projectsOf(config, servers).filter((project) => project.server === server);
  return projects.flatMap((project) =>
    project.sessions.map(({ name, start, prompt, directory }) => {
      const host = project.host ?? config.defaultHost;
      return {
        name,
        start,
        prompt,
        host,
        project,
        directory: declaredDirectory(project.path || '~', directory),
        label: labelOf({ name, host }, config),
      };
    }),
  );
}

/** A relative directory is inside its project. */
export function declaredDirectory(project: string, own: string | undefined): string {
  if (own === undefined) return project;
  return /^[~/]/.test(own) ? own : posix.join(project, own);
}

/** By its label, or by its name if there is only one in this channel, or only one at all. */
export function findDeclared(
  text: string,
  all: readonly DeclaredPlace[],
  channel: string | undefined,
): DeclaredPlace | undefined {
  const exact = all.find(({ label }) => label === text);
  if (exact !== undefined) return exact;
  const named = all.filter(({ name, host }) => name === text || `${name}@${host}` === text);
  const here = named.filter(({ project }) => project.channel === channel);
  return here.length === 1 ? here[0] : named.length === 1 ? named[0] : undefined;
}

export function requireDeclared(
  text: string,
  all: readonly DeclaredPlace[],
  channel: string | undefined,
): DeclaredPlace {
  const found = findDeclared(text, all, channel);
  if (found !== undefined) return found;
  const labels = all.map(({ label }) => untrustedCode(label)).join(', ');
  throw new ThreadmuxError('session_not_found', `${untrustedCode(text)} is not a declared session.`, {
    hint:
      all.length === 0
        ? 'Add it to "sessions" in the configuration, or start a session with `!new <name>`.'
        : `The declared sessions are: ${labels.slice(0, 1_000)}. \`!new <name>\` starts any other.`,
  });
}

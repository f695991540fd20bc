// The project of a session: the one with the longest path that contains its directory, otherwise the first server that
// accepts sessions without a project. It says which server and channel the session's thread belongs to, and whether the session
// talks in the channel itself.

import type { Config, ServerConfig } from '../core/config.ts';
import type { Project } from '../core/project.ts';
import { threadTitle } from '../core/thread-title.ts';

/** Where the thread of a session belongs. */
export interface Destination {
  readonly server: ServerConfig;
  readonly channel: string;
  readonly project: Project;
}

export interface SessionPlace {
  readonly host: string;
  readonly directory: string;
}

export function projectOfPlace(
  { host, directory }: SessionPlace,
  projects: readonly Project[],
  resolvePath: (path: string, host: string) => string = (path) => path,
): Project | undefined {
  const here = withSlash(directory);
  const matches = projects.flatMap((project) => {
    if (project.path === '' || (project.host !== undefined && project.host !== host)) return [];
    const path = withSlash(resolvePath(project.path, host));
    return here.startsWith(path) ? [{ project, length: path.length }] : [];
  });
  return matches.toSorted((a, b) => b.length - a.length)[0]?.project ?? projects.find(({ path }) => path === '');
}

function withSlash(path: string): string {
  return path.endsWith('/') ? path : `${path}/`;
}

// Which session a channel talks to (`talk` of a project). Pure.

export interface Talk {
  readonly project: Project;
  readonly session: string;
  readonly host: string;
  /** The title that a thread of this session would have. */
  readonly title: string;
}

export function talkOf(
  channel: string,
  projects: readonly Project[],
  { defaultHost }: Pick<Config, 'defaultHost'>,
): Talk | undefined {
  const project = projects.find((one) => one.channel === channel && one.talk !== undefined);
  if (project?.talk === undefined) return undefined;
  const { talk: session, host = defaultHost } = project;
  return { project, session, host, title: threadTitle(host === defaultHost ? { session } : { session, host }) };
}

/** Whether this session of the project talks in the channel itself. */
export function talksInChannel(
  {
    host,
    group,
    sessionName,
  }: { readonly host: string; readonly group?: string | undefined; readonly sessionName: string },
  project: Pick<Project, 'talk' | 'host'>,
  { defaultHost }: Pick<Config, 'defaultHost'>,
): boolean {
  return project.talk === (group ?? sessionName) && host === (project.host ?? defaultHost);
}

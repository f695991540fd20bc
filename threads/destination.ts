// The project of a session: the one with the longest path that contains its directory, otherwise the first server that
// accepts sessions without a project. The project says which server and channel the session's thread belongs to.

import type { ServerConfig } from '../core/config.ts';
import type { Project } from '../core/project.ts';

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

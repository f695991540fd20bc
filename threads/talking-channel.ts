// Which session a channel talks to (`talk` of a project). Pure.

import type { Config } from '../core/config.ts';
import type { Project } from '../core/project.ts';
import { threadTitle } from '../core/thread-title.ts';

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

// The servers and projects of the configuration.

import type { ServerConfig } from '../../core/config.ts';
import { type Project, projectsOf } from '../../core/project.ts';
import { localServer } from '../../home/config-file.ts';
import { projectOfPlace } from '../../threads/destination.ts';
import type { SessionFinder } from '../find-session.ts';

/** Without any, the local workspace. */
export function configuredServers({ config }: Pick<SessionFinder, 'config'>): readonly ServerConfig[] {
  const local = () => localServer({ api: '', token: '', channel: '', user: '' }, config.projects);
  return config.servers.length > 0 ? config.servers : [local()];
}

/** The project of a directory, if the configuration has one. */
export function configuredProject(
  { config, remote }: SessionFinder,
  host: string,
  directory: string,
): Project | undefined {
  const servers = configuredServers({ config });
  const absolute = (path: string) => path.replace(/^~(?=\/|$)/, (tilde) => remote.userHome(host) ?? tilde);
  return projectOfPlace({ host, directory: absolute(directory) }, projectsOf(config, servers), absolute);
}

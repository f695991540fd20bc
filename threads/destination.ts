// The server and channel of a session: the project with the longest path that contains its directory, otherwise the
// first server that accepts sessions without a project.

import type { ServerConfig } from '../core/config.ts';

export interface Destination {
  readonly server: ServerConfig;
  readonly channel: string;
}

export function destinationOf(
  cwd: string,
  servers: readonly ServerConfig[],
  resolvePath: (path: string) => string = (path) => path,
): Destination | undefined {
  const here = withSlash(cwd);
  const matches = servers.flatMap((server) =>
    server.projects.map(({ path, channel }) => ({
      server,
      channel,
      path: withSlash(resolvePath(path)),
    })),
  );
  const best = matches.filter(({ path }) => here.startsWith(path)).sort((a, b) => b.path.length - a.path.length)[0];
  if (best !== undefined) return { server: best.server, channel: best.channel };
  const open = servers.find((server) => !server.onlyProjects);
  return open === undefined ? undefined : { server: open, channel: open.channel };
}

function withSlash(path: string): string {
  return path.endsWith('/') ? path : `${path}/`;
}

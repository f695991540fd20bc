// Where a server is. Beside web addresses there is `unix:<path of a socket>:<path of the URL>`, for the local workspace: only
// our own user can listen at a socket in the home, while anybody can take a port.

export interface Address {
  readonly origin: string;
  readonly path: string;
  /** Where connections go instead of to the origin's host. */
  readonly socketPath?: string;
}

export function addressOf(url: string): Address {
  const [, socketPath, path = '/'] = /^unix:(\/.+):(\/[^:]*)$/.exec(url) ?? [];
  if (socketPath !== undefined) return { origin: 'http://localhost', path, socketPath };
  const { origin, pathname, search } = new URL(url);
  return { origin, path: pathname + search };
}

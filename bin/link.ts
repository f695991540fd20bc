// threadmux link: the link of the local workspace, for whoever does not see what `up` printed. It holds a secret, so it
// is shown only when it is asked for.

import { ThreadmuxError } from '../core/errors.ts';
import { loadIdentity } from '../workspace/identity.ts';
import { openContext } from './context.ts';
import { printJson, printText, tell } from './print.ts';
import { bridgePid } from './waiting-messages.ts';

export function link(flags: { readonly json?: boolean }): void {
  const { home, config, servers } = openContext('cli');
  const [local] = servers;
  if (config.servers.length > 0 || local === undefined)
    throw new ThreadmuxError('not_found', 'there is no local workspace here', {
      hint:
        config.servers.length > 0
          ? `Your threads are on ${config.servers.map(({ name }) => name).join(', ')}.`
          : 'Start it with `threadmux up`.',
    });
  const { linkSecret } = loadIdentity(home.folder('workspace'));
  const address = `${new URL(local.api).origin}/enter/${linkSecret}`;
  if (flags.json) return printJson({ link: address });
  printText(address);
  if (bridgePid(home) === undefined)
    tell('threadmux is not up: it works once `threadmux up` runs.');
}

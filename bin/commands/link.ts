// threadmux link: a link that signs a browser in to the local workspace, once. The running workspace makes it.

import * as z from 'zod';
import { isThreadmuxError, ThreadmuxError } from '../../core/errors.ts';
import { connectRest } from '../../discord/rest.ts';
import { openContext } from '../command-context.ts';
import { printJson, printText } from '../print.ts';

const TIMEOUT_MS = 5_000;

export async function link(flags: { readonly json?: boolean }): Promise<void> {
  const { config, servers } = openContext('cli');
  const [local] = servers;
  if (config.servers.length > 0 || local === undefined)
    throw new ThreadmuxError('not_found', 'there is no local workspace here', {
      hint:
        config.servers.length > 0
          ? `Your threads are on ${config.servers.map(({ name }) => name).join(', ')}.`
          : 'Start it with `threadmux up`.',
    });
  const address = await newLink(local.api, local.token);
  if (flags.json) printJson({ link: address });
  else printText(address);
}

async function newLink(api: string, token: string): Promise<string> {
  const rest = connectRest({ api, token, timeoutMs: TIMEOUT_MS, patienceMs: 0 });
  try {
    const made = await rest.call('POST', '/workspace/links');
    return z.object({ link: z.string() }).parse(made).link;
  } catch (error) {
    if (!isThreadmuxError(error, 'discord_unreachable')) throw error;
    throw new ThreadmuxError('not_found', 'threadmux is not up, and only it can make a link', {
      cause: error,
      hint: 'Start it with `threadmux up`.',
    });
  } finally {
    await rest.close();
  }
}

// threadmux status, config and link. status connects only to the hosts; everything else is read from our own files.

import { statSync } from 'node:fs';
import * as z from 'zod';
import { findSessions } from '../../bridge/commands/sessions.ts';
import { maskedConfig } from '../../core/config.ts';
import { configHelp } from '../../core/config-schema.ts';
import { errorData, isThreadmuxError, ThreadmuxError } from '../../core/errors.ts';
import { connectRest } from '../../discord/rest.ts';
import { readText } from '../../home/atomic-write.ts';
import type { Home } from '../../home/home.ts';
import { loadAutoThreads } from '../../home/installed.ts';
import { openOutbox } from '../../hooks/outbox.ts';
import { loadPromptRecords } from '../../threads/prompts/prompt-record.ts';
import { openContext } from '../command-context.ts';
import { openSessionFinder, type SessionFinder } from '../find-session.ts';
import { noteUnusable } from '../link-note.ts';
import { printable, printJson, printText, withProgress } from '../print.ts';
import { bridgePid } from '../running.ts';
import { entryOf } from './logs.ts';

export async function showStatus(flags: { readonly json?: boolean }): Promise<void> {
  const data = await gather();
  if (flags.json) printJson(data);
  else printText(lines(data).join('\n'));
}

async function gather() {
  const { home, config, servers } = openContext('cli');
  const finder = openSessionFinder();
  const pid = bridgePid(home);
  const since = statSync(home.path('state', 'bridge.lock'), { throwIfNoEntry: false })?.mtimeMs;
  const outbox = openOutbox(home.folder('outbox'));
  return {
    running: pid !== undefined,
    pid: pid ?? null,
    home: home.root,
    servers: servers.map(({ name, api, channel }) => ({ name, api, channel })),
    gateway: pid === undefined ? null : gatewayState(home, since ?? 0),
    outbox: { waiting: outbox.boxes().flatMap((box) => outbox.letters(box)).length, aside: outbox.aside().length },
    openPrompts: loadPromptRecords(home).filter(({ shown }) => !shown).length,
    auto: loadAutoThreads(home),
    defaultHost: config.defaultHost,
    hosts: await withProgress(
      `connecting to ${finder.hosts.names().join(', ')}`,
      Promise.all(finder.hosts.names().map((host) => askHost(host, finder))),
    ),
  };
}

interface HostStatus {
  readonly host: string;
  readonly answers: boolean;
  readonly sessions: number;
  readonly error: { readonly code: string; readonly message: string } | null;
}

async function askHost(host: string, finder: SessionFinder): Promise<HostStatus> {
  try {
    const found = await findSessions(host, finder);
    return { host, answers: true, sessions: found.length, error: null };
  } catch (error) {
    return { host, answers: false, sessions: 0, error: errorData(error).error };
  }
}

/** The last connection state that the running process logged; "live" means connected. */
function gatewayState(home: Home, since: number): string {
  const said = (readText(home.path('log', 'threadmux.log')) ?? '')
    .split('\n')
    .map(entryOf)
    .filter(({ at }) => at !== undefined && Date.parse(at) >= since - 1_000)
    .flatMap(({ text }) => text?.match(/^gateway now=(\w+)/)?.[1] ?? []);
  return said.at(-1) ?? 'unknown';
}

function lines(data: Awaited<ReturnType<typeof gather>>): readonly string[] {
  const { outbox } = data;
  return [
    data.running
      ? `threadmux is running (process ${data.pid}); ${data.gateway === 'live' ? 'connected' : `connection: ${data.gateway}`}.`
      : 'threadmux is not running. Start it with: threadmux up',
    ...data.servers.map(({ name, api }) => `Server ${name}: ${api}`),
    `Outbox: ${outbox.waiting} waiting, ${outbox.aside} set aside. Open prompts: ${data.openPrompts}. Auto: ${data.auto ? 'on' : 'off'}.`,
    ...data.hosts.map(({ host, answers, sessions, error }) =>
      answers
        ? `Host ${host}: ${sessions} ${sessions === 1 ? 'session' : 'sessions'}`
        : `Host ${host} does not respond: ${printable(error?.message ?? '')}`,
    ),
  ];
}

/** `help`: the command whose help is wanted instead. */
export function config(help?: { outputHelp(): void }): void {
  if (help !== undefined) {
    help.outputHelp();
    return printText(`\n${configHelp()}`);
  }
  printJson(maskedConfig(openContext('cli').config));
}

const TIMEOUT_MS = 5_000;

export async function link(flags: { readonly json?: boolean }): Promise<void> {
  const { config, servers } = openContext('cli');
  const [local] = servers;
  if (config.servers.length > 0 || local === undefined)
    throw new ThreadmuxError('not_found', 'there is no local workspace', {
      hint:
        config.servers.length > 0
          ? `Your threads are on ${config.servers.map(({ name }) => name).join(', ')}.`
          : 'Start it with `threadmux up`.',
    });
  const address = await newLink(local.api, local.token);
  if (flags.json) printJson({ link: address });
  else printText(address);
  noteUnusable(address);
}

/** Only the running workspace can create a link. */
async function newLink(api: string, token: string): Promise<string> {
  const rest = connectRest({ api, token, timeoutMs: TIMEOUT_MS, patienceMs: 0 });
  try {
    const made = await rest.call('POST', '/workspace/links');
    return z.object({ link: z.string() }).parse(made).link;
  } catch (error) {
    if (!isThreadmuxError(error, 'discord_unreachable')) throw error;
    throw new ThreadmuxError('not_found', 'cannot create a link because threadmux is not running', {
      cause: error,
      hint: 'Start it with `threadmux up`.',
    });
  } finally {
    await rest.close();
  }
}

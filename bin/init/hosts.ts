// The ssh hosts step of init: checks each machine before it is added, and reports what is missing there.

import { type Config, type ConfigEnvironment, parseConfig } from '../../core/config.ts';
import { isThreadmuxError, ThreadmuxError } from '../../core/errors.ts';
import { isHostName, isSshName } from '../../core/session-name.ts';
import { probeHost } from '../../hosts/probe.ts';
import { sshHost } from '../../hosts/ssh.ts';
import { hookPlaceOf } from '../../tmux/tmux-hooks.ts';
import { type Finding, fault, findingLines, fine } from '../doctor/finding.ts';
import { temporaryControlDir } from '../doctor/host.ts';
import { judgeClock, judgeMachine } from '../doctor/machine.ts';
import type { CleanUp, Questions } from '../questions.ts';

export interface NewHost {
  readonly name: string;
  readonly ssh: string;
}

interface HostOptions {
  readonly ask: Questions;
  readonly undo: CleanUp;
  readonly env: ConfigEnvironment;
  /** From --host. */
  readonly given: readonly NewHost[];
  /** Whether to ask for more at the terminal. */
  readonly wantsMore: boolean;
  /** The name of this machine; another host cannot have the same name. */
  readonly here: string;
}

export async function chooseHosts(options: HostOptions): Promise<readonly NewHost[]> {
  const { ask, given, here } = options;
  const chosen: NewHost[] = [];
  for (const host of given) if (await isAccepted(host, options)) chosen.push(host);
  while (options.wantsMore) {
    const answer = await ask.line(
      'Add a machine over ssh (its name in ~/.ssh/config, or user@host), or press Enter to continue:',
      '--host',
    );
    if (answer === '') break;
    const host = attempt(() => readHost(answer, here), ask);
    if (host !== undefined && (await isAccepted(host, options))) chosen.push(host);
  }
  return chosen;
}

/** The name of this machine in the current configuration. */
export function nameOfThis(raw: Readonly<Record<string, unknown>>, env: ConfigEnvironment, hostname: string): string {
  const named = typeof raw.host === 'string' && isHostName(raw.host) ? raw.host : undefined;
  const config: Pick<Config, 'host'> = parseConfig({ env: { THREADMUX_HOST: env.THREADMUX_HOST }, hostname });
  return env.THREADMUX_HOST ? config.host : (named ?? config.host);
}

/** "name=ssh", or only the ssh name. */
export function readHost(text: string, here: string): NewHost {
  const at = text.indexOf('=');
  const ssh = at === -1 ? text : text.slice(at + 1);
  const name = at === -1 ? (text.split('@').at(-1) ?? '') : text.slice(0, at);
  const hint = 'Use the form name=ssh, for example --host mini=me@mini.local';
  if (!isSshName(ssh)) throw new ThreadmuxError('bad_usage', `--host: "${ssh}" is not a valid ssh name`, { hint });
  if (!isHostName(name)) throw new ThreadmuxError('bad_usage', `--host: "${name}" is not a valid host name`, { hint });
  if (name === here)
    throw new ThreadmuxError('bad_usage', `--host: ${name} is the name of this machine`, {
      hint: `Choose another name: --host other=${ssh}`,
    });
  return { name, ssh };
}

function attempt<T>(act: () => T, ask: Questions): T | undefined {
  try {
    return act();
  } catch (error) {
    if (!isThreadmuxError(error)) throw error;
    ask.say(error.message.replace(/^--host: /, ''));
    return undefined;
  }
}

async function isAccepted(host: NewHost, options: HostOptions): Promise<boolean> {
  const findings = await inspect(host, options);
  for (const line of findings.flatMap(findingLines)) options.ask.say(line);
  return findings.every(({ level }) => level !== 'fail') || options.ask.yes(`Add ${host.name} anyway?`, false);
}

async function inspect({ name, ssh }: NewHost, { env, undo, here }: HostOptions): Promise<readonly Finding[]> {
  const control = temporaryControlDir();
  const host = sshHost({ name, ssh, controlDir: control.path, env });
  undo.later(async () => {
    await host.close().finally(control.remove);
  });
  try {
    const hookOption = hookPlaceOf(here).option;
    const probe = await probeHost(host, { agents: ['claude'], name: here, hookOption });
    return [
      fine('host', `${name} is reachable.`),
      ...judgeMachine(probe, name),
      judgeClock(probe.clockAheadMs, `The clock of ${name}`),
    ];
  } catch (error) {
    if (!isThreadmuxError(error)) throw error;
    return [fault('host', `${error.message}.`, error.hint ?? 'Connect with `ssh` to see the problem.')];
  }
}

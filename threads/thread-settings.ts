// The settings that are in force in a thread, and where each comes from. Pure.

import { type Project, settingsOf } from '../core/project.ts';
import { effectiveSettings, type SessionSettings } from '../core/session-settings.ts';
import type { ThreadRecord } from './registry.ts';
import type { Threads } from './session-threads.ts';

type Places = Pick<Threads, 'destinationOf'>;

const destination = ({ host, project, cwd }: ThreadRecord, { destinationOf }: Places) =>
  destinationOf({ host, directory: project || cwd });

/** The project of a thread's session. */
export function settledProject(record: ThreadRecord, threads: Places): Project | undefined {
  return destination(record, threads)?.project;
}

export function settingsInForce(record: ThreadRecord, threads: Places): SessionSettings {
  const project = settledProject(record, threads);
  const { sessionName, settings, agent } = record;
  return project === undefined ? (settings ?? {}) : settingsOf(project, sessionName, settings, agent);
}

export type SettingOrigin = 'thread' | 'declared' | 'project' | 'global';

/** Which of the four layers gives each setting that is in force. */
export function settingOrigins(
  record: ThreadRecord,
  threads: Places,
): Readonly<Partial<Record<keyof SessionSettings, SettingOrigin>>> {
  const to = destination(record, threads);
  const { path, channel, defaults } = to?.project ?? { path: '', channel: '', defaults: {} };
  const declared = to?.project.sessions.find(({ name }) => name === record.sessionName);
  const own = to?.server.projects.find((one) => one.path === path && one.channel === channel)?.defaults;
  const layers: readonly (readonly [SettingOrigin, SessionSettings | undefined])[] = [
    ['thread', record.settings],
    ['declared', declared],
    ['project', own],
    ['global', defaults],
  ];
  const keys = Object.keys(effectiveSettings(...layers.map(([, settings]) => settings))) as (keyof SessionSettings)[];
  return Object.fromEntries(
    keys.map((key) => [key, layers.find(([, settings]) => settings?.[key] !== undefined)?.[0] ?? 'global']),
  );
}

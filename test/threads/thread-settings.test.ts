// Which settings are in force in a thread, and where each comes from.

import { expect, it } from 'vitest';
import { projectsOf } from '../../core/project.ts';
import type { SessionSettings } from '../../core/session-settings.ts';
import { localServer } from '../../home/config-file.ts';
import { projectOfPlace } from '../../threads/destination.ts';
import { threadRecordSchema } from '../../threads/registry.ts';
import { settingOrigins, settingsInForce } from '../../threads/thread-settings.ts';
import { configOf } from '../bridge/bridge-setup.ts';

const config = configOf({ tmux: { socket: '/none' } } as never, {
  progress: 'verbose',
  defaults: { model: 'haiku', permissionMode: 'plan' },
  projects: [{ path: '/shop', defaults: { model: 'opus' }, sessions: [{ name: 'api', progress: 'quiet' }] }],
});
const server = localServer({ api: '', token: '', channel: '1', user: '2' }, config.projects);
const destinationOf = (place: { readonly host: string; readonly directory: string }) => {
  const project = projectOfPlace(place, projectsOf(config, [server]));
  return project && { server, channel: project.channel, project };
};

function record(sessionName: string, cwd: string, settings?: SessionSettings) {
  return threadRecordSchema.parse({
    thread: '1',
    host: 'laptop',
    socket: '',
    serverPid: 1,
    paneId: '%1',
    panePid: 2,
    sessionId: '$1',
    sessionName,
    command: 'claude',
    cwd,
    claudeSession: '',
    transcript: '',
    state: 'idle',
    at: 0,
    settings,
  });
}

it.each([
  [
    'the thread wins over the declared session, its project and the configuration',
    record('api', '/shop/src', { model: 'sonnet' }),
    { model: 'sonnet', progress: 'quiet', permissionMode: 'plan' },
    { model: 'thread', progress: 'declared', permissionMode: 'global' },
  ],
  [
    'the project wins over the configuration',
    record('web', '/shop'),
    { model: 'opus', progress: 'verbose', permissionMode: 'plan' },
    { model: 'project', progress: 'global', permissionMode: 'global' },
  ],
  [
    'a session without a project has those of the configuration',
    record('web', '/elsewhere'),
    { model: 'haiku', progress: 'verbose', permissionMode: 'plan' },
    { model: 'global', progress: 'global', permissionMode: 'global' },
  ],
])('%s', (_, one, settings, origins) => {
  expect(settingsInForce(one, { destinationOf })).toEqual(settings);
  expect(settingOrigins(one, { destinationOf })).toEqual(origins);
});

import { describe, expect, it } from 'vitest';
import { claude } from '../../agents/claude/driver.ts';
import { parseConfig } from '../../core/config.ts';
import { type Project, projectName, projectsOf, settingsOf } from '../../core/project.ts';
import { effectiveSettings } from '../../core/session-settings.ts';

const ID = '123456789012345678';
const server = { token: 't', channel: ID, allow: [ID] };

function parsed(file: object) {
  return parseConfig({ file: { path: 'config.json', text: JSON.stringify(file) }, env: {}, hostname: 'here' });
}

const withProjects = (...projects: object[]) => ({
  hosts: { mini: { ssh: 'mini' } },
  servers: [{ ...server, projects: projects.map((one) => ({ channel: ID, ...one })) }],
});

describe('a project', () => {
  it('takes what it does not say from the top level, except its sessions and the one that its channel talks to', () => {
    const config = parsed({
      ...withProjects({ path: '~/shop', defaults: { model: 'opus' }, panel: false }),
      defaults: { model: 'sonnet', permissionMode: 'plan' },
      onLimit: 'hold',
      panel: true,
      talk: 'main',
      worktreeSetup: 'npm ci',
      sessions: [{ name: 'main' }],
      progress: 'quiet',
    });
    const [shop, none] = projectsOf(config, config.servers);
    expect(shop).toMatchObject({
      server: 'discord',
      path: '~/shop',
      name: 'shop',
      onLimit: 'hold',
      panel: false,
      talk: undefined,
      sessions: [],
      worktreeSetup: 'npm ci',
      onArchive: 'leave',
      threadsStart: false,
      defaults: { model: 'opus', permissionMode: 'plan', progress: 'quiet' },
    });
    expect(none).toMatchObject({
      path: '',
      name: '',
      talk: 'main',
      panel: true,
      sessions: [{ name: 'main', start: 'auto' }],
    });
  });

  it('of the local workspace needs no channel', () => {
    const { projects } = parsed({ projects: [{ path: '~/shop', sessions: [{ name: 'shop', start: 'manual' }] }] });
    expect(projects).toMatchObject([{ path: '~/shop', sessions: [{ name: 'shop', start: 'manual' }] }]);
  });

  it.each([
    ['~/code/My Shop!', 'My-Shop-'],
    ['/srv/api/', 'api'],
    ['/', 'project'],
    ['~/.dotfiles', 'dotfiles'],
  ])('in %s is called %s', (path, name) => {
    expect(projectName(path)).toBe(name);
  });

  it.each([
    [{ path: '~/shop', host: 'nowhere' }, 'servers[0].projects[0].host "nowhere" is not one of the hosts (here, mini)'],
    [
      { path: '~/shop', defaults: { model: '--evil' } },
      'servers[0].projects[0].defaults.model must be the name of a model',
    ],
    [{ path: '~/shop', defaults: { mode: 'plan' } }, 'servers[0].projects[0].defaults.mode is not a key'],
    [{ path: '~/shop', sessions: [{ name: 'a b' }] }, 'servers[0].projects[0].sessions[0].name must be a session name'],
    [
      { path: '~/shop', sessions: [{ name: 'a' }, { name: 'a' }] },
      'servers[0].projects[0].sessions has two sessions with one name',
    ],
    [{ path: '~/shop', sessions: [{ name: 'a', start: 'always' }] }, 'sessions[0].start must be "auto" or "manual"'],
    [{ path: '~/shop', onLimit: 'wait' }, 'servers[0].projects[0].onLimit must be "tell", "hold" or "continue"'],
  ])('that is wrong is told with its place: %j', (project, message) => {
    expect(() => parsed(withProjects(project))).toThrow(message);
  });

  it('must not share its name or a declared session with another', () => {
    expect(() => parsed(withProjects({ path: '~/a/shop' }, { path: '~/b/shop' }))).toThrow(
      'servers[0].projects[1].name "shop" is also the name of servers[0].projects[0]: give one of them another "name"',
    );
    const sessions = [{ name: 'work' }];
    expect(() => parsed(withProjects({ path: '~/a', sessions }, { path: '~/b', sessions }))).toThrow(
      'servers[0].projects[1].sessions[0].name "work" is also declared in servers[0].projects[0].sessions[0]',
    );
    expect(() =>
      parsed(withProjects({ path: '~/a', sessions }, { path: '~/b', sessions, host: 'mini' })),
    ).not.toThrow();
  });

  it('shares neither its channel nor its session with another one that talks', () => {
    const other = '223456789012345678';
    const main = { talk: 'main' };
    expect(() => parsed(withProjects({ path: '~/a', ...main }, { path: '~/b', talk: 'other' }))).toThrow(
      'servers[0].projects[1].talk is for the same channel as servers[0].projects[0].talk',
    );
    expect(() => parsed({ ...withProjects({ path: '~/a', ...main }), talk: 'other' })).toThrow(
      'talk is for the same channel as servers[0].projects[0].talk',
    );
    expect(() => parsed({ projects: [{ path: '~/a', ...main }], talk: 'other' })).toThrow(
      'talk is for the same channel as projects[0].talk',
    );
    const elsewhere = { path: '~/b', channel: other, ...main };
    expect(() => parsed(withProjects({ path: '~/a', ...main }, elsewhere))).toThrow(
      'servers[0].projects[1].talk "main" is also the session of servers[0].projects[0].talk',
    );
    for (const fine of [
      withProjects({ path: '~/a', ...main }, { ...elsewhere, host: 'mini' }, { path: '~/c' }),
      { projects: [{ path: '~/a' }, { path: '~/b' }], ...main },
    ])
      expect(() => parsed(fine)).not.toThrow();
  });

  it('on the top level beside Discord servers is refused', () => {
    expect(() => parsed({ ...withProjects(), projects: [{ path: '~/shop' }] })).toThrow(
      'projects is for the local workspace',
    );
  });
});

describe('the settings of a session', () => {
  it('come from its thread, then its declaration, then its project', () => {
    const config = parsed(
      withProjects({
        path: '~/shop',
        defaults: { model: 'haiku', permissionMode: 'plan', progress: 'verbose' },
        sessions: [{ name: 'shop', model: 'sonnet', args: ['--verbose'] }],
      }),
    );
    const [project] = projectsOf(config, config.servers);
    if (project === undefined) throw new Error('no project');
    const settings = settingsOf(project, 'shop', { permissionMode: 'acceptEdits' });
    expect(settings).toEqual({
      model: 'sonnet',
      permissionMode: 'acceptEdits',
      progress: 'verbose',
      args: ['--verbose'],
    });
    const place = { scripts: '', home: '', directory: '/' };
    const { argv } = claude.launch({ ...place, command: ['claude'], settings });
    expect(argv).toEqual(['claude', '--model', 'sonnet', '--permission-mode', 'acceptEdits', '--verbose']);
    expect(settingsOf(project, 'other')).toMatchObject({ model: 'haiku' });
  });

  it('are those of the agent that is started, not of another one', () => {
    const config = parsed({
      defaults: { model: 'opus', permissionMode: 'plan', progress: 'quiet', worktree: true },
      projects: [
        { path: '~/a', agent: 'codex', sessions: [{ name: 'one', agent: 'claude', model: 'haiku' }] },
        { path: '~/b', agent: 'codex', defaults: { model: 'gpt-6' } },
      ],
    });
    const server = { name: 'local', projects: config.projects.map((one) => ({ ...one, channel: '1' })) };
    const [a, b, none] = projectsOf(config, [{ ...server, onlyProjects: false } as never]) as [
      Project,
      Project,
      Project,
    ];
    const general = { progress: 'quiet', worktree: true };
    expect(settingsOf(a, 'any')).toEqual({ ...general, agent: 'codex' });
    expect(settingsOf(a, 'one')).toEqual({ ...general, agent: 'claude', model: 'haiku' });
    expect(settingsOf(b, 'any')).toEqual({ ...general, agent: 'codex', model: 'gpt-6' });
    expect(settingsOf(b, 'any', { agent: 'claude' })).toEqual({ ...general, agent: 'claude' });
    expect(settingsOf(none, 'any')).toEqual({ ...general, model: 'opus', permissionMode: 'plan' });
    expect(settingsOf(none, 'any', { agent: 'codex' })).toEqual({ ...general, agent: 'codex' });
    expect(settingsOf(none, 'any', {}, 'codex')).toEqual(general);
  });

  it('may be turned off by a more specific layer', () => {
    expect(effectiveSettings({ worktree: false }, { worktree: true })).toEqual({ worktree: false });
  });
});

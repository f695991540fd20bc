import { describe, expect, it } from 'vitest';
import { agentOfCommand, configuredAgent } from '../../agents/configured-agent.ts';
import { type ConfigEnvironment, maskedConfig, parseConfig } from '../../core/config.ts';
import { configHelp, configSchema } from '../../core/config-schema.ts';
import { ThreadmuxError } from '../../core/errors.ts';
import { declaredSchema, projectSchema } from '../../core/project.ts';

const ID = '123456789012345678';
const TOKEN = `${'M'.repeat(26)}.GabcdE.${'z'.repeat(38)}`;
const PATH = '/home/me/.threadmux/config.json';

function parse(file: unknown, env: ConfigEnvironment = {}) {
  const text = typeof file === 'string' ? file : JSON.stringify(file);
  return parseConfig({
    file: file === undefined ? undefined : { path: PATH, text },
    env,
    hostname: 'laptop.local',
    readToken: () => 'from-the-file\n',
  });
}
const server = { channel: ID, allow: [ID], token: 'secret-token' };

describe('the configuration', () => {
  it('is the local workspace on this machine when nothing is set', () => {
    const config = parse(undefined);
    expect(config).toMatchObject({
      host: 'laptop',
      defaultHost: 'laptop',
      hosts: { laptop: 'local' },
      servers: [],
      agent: 'claude',
      progress: 'normal',
      tellAgent: true,
    });
    expect(config.origins.servers).toBe('default: the local workspace');
  });

  it('can come from the environment alone', () => {
    const config = parse(undefined, {
      DISCORD_BOT_TOKEN: 'tok',
      DISCORD_CHANNEL_ID: ID,
      DISCORD_ALLOWED_USERS: `${ID}, 223456789012345678`,
      DISCORD_API_BASE: 'http://127.0.0.1:1/api/v10',
      SSH_HOSTS: 'mini, build',
      THREADMUX_HOST: 'desk',
    });
    expect(config.servers).toEqual([
      {
        name: 'discord',
        api: 'http://127.0.0.1:1/api/v10',
        token: 'tok',
        channel: ID,
        allow: [ID, '223456789012345678'],
        projects: [],
        onlyProjects: false,
      },
    ]);
    expect(config.hosts).toEqual({ desk: 'local', mini: { ssh: 'mini' }, build: { ssh: 'build' } });
    expect(config.origins.host).toBe('environment THREADMUX_HOST');
  });

  it('takes the token from the file, a token file or the environment, in that order', () => {
    expect(parse({ servers: [server] }).servers[0]?.token).toBe('secret-token');
    const { token: _, ...bare } = server;
    const env = { DISCORD_BOT_TOKEN: 'from-env' };
    expect(parse({ servers: [{ ...bare, tokenFile: '/t' }] }, env).servers[0]?.token).toBe('from-the-file');
    expect(parse({ servers: [bare] }, env).servers[0]?.token).toBe('from-env');
  });

  it('knows where each value came from', () => {
    const { origins } = parse({ progress: 'quiet' });
    expect(origins).toMatchObject({ progress: PATH, allowShell: 'default', host: 'default' });
  });

  it('is shown without its tokens', () => {
    const shown = JSON.stringify(maskedConfig(parse({ servers: [server] })));
    expect(shown).not.toContain('secret-token');
    expect(shown).toContain('[secret]');
  });

  it('is shown without a password in an address', () => {
    const shown = JSON.stringify(
      maskedConfig(parse({ servers: [{ ...server, api: 'https://me:hunter2@a.example/api' }] })),
    );
    expect(shown).toContain('"https://me:[secret]@a.example/api"');
  });

  it.each([
    ['as a token file', { servers: [{ ...server, token: undefined, tokenFile: TOKEN }] }],
    ['as a key', { servers: [{ ...server, [TOKEN]: 1 }] }],
  ])('names no token in a mistake: %s', (_, file) => {
    const missing = (path: string) => {
      throw new ThreadmuxError('config_invalid', `there is no file ${path}`, { hint: `Make ${path}.` });
    };
    const text = JSON.stringify(file);
    const read = () => parseConfig({ file: { path: PATH, text }, env: {}, hostname: 'laptop', readToken: missing });
    expect(read).toThrow(/\[secret\]/);
    expect(read).not.toThrow(expect.objectContaining({ message: expect.stringContaining(TOKEN) }));
  });

  it('has a type and a description for every key', () => {
    const lines = configHelp()
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('Keys of'));
    expect(lines.map((line) => line.trim().split(/\s+/)[0])).toEqual(
      [configSchema, projectSchema, declaredSchema].flatMap(({ shape }) => Object.keys(shape)),
    );
    for (const line of lines) expect(line).toMatch(/^ {2}\w+ +(?:text|list|object|true\/false|number) {2,}\S.{10,}$/);
  });

  it.each<[string, unknown, ConfigEnvironment, RegExp]>([
    ['an unknown key', { serverz: [] }, {}, /config\.json: serverz is not a key that threadmux knows/],
    ['an unknown key deeper down', { servers: [{ ...server, alow: [] }] }, {}, /servers\[0\]\.alow is not a key/],
    ['nobody allowed', { servers: [{ ...server, allow: [] }] }, {}, /servers\[0\]\.allow names nobody/],
    ['no list of who may speak', { servers: [{ channel: ID, token: 't' }] }, {}, /servers\[0\]\.allow is missing/],
    [
      'an id without quotes',
      { servers: [{ ...server, channel: 123 }] },
      {},
      /servers\[0\]\.channel must be a Discord id in quotes/,
    ],
    ['no channel', { servers: [{ allow: [ID], token: 't' }] }, {}, /servers\[0\]\.channel/],
    ['no token', { servers: [{ channel: ID, allow: [ID] }] }, {}, /servers\[0\]\.token is missing/],
    ['a token with a space', { servers: [{ ...server, token: 'a b' }] }, {}, /servers\[0\]\.token contains a space/],
    [
      'a command as text',
      { agents: { claude: { command: 'claude' } } },
      {},
      /agents\.claude\.command must be a list of words, such as \["claude"/,
    ],
    ['an agent that nobody knows', { agent: 'clod' }, {}, /agent must be one of "claude".*, and is "clod"/],
    ['an agent that is no name', { agent: 'Claude Code' }, {}, /: agent must be one of "claude"/],
    ['an agent that is a number', { agent: 7 }, {}, /: agent must be one of "claude"/],
    [
      'an unknown agent of a project',
      { projects: [{ path: '~/x', agent: 'clod' }] },
      {},
      /projects\[0\]\.agent must be/,
    ],
    ['settings of an unknown agent', { agents: { clod: {} } }, {}, /agents/],
    ['a command in place of an agent', { agent: { command: ['claude'] } }, {}, /: agent must be one of "claude"/],
    ['a list as text', { strip: 'x' }, {}, /strip must be a list in brackets/],
    ['a port that is none', { port: 65_536 }, {}, /port must be a whole number from 0 to 65535/],
    ['a number as text', { host: 5 }, {}, /host must be text in quotes/],
    ['a wrong progress', { progress: 'loud' }, {}, /progress must be "quiet", "normal" or "verbose"/],
    ['a bad pattern', { strip: ['('] }, {}, /strip\[0\] must be a regular expression/],
    ['an ssh name that is an option', { hosts: { mini: { ssh: '-oProxyCommand=x' } } }, {}, /hosts\.mini/],
    ['an ssh name with a port', { hosts: { mini: { ssh: 'mini:22' } } }, {}, /hosts\.mini/],
    [
      'a host in a form that no name has',
      { hosts: { 'my host': 'local', '': 'local' } },
      {},
      /: "my host" in hosts must be a host name: letters, .*\n.*: "" in hosts must be a host name: letters, /,
    ],
    ['a host name with a space', { host: 'my host' }, {}, /host must be a host name/],
    ['an unknown default host', { defaultHost: 'mars' }, {}, /defaultHost "mars" is not one of the hosts \(laptop\)/],
    ['two servers of one name', { servers: [server, server] }, {}, /has two entries named "discord"/],
    ['broken JSON', '{"host": ', {}, /the file is not JSON/],
    ['a list instead of an object', [], {}, /must hold one JSON object/],
    [
      'half of the short form',
      undefined,
      { DISCORD_BOT_TOKEN: 't' },
      /DISCORD_CHANNEL_ID is missing; DISCORD_ALLOWED_USERS names nobody/,
    ],
    ['an ssh host that is an option', undefined, { SSH_HOSTS: '-x' }, /SSH_HOSTS "-x" is not a host name/],
  ])('refuses %s, naming the key and the place', (_, file, env, sentence) => {
    expect(() => parse(file, env)).toThrow(sentence);
    expect(() => parse(file, env)).toThrow(expect.objectContaining({ hint: expect.any(String) }));
  });
});

describe('the agents', () => {
  const agents = (file: object) => {
    const { agent, agents } = parseConfig({
      env: {},
      hostname: 'here',
      file: { path: 'config.json', text: JSON.stringify(file) },
    });
    return { agent, agents };
  };

  it.each([
    ['nothing', {}, { agent: 'claude', agents: {} }],
    ['a name', { agent: 'codex' }, { agent: 'codex', agents: {} }],
    [
      'commands and variables',
      { agent: 'codex', agents: { codex: { command: ['/opt/codex'], environment: ['OPENAI_API_KEY'] } } },
      { agent: 'codex', agents: { codex: { command: ['/opt/codex'], environment: ['OPENAI_API_KEY'] } } },
    ],
  ])('are read from %s', (_, file, wanted) => {
    expect(agents(file)).toEqual(wanted);
  });

  it('have a command and variables, also if nothing is configured', () => {
    expect(configuredAgent({ agents: {} }, 'codex')).toMatchObject({ command: ['codex'] });
    expect(configuredAgent({ agents: {} }, 'codex').environment).toContain('OPENAI_*');
    expect(configuredAgent({ agents: {} }, 'codex').environment).not.toContain('ANTHROPIC_*');
    expect(agentOfCommand({ agents: {} }, ['codex', 'resume'], 'claude')?.driver.name).toBe('codex');
    expect(agentOfCommand({ agents: {} }, ['bash'], 'claude')).toBeUndefined();
    const same = { claude: { command: ['x'] }, codex: { command: ['x'] } };
    expect(agentOfCommand({ agents: same }, ['x'], 'codex')?.driver.name).toBe('codex');
  });
});

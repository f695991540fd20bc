// Writes a program that starts an agent of the lab: with its own HOME, whose settings point the agent at the scripted model.
// The user's settings are in files, so that a driver's flags and variables come on top, as in real life.

import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { agentProgram, type LabAgentName, laterFolder } from './packages.ts';

interface LabPlace {
  readonly dir: string;
  readonly home: string;
  /** The directory of the agent. */
  readonly project: string;
  /** Of the scripted model. */
  readonly port: number;
}

/** Returns the path of the program. */
export function writeLabCommand(name: LabAgentName, place: LabPlace): string {
  const { files, environment, links = {}, script = [] } = SETTINGS[name](place);
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(place.home, path)), { recursive: true });
    writeFileSync(join(place.home, path), typeof content === 'string' ? content : JSON.stringify(content));
  }
  for (const [path, target] of Object.entries(links)) symlinkSync(target, join(place.home, path));
  mkdirSync(place.project, { recursive: true });
  const command = join(place.dir, 'bin', name);
  const variables = Object.entries({ HOME: place.home, ...environment });
  const lines = [
    '#!/bin/sh',
    'unset XDG_CONFIG_HOME XDG_DATA_HOME XDG_STATE_HOME XDG_CACHE_HOME',
    ...variables.map(([key, value]) => `export ${key}='${value}'`),
    ...script,
    `exec '${agentProgram(name)}' "$@"`,
  ];
  mkdirSync(dirname(command), { recursive: true });
  writeFileSync(command, `${lines.join('\n')}\n`, { mode: 0o755 });
  return command;
}

interface LabSettings {
  /** Below HOME. */
  readonly files: Readonly<Record<string, unknown>>;
  readonly environment: Readonly<Record<string, string>>;
  /** Lines of sh, run in the directory of the agent. */
  readonly script?: readonly string[];
  /** Below HOME, and what they point to. */
  readonly links?: Readonly<Record<string, string>>;
}

const SETTINGS: Readonly<Record<LabAgentName, (place: LabPlace) => LabSettings>> = {
  codex: ({ home, project, port }) => ({
    files: {
      '.codex/config.toml': [
        'model_provider = "lab"',
        'check_for_update_on_startup = false',
        '[model_providers.lab]',
        'name = "lab"',
        `base_url = "http://127.0.0.1:${port}/v1"`,
        'env_key = "LAB_KEY"',
        'wire_api = "responses"',
        'request_max_retries = 1',
        'stream_max_retries = 1',
        `[projects."${project}"]`,
        'trust_level = "trusted"',
        '',
      ].join('\n'),
    },
    environment: { CODEX_HOME: join(home, '.codex'), LAB_KEY: 'fake' },
  }),
  gemini: ({ port }) => ({
    files: {
      '.gemini/settings.json': {
        security: { auth: { selectedType: 'gemini-api-key' } },
        general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
        privacy: { usageStatisticsEnabled: false },
      },
    },
    environment: {
      GOOGLE_GEMINI_BASE_URL: `http://127.0.0.1:${port}`,
      GEMINI_API_KEY: 'fake',
      NO_BROWSER: '1',
      COLORTERM: 'truecolor',
    },
    script: ['case $PWD in */untrusted) ;; *) export GEMINI_CLI_TRUST_WORKSPACE=true ;; esac'],
  }),
  opencode: ({ port }) => ({
    files: {
      '.config/opencode/opencode.json': {
        model: 'lab/scripted',
        small_model: 'lab/scripted',
        autoupdate: false,
        share: 'disabled',
        provider: {
          lab: {
            npm: '@ai-sdk/openai-compatible',
            name: 'Lab',
            options: { baseURL: `http://127.0.0.1:${port}/v1`, apiKey: 'fake' },
            models: {
              scripted: {
                name: 'Scripted',
                limit: { context: 200_000, output: 8_000 },
                attachment: true,
                modalities: { input: ['text', 'image'], output: ['text'] },
              },
            },
          },
        },
        permission: { bash: 'ask', edit: 'ask', webfetch: 'ask' },
      },
    },
    // What its first start would install, which takes many seconds.
    links: Object.fromEntries(
      ['package.json', 'package-lock.json', 'node_modules'].map((file) => [
        `.config/opencode/${file}`,
        join(laterFolder('opencode'), file),
      ]),
    ),
    environment: {
      OPENCODE_DISABLE_AUTOUPDATE: '1',
      OPENCODE_DISABLE_MODELS_FETCH: '1',
      OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
    },
  }),
  pi: ({ port }) => ({
    files: {
      '.pi/agent/settings.json': { defaultProvider: 'lab', defaultModel: 'scripted' },
      '.pi/agent/models.json': {
        providers: {
          lab: {
            baseUrl: `http://127.0.0.1:${port}/v1`,
            api: 'openai-completions',
            apiKey: 'fake',
            models: [
              {
                id: 'scripted',
                name: 'Scripted',
                reasoning: false,
                input: ['text'],
                cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
                contextWindow: 200_000,
                maxTokens: 8_000,
              },
            ],
          },
        },
      },
    },
    environment: { PI_OFFLINE: '1', PI_SKIP_VERSION_CHECK: '1' },
  }),
};

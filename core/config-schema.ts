// The schema of config.json. Unknown keys are errors: a misspelt "alow" must not silently remove a restriction.

import * as z from 'zod';
import { AGENT_NAMES } from './agent-names.ts';
import { declaredSchema, projectSchema, projectShape } from './project.ts';
import { isVariablePattern } from './session-environment.ts';
import { isHostName, isSshName } from './session-name.ts';
import { agentName, PROGRESS_LEVELS } from './session-settings.ts';
import { isDiscordId } from './snowflake.ts';
import { WEBHOOK_EVENTS } from './webhook.ts';

const snowflake = z
  .string('must be a Discord id in quotes, such as "1234567890123456789"')
  .refine(isDiscordId, 'must be a Discord id: 15 to 20 digits in quotes');

const hostName = z
  .string()
  .refine(isHostName, 'must be a host name: letters, digits, ".", "-" and "_", beginning with a letter or digit');

const sshName = z.string().refine(isSshName, 'must be a name that `ssh` understands, such as "mini" or "me@mini"');

const pattern = z.string().refine((text) => {
  try {
    return new RegExp(text, 'gmu') instanceof RegExp;
  } catch {
    return false;
  }
}, 'must be a regular expression');

const place = z.string().regex(/^(~|~\/.*|\/.*)$/s, 'must be an absolute path, or begin with "~/"');

const host = z.union(
  [
    z.literal('local'),
    z.strictObject({
      ssh: sshName,
      tmux: z.string().startsWith('/', 'must be an absolute path').optional(),
      socket: z.string().startsWith('/', 'must be an absolute path').optional(),
      /** Folders on that host in which terminals may be started. */
      roots: z.array(place, 'must be a list of folders, such as ["~/code"]').optional(),
    }),
  ],
  'must be "local" or {"ssh": "name"}',
);

const project = projectSchema.extend({ channel: snowflake, host: hostName.optional() });

const server = z.strictObject({
  name: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,32}$/, 'must be a short name: letters, digits, "-" and "_"')
    .default('discord'),
  api: z
    .url({ protocol: /^https?$/, error: 'must be a URL such as https://discord.com/api/v10' })
    .default('https://discord.com/api/v10'),
  token: z.string().min(1, 'is empty').optional(),
  tokenFile: z.string().min(1).optional(),
  channel: snowflake,
  allow: z
    .array(snowflake, 'is missing: list the Discord user ids that may write to your sessions')
    .min(1, 'names nobody: list the Discord user ids that may write to your sessions'),
  projects: z.array(project).default([]),
  onlyProjects: z.boolean().default(false),
});

const command = z
  .array(z.string().min(1), 'must be a list of words, such as ["claude", "--model", "opus"]')
  .min(1, 'names no program');

const oneOfAgents = `must be one of ${AGENT_NAMES.map((name) => `"${name}"`).join(', ')}`;

/** Each key has a description, for `threadmux config --help`. */
export const configSchema = z.strictObject({
  host: hostName.optional().describe("this machine's name in threads"),
  defaultHost: hostName.optional().describe('sessions on this host have no "@host" in their names'),
  hosts: z
    .record(hostName, host)
    .default({})
    .describe('machines with sessions: {"mini": {"ssh": "mini"}, "this": "local"}'),
  servers: z.array(server).default([]).describe('Discord servers; without any, the local workspace is used'),
  agents: z
    .partialRecord(
      z.enum(AGENT_NAMES, oneOfAgents),
      z.strictObject({
        command: command.optional(),
        /** The variables of threadmux's own environment that its sessions on this machine get. */
        environment: z
          .array(
            z
              .string()
              .refine(isVariablePattern, 'must be the name of a variable, such as "HTTP_PROXY" or "ANTHROPIC_*"'),
            'must be a list of names, such as ["PATH", "ANTHROPIC_*"]',
          )
          .optional(),
      }),
    )
    .default({})
    .describe('how agents start: {"codex": {"command": ["codex"], "environment": ["PATH", "OPENAI_API_KEY"]}}'),
  progress: z
    .enum(PROGRESS_LEVELS, 'must be "quiet", "normal" or "verbose"')
    .default('normal')
    .describe('how much you see while an agent works'),
  tellAgent: z
    .boolean('must be true or false')
    .default(true)
    .describe('tell Claude at the start of a session how to send a file'),
  allowShell: z.boolean('must be true or false').default(false).describe('allow !sh, and typing into a plain shell'),
  port: z
    .int('must be a whole number from 0 to 65535')
    .min(0, 'must be a whole number from 0 to 65535')
    .max(65_535, 'must be a whole number from 0 to 65535')
    .optional()
    .describe(
      'port of the local workspace (7420, or a free one); 0: another one at each start, for machines with users you do not trust',
    ),
  slashCommands: z
    .array(
      z.string().regex(/^\/[a-z][a-z0-9:_-]*$/, 'must be a command such as "/compact"'),
      'must be a list of commands, such as ["/compact"]',
    )
    .optional()
    .describe('the only slash commands that are passed to an agent; by default all that are known'),
  strip: z.array(pattern).default([]).describe('regular expressions; matching text is removed from replies'),
  roots: z
    .array(place, 'must be a list of folders, such as ["~/code"]')
    .default([])
    .describe('folders, besides projects, in which terminals and headless agents may start'),
  maxThreads: z
    .int('must be a whole number from 1 to 500')
    .min(1, 'must be a whole number from 1 to 500')
    .max(500, 'must be a whole number from 1 to 500')
    .default(5)
    .describe(
      'how many terminals and headless agents may run at the same time, and how many sessions agents may start',
    ),
  skipPermissions: z
    .array(place, 'must be a list of folders, such as ["~/code/shop"]')
    .default([])
    .describe('folders in which a headless agent may run without asking for permission'),
  notify: z
    .array(
      z.strictObject({
        url: z.url({ protocol: /^https?$/, error: 'must be a URL such as https://ntfy.sh/my-topic' }),
        on: z.array(z.enum(WEBHOOK_EVENTS, 'must be "needs you", "done" or "failed"')).default([...WEBHOOK_EVENTS]),
        format: z.enum(['json', 'ntfy'], 'must be "json" or "ntfy"').default('json'),
      }),
      'must be a list, such as [{"url": "https://ntfy.sh/my-topic", "format": "ntfy"}]',
    )
    .default([])
    .describe('addresses that get a POST: [{"url": "https://…", "on": ["needs you", "done", "failed"]}]'),
  ignoreSessions: z
    .array(pattern)
    .default(['^_'])
    .describe('regular expressions; a session whose name matches gets no thread'),
  projects: z
    .array(project.omit({ channel: true }))
    .default([])
    .describe('projects of the local workspace: [{"path": "~/shop"}]; on Discord, see "servers"'),
  ...projectShape,
  agent: agentName.default('claude').describe('what !new starts: "claude", "codex", …'),
});

/** One line per key: name, type and meaning. */
export function configHelp(): string {
  return [
    ...['Keys of config.json, all optional:', ...keyLines(configSchema.shape), ''],
    ...['Keys of a project, and the last ones also of config.json itself:', ...keyLines(projectSchema.shape), ''],
    ...['Keys of a session in "sessions", and the last ones also of "defaults":', ...keyLines(declaredSchema.shape)],
  ].join('\n');
}

function keyLines(shape: Readonly<Record<string, z.ZodType>>): readonly string[] {
  const keys = Object.entries(shape).map(([name, schema]) => [name, typeName(schema), schema.description]);
  const width = (column: number) => Math.max(...keys.map((key) => (key[column] ?? '').length));
  return keys.map(([name = '', type = '', about]) => `  ${name.padEnd(width(0))}  ${type.padEnd(width(1))}  ${about}`);
}

function typeName(schema: z.core.$ZodType): string {
  const { def } = schema as unknown as {
    def: { type: string; innerType?: z.core.$ZodType; element?: z.core.$ZodType };
  };
  if (def.innerType !== undefined) return typeName(def.innerType);
  return (
    {
      string: 'text',
      array: 'list',
      record: 'object',
      boolean: 'true/false',
      enum: 'text',
      int: 'number',
      pipe: 'text',
    }[def.type] ?? def.type
  );
}

export type ConfigFile = z.output<typeof configSchema>;
export type ServerEntry = ConfigFile['servers'][number];

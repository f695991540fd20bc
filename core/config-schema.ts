// The schema of config.json. Unknown keys are errors: a misspelt "alow" must not silently remove a restriction.

import * as z from 'zod';
import { isVariablePattern, SESSION_VARIABLES } from './session-environment.ts';
import { isHostName, isSshName } from './session-name.ts';
import { isDiscordId } from './snowflake.ts';

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
  projects: z.array(z.strictObject({ path: z.string().min(1), channel: snowflake })).default([]),
  onlyProjects: z.boolean().default(false),
});

export const configSchema = z.strictObject({
  host: hostName.optional(),
  defaultHost: hostName.optional(),
  hosts: z.record(hostName, host).default({}),
  servers: z.array(server).default([]),
  agent: z
    .strictObject({ command: z.array(z.string().min(1)).min(1, 'names no program') })
    .default({ command: ['claude'] }),
  agents: z
    .strictObject({
      claude: z
        .strictObject({
          /** The variables of threadmux's own environment that its sessions on this machine get. */
          environment: z
            .array(
              z
                .string()
                .refine(isVariablePattern, 'must be the name of a variable, such as "HTTP_PROXY" or "ANTHROPIC_*"'),
              'must be a list of names, such as ["PATH", "ANTHROPIC_*"]',
            )
            .default([...SESSION_VARIABLES]),
        })
        .prefault({}),
    })
    .prefault({}),
  progress: z.enum(['quiet', 'normal', 'verbose'], 'must be "quiet", "normal" or "verbose"').default('normal'),
  allowShell: z.boolean('must be true or false').default(false),
  slashCommands: z
    .array(z.string().regex(/^\/[a-z][a-z0-9:_-]*$/, 'must be a command such as "/compact"'))
    .default(['/clear', '/compact', '/model', '/cost', '/context', '/status']),
  strip: z.array(pattern).default([]),
  /** Folders, in addition to the projects, in which terminals and headless agents may be started. */
  roots: z.array(place, 'must be a list of folders, such as ["~/code"]').default([]),
  /** The maximum number of terminals and headless agents at the same time. */
  maxThreads: z
    .int('must be a whole number from 1 to 500')
    .min(1, 'must be a whole number from 1 to 500')
    .max(500, 'must be a whole number from 1 to 500')
    .default(5),
  /** Folders in which a headless agent may run without asking for permission. */
  skipPermissions: z.array(place, 'must be a list of folders, such as ["~/code/shop"]').default([]),
  /** Sessions whose name matches one of these get no thread. */
  ignoreSessions: z.array(pattern).default(['^_']),
});

export type ConfigFile = z.output<typeof configSchema>;
export type ServerEntry = ConfigFile['servers'][number];

// Application commands, of the guild and global (list, replace all, add, remove), and the routes for what never changes.
import * as z from 'zod';
import {
  MISSING_ACCESS,
  TOO_MANY_COMMANDS,
  UNKNOWN_APPLICATION,
  UNKNOWN_COMMAND,
  UNKNOWN_GUILD,
  UNKNOWN_MEMBER,
  UNKNOWN_USER,
} from '../../discord/error-codes.ts';
import { type CommandForm, commandSchema, readForm } from '../check-form.ts';
import { type RefusalAnswer, refuse, refuseField, refuseWith } from '../request-body.ts';
import type { RestRoute, RouteCall } from '../rest-server.ts';
import type { StoredCommand } from '../storage/store.ts';
import { wireApplication, wireChannel, wireGuild, wireMe, wireMember, wireRoles, wireUser } from '../wire/guild.ts';

const EVERYWHERE = '/applications/:application/commands';
const IN_GUILD = '/applications/:application/guilds/:guild/commands';
const MAX_COMMANDS = 100;

export const commandRoutes: readonly RestRoute[] = [EVERYWHERE, IN_GUILD].flatMap((path): RestRoute[] => [
  { method: 'GET', path, who: 'both', run: listCommands },
  { method: 'PUT', path, who: 'bot', run: setCommands },
  { method: 'POST', path, who: 'bot', run: addCommand },
  { method: 'GET', path: `${path}/:command`, who: 'both', run: (call) => ({ status: 200, body: commandOf(call) }) },
  { method: 'DELETE', path: `${path}/:command`, who: 'bot', run: removeCommand },
]);

function listCommands(call: RouteCall): RefusalAnswer {
  return { status: 200, body: commandsOf(call) };
}

/** Replaces all commands, whatever their type; a command that stays keeps its id. */
function setCommands(call: RouteCall): RefusalAnswer {
  const forms = readForm(z.array(commandSchema), call.body);
  forms.forEach((form, index) => {
    if (forms.findIndex((other) => isSame(other, form)) < index)
      refuseField([index, 'name'], 'APPLICATION_COMMANDS_DUPLICATE_NAME', 'Application command names must be unique');
  });
  const before = commandsOf(call);
  return keep(
    call,
    forms.map((form) => makeCommand(call, form, before)),
  );
}

function addCommand(call: RouteCall): RefusalAnswer {
  const form = readForm(commandSchema, call.body);
  const before = commandsOf(call);
  const made = makeCommand(call, form, before);
  const others = before.filter(({ id }) => id !== made.id);
  const isNew = others.length === before.length;
  keep(call, [...others, made]);
  return { status: isNew ? 201 : 200, body: made };
}

function removeCommand(call: RouteCall): RefusalAnswer {
  const gone = commandOf(call);
  keep(
    call,
    commandsOf(call).filter((command) => command !== gone),
  );
  return { status: 204 };
}

function keep(call: RouteCall, commands: StoredCommand[]): RefusalAnswer {
  if (commands.filter(({ type }) => type === 1).length > MAX_COMMANDS) refuse(TOO_MANY_COMMANDS);
  call.context.commit({ t: 'commands', scope: scopeOf(call), commands });
  return { status: 200, body: commands };
}

function makeCommand(call: RouteCall, form: CommandForm, before: readonly StoredCommand[]): StoredCommand {
  const { context } = call;
  const scope = scopeOf(call);
  return {
    ...form,
    id: before.find((other) => isSame(other, form))?.id ?? context.nextId(),
    application_id: context.identity.applicationId,
    version: context.nextId(),
    ...(scope !== 'global' && { guild_id: scope }),
    description: form.description ?? '',
    default_member_permissions: form.default_member_permissions ?? null,
    dm_permission: form.dm_permission ?? true,
    nsfw: form.nsfw ?? false,
    contexts: form.contexts ?? null,
    integration_types: form.integration_types ?? [0],
    ...(form.options == null ? { options: [] } : {}),
  };
}

function isSame(a: { name: string; type: number }, b: { name: string; type: number }): boolean {
  return a.name === b.name && a.type === b.type;
}

function commandOf(call: RouteCall): StoredCommand {
  return commandsOf(call).find(({ id }) => id === call.param('command')) ?? refuse(UNKNOWN_COMMAND);
}

function commandsOf(call: RouteCall): readonly StoredCommand[] {
  return call.context.state.commands.get(scopeOf(call)) ?? [];
}

function scopeOf({ context, param }: RouteCall): string {
  if (param('application') !== context.identity.applicationId) refuse(UNKNOWN_APPLICATION);
  const guild = param('guild');
  if (guild === '') return 'global';
  return guild === context.identity.guildId ? guild : refuse(MISSING_ACCESS);
}

// What never changes: the gateway's address, the users, the application, the guild with its members and roles.
const GUILD = '/guilds/:guild';

export const guildRoutes: readonly RestRoute[] = [
  { method: 'GET', path: '/gateway', who: 'anyone', run: getGateway },
  { method: 'GET', path: '/gateway/bot', who: 'bot', run: ({ context, host }) => ok(context.gatewayInfo(host)) },
  /** Ours, not Discord's: for `threadmux link`. */
  { method: 'POST', path: '/workspace/links', who: 'bot', run: ({ context }) => ok({ link: context.newLink() }) },
  {
    method: 'GET',
    path: '/users/@me',
    who: 'both',
    run: ({ context, viewer }) => ok(wireMe(context.identity, viewer.actor)),
  },
  { method: 'GET', path: '/users/:user', who: 'both', run: getUser },
  { method: 'GET', path: '/applications/@me', who: 'bot', run: getApplication },
  { method: 'GET', path: '/oauth2/applications/@me', who: 'bot', run: getApplication },
  { method: 'GET', path: GUILD, who: 'both', run: inGuild(({ context }) => wireGuild(context.identity)) },
  {
    method: 'GET',
    path: `${GUILD}/channels`,
    who: 'both',
    run: inGuild(({ context }) => [wireChannel(context.identity, context.state)]),
  },
  { method: 'GET', path: `${GUILD}/roles`, who: 'both', run: inGuild(({ context }) => wireRoles(context.identity)) },
  { method: 'GET', path: `${GUILD}/members/:user`, who: 'both', run: inGuild(getMember) },
];

function ok(body: unknown): RefusalAnswer {
  return { status: 200, body };
}

function getGateway({ context, host }: RouteCall): RefusalAnswer {
  return ok({ url: context.gatewayInfo(host).url });
}

function getApplication({ context }: RouteCall): RefusalAnswer {
  return ok(wireApplication(context.identity, context.messageContentIntent));
}

function getUser({ context, param }: RouteCall): RefusalAnswer {
  return ok(
    wireUser(context.identity, isKnown(context.identity, param('user')) ? param('user') : refuse(UNKNOWN_USER)),
  );
}

function getMember({ context, param, viewer }: RouteCall): unknown {
  const { identity } = context;
  const id = param('user') === '@me' && viewer.actor === 'person' ? identity.userId : param('user');
  return wireMember(identity, isKnown(identity, id) ? id : refuse(UNKNOWN_MEMBER));
}

function isKnown(identity: RouteCall['context']['identity'], id: string): boolean {
  return id === identity.userId || id === identity.botId;
}

function inGuild(run: (call: RouteCall) => unknown): RestRoute['run'] {
  return (call) => {
    if (!/^\d+$/.test(call.param('guild'))) refuseWith({ status: 404, body: { message: '404: Not Found', code: 0 } });
    if (call.param('guild') !== call.context.identity.guildId) refuse(UNKNOWN_GUILD);
    return ok(run(call));
  };
}

// What stands still: the gateway's address, who one is, the application, the guild with its members and roles.

import { UNKNOWN_GUILD, UNKNOWN_MEMBER, UNKNOWN_USER } from '../../discord/error-codes.ts';
import { type RefusalAnswer, refuse, refuseWith } from '../refusal.ts';
import { wireApplication, wireChannel, wireGuild, wireMe, wireMember, wireRoles, wireUser } from '../wire/guild.ts';
import type { RestRoute, RouteCall } from './router.ts';

const GUILD = '/guilds/:guild';

export const guildRoutes: readonly RestRoute[] = [
  { method: 'GET', path: '/gateway', who: 'anyone', run: getGateway },
  {
    method: 'GET',
    path: '/gateway/bot',
    who: 'bot',
    run: ({ world, host }) => ok(world.gatewayInfo(host)),
  },
  /** Ours, not Discord's: for `threadmux link`. */
  {
    method: 'POST',
    path: '/workspace/links',
    who: 'bot',
    run: ({ world }) => ok({ link: world.newLink() }),
  },
  {
    method: 'GET',
    path: '/users/@me',
    who: 'both',
    run: ({ world, viewer }) => ok(wireMe(world.identity, viewer.actor)),
  },
  { method: 'GET', path: '/users/:user', who: 'both', run: getUser },
  { method: 'GET', path: '/applications/@me', who: 'bot', run: getApplication },
  { method: 'GET', path: '/oauth2/applications/@me', who: 'bot', run: getApplication },
  {
    method: 'GET',
    path: GUILD,
    who: 'both',
    run: inGuild(({ world }) => wireGuild(world.identity)),
  },
  {
    method: 'GET',
    path: `${GUILD}/channels`,
    who: 'both',
    run: inGuild(({ world }) => [wireChannel(world.identity, world.state)]),
  },
  {
    method: 'GET',
    path: `${GUILD}/roles`,
    who: 'both',
    run: inGuild(({ world }) => wireRoles(world.identity)),
  },
  { method: 'GET', path: `${GUILD}/members/:user`, who: 'both', run: inGuild(getMember) },
];

function ok(body: unknown): RefusalAnswer {
  return { status: 200, body };
}

function getGateway({ world, host }: RouteCall): RefusalAnswer {
  return ok({ url: world.gatewayInfo(host).url });
}

function getApplication({ world }: RouteCall): RefusalAnswer {
  return ok(wireApplication(world.identity, world.messageContentIntent));
}

function getUser({ world, param }: RouteCall): RefusalAnswer {
  return ok(wireUser(world.identity, isKnown(world.identity, param('user')) ? param('user') : refuse(UNKNOWN_USER)));
}

function getMember({ world, param, viewer }: RouteCall): unknown {
  const { identity } = world;
  const id = param('user') === '@me' && viewer.actor === 'person' ? identity.userId : param('user');
  return wireMember(identity, isKnown(identity, id) ? id : refuse(UNKNOWN_MEMBER));
}

function isKnown(identity: RouteCall['world']['identity'], id: string): boolean {
  return id === identity.userId || id === identity.botId;
}

function inGuild(run: (call: RouteCall) => unknown): RestRoute['run'] {
  return (call) => {
    if (!/^\d+$/.test(call.param('guild'))) refuseWith({ status: 404, body: { message: '404: Not Found', code: 0 } });
    if (call.param('guild') !== call.world.identity.guildId) refuse(UNKNOWN_GUILD);
    return ok(run(call));
  };
}

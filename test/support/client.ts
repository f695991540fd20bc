// Our client against a workspace, as the bridge uses it, and a record of what it received.

import { onTestFinished } from 'vitest';
import { type Gateway, openGateway } from '../../discord/gateway.ts';
import type { GatewaySession } from '../../discord/gateway-state.ts';
import { connectRest, type Rest, type RestOptions } from '../../discord/rest.ts';
import type { TestWorkspace } from './workspace.ts';

export function restOf(workspace: TestWorkspace, options: Partial<RestOptions> = {}): Rest {
  const rest = connectRest({ token: workspace.token, api: workspace.api, ...options });
  onTestFinished(() => rest.close());
  return rest;
}

interface Told {
  readonly name: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into many shapes of events
  readonly data: any;
}

interface Listener {
  readonly gateway: Gateway;
  readonly told: Told[];
  readonly fatal: Error[];
  named(name: string): readonly Told[];
}

interface ListenerOptions {
  readonly store?: { session: GatewaySession | undefined };
  readonly intents?: number;
  readonly token?: string;
  readonly hurry?: number;
  readonly handle?: (name: string, data: unknown) => Promise<void> | void;
}

export function listenTo(workspace: TestWorkspace, rest: Rest, options: ListenerOptions = {}): Listener {
  const told: Told[] = [];
  const fatal: Error[] = [];
  const store = options.store ?? { session: undefined };
  const gateway = openGateway({
    rest,
    token: options.token ?? workspace.token,
    intents: options.intents ?? 34_305,
    hurry: options.hurry ?? 20,
    load: () => store.session,
    save: (session) => {
      store.session = session;
    },
    onFatal: (error) => fatal.push(error),
    handle: async (name, data) => {
      await options.handle?.(name, data);
      told.push({ name, data });
    },
  });
  onTestFinished(() => gateway.close());
  return { gateway, told, fatal, named: (name) => told.filter((one) => one.name === name) };
}

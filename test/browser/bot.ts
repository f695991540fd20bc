// A minimal bot: receives interactions on the gateway and answers them as the test says.

import { onTestFinished, vi } from 'vitest';
import { WebSocket } from 'ws';
import type { TestWorkspace } from '../support/workspace.ts';

interface Option {
  readonly name: string;
  readonly value: unknown;
  readonly focused?: boolean;
}

interface Heard {
  readonly kind: 'command' | 'tap' | 'autocomplete';
  readonly name: string;
  readonly channel: string;
  readonly options: readonly Option[];
  readonly values: readonly string[];
}

const KINDS: Readonly<Record<number, Heard['kind']>> = { 2: 'command', 3: 'tap', 4: 'autocomplete' };

export async function startRestClient(workspace: TestWorkspace) {
  const heard: Heard[] = [];
  let choices: (heard: Heard) => readonly object[] = () => [];
  const socket = new WebSocket(`${workspace.botUrl.replace('http', 'ws')}/gateway?v=10&encoding=json`);
  onTestFinished(() => socket.terminate());
  await new Promise<void>((ready) => {
    socket.on('message', (raw) => {
      const { op, t, d } = JSON.parse(String(raw));
      if (op === 10) socket.send(JSON.stringify({ op: 2, d: { token: workspace.token, intents: 1, properties: {} } }));
      if (t === 'READY') ready();
      if (t === 'INTERACTION_CREATE') void answer(d);
    });
  });

  // biome-ignore lint/suspicious/noExplicitAny: the wire's shape is the workspace's to test
  async function answer(data: any): Promise<void> {
    const kind = KINDS[data.type] ?? 'tap';
    const one: Heard = {
      kind,
      name: data.data.name ?? data.data.custom_id,
      channel: data.channel_id,
      options: data.data.options ?? [],
      values: data.data.values ?? [],
    };
    heard.push(one);
    const body =
      kind === 'autocomplete'
        ? { type: 8, data: { choices: choices(one) } }
        : kind === 'command'
          ? { type: 4, data: { content: `answer to ${one.name}` } }
          : { type: 6 };
    await workspace.bot('POST', `/interactions/${data.id}/${data.token}/callback`, body);
  }

  return {
    on(_: 'autocomplete', act: typeof choices) {
      choices = act;
    },
    register: (commands: readonly object[]) =>
      workspace.bot('PUT', `/applications/${workspace.applicationId}/guilds/${workspace.guildId}/commands`, commands),
    heard: (kind: Heard['kind']) => heard.filter((one) => one.kind === kind),
    next: (kind: Heard['kind']) =>
      vi.waitFor(
        () => {
          const found = heard.find((one) => one.kind === kind);
          if (found === undefined) throw new Error(`no ${kind} was heard`);
          return found;
        },
        { timeout: 10_000, interval: 20 },
      ),
  };
}

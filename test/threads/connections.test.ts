import { describe, expect, it, onTestFinished } from 'vitest';
import { silentLog } from '../../core/log.ts';
import { localServer } from '../../home/config-file.ts';
import { openConnections } from '../../threads/connections.ts';
import { startTestWorkspace } from '../support/workspace.ts';

describe('connections', () => {
  it('ask for a channel once, even if the server is read again each time', async () => {
    const requests: string[] = [];
    const onRequest = ({ method, path }: { readonly method: string; readonly path: string }) => {
      requests.push(`${method} ${path}`);
      return undefined;
    };
    const { api, token, channelId, userId } = await startTestWorkspace({ faults: { onRequest } });
    const server = () => localServer({ api, token, channel: channelId, user: userId });
    const connections = openConnections(() => [server()], { log: silentLog });
    onTestFinished(() => connections.close());
    const places = [];
    for (const _ of [1, 2, 3]) places.push(await connections.of(server()).place(channelId));
    places.push(await connections.named(server().name)?.place(channelId));
    expect(new Set(places).size).toBe(1);
    expect(requests.filter((one) => one.startsWith('GET'))).toHaveLength(2);
    expect(connections.all()[0]?.rest).toBe(places[0]?.rest);
  });
});

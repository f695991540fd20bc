// Says in the channel what a change of config.json does, or what is wrong with it.

import { changeText } from '../core/config-change.ts';
import { cutMessage, untrustedText } from '../core/untrusted-text.ts';
import type { ConfigReport } from '../home/live-config.ts';
import { postNotice } from '../threads/notices.ts';
import type { Shared } from '../threads/shared-services.ts';

type NoticeParts = Pick<Shared, 'live' | 'connections' | 'log' | 'sessionsChanged'>;

export function tellConfigChanges({ live, connections, log, sessionsChanged }: NoticeParts): void {
  live?.onReport((about) => {
    sessionsChanged.tell(); // a session may belong elsewhere now
    const [first] = connections.all();
    if (first === undefined) return;
    const { rest, server } = first;
    const said = { content: cutMessage(reportText(about), 1_900), silent: true };
    postNotice(rest, server.channel, ['config', Date.now()], said).catch((error: Error) =>
      log.info('saying that the configuration has changed', { because: error.message }),
    );
  });
  live?.watch();
}

function reportText(about: ConfigReport): string {
  if ('problem' in about) return `⚠️ config.json has a mistake, so nothing has changed: ${untrustedText(about.problem)}`;
  return changeText(about);
}

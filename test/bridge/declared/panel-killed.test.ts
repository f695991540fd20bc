// The program is killed between posting the panel and pinning it: the next one knows that it is not pinned, and keeps it in sight.

import { readFileSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { startKillable } from '../killed-program.ts';

it('threadmux up, killed before it pins the panel, does not take it as pinned', async () => {
  const { machine, up, again, killAtRequest } = await startKillable();
  up().kill();
  await up().ended;
  const config = machine.home.path('config.json');
  writeFileSync(config, JSON.stringify({ ...JSON.parse(readFileSync(config, 'utf8')), panel: true }));
  killAtRequest('PUT', '/pins/', 'before');
  await again();
  await up().ended;
  const [panel] = Object.values(JSON.parse(readFileSync(machine.home.path('state', 'test.panel.json'), 'utf8')));
  expect(panel).toMatchObject({ message: expect.stringMatching(/^\d+$/), isPinned: false });
});

// What somebody reads who tries the commands for scripts without having started anything, or with a wrong word.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { shareAmongTests } from '../../support/at-end.ts';
import { startCli } from '../cli.ts';

/** A session with a shell; nothing else runs. */
function startShell() {
  const cli = startCli({ agents: { claude: { command: ['no-such-agent'] } } });
  const shop = join(cli.dir, 'shop');
  mkdirSync(shop);
  cli.tmux.call('new-session', '-d', '-s', 'shop', '-c', shop, 'sh');
  const [pid, pane] = cli.tmux.call('display-message', '-p', '-t', '=shop:', '#{pid} #{pane_id}').split(' ');
  const inside = { TMUX: `${cli.tmux.socket},${pid},0`, TMUX_PANE: pane ?? '' };
  return { ...cli, shop, inside };
}

const shell = shareAmongTests(startShell);

describe('before threadmux was ever started', () => {
  it('what belongs into a thread says that it must be started', async () => {
    const { run, inside, shop } = shell();
    for (const args of [
      ['notify', 'hi'],
      ['ask', 'Deploy?', '--timeout', '20'],
    ]) {
      const { status, stderr } = await run(args, { env: inside, cwd: shop });
      expect([args[0], status, stderr]).toEqual([
        ...[args[0], 69],
        'threadmux: threadmux was never started here, so there are no threads\nStart it with `threadmux up`.\n',
      ]);
    }
  });

  it('an empty line is not posted', async () => {
    const { runHere, inside, shop } = shell();
    expect(await runHere(['notify', ' '], { env: inside, cwd: shop })).toMatchObject({
      status: 2,
      stderr: 'threadmux: the text is empty\n',
    });
  });
});

describe('a session without an agent', () => {
  it('is not said to have ended', async () => {
    const { runHere, tmux } = shell();
    const { status, stderr } = await runHere(['wait', 'shop', '--timeout', '60']);
    expect([status, stderr]).toEqual([1, 'No agent runs in shop: it shows a shell.\n']);
    expect(tmux.call('list-sessions', '-F', '#S')).toBe('shop');
  });

  it('has no reply, with the same exit code as text and as JSON', async () => {
    const { runHere } = shell();
    const [text, json] = [await runHere(['reply', 'shop']), await runHere(['reply', 'shop', '--json'])];
    expect([text.status, json.status, json.data()]).toMatchObject([3, 3, { name: 'shop', reply: null }]);
  });

  it('is not started for a prompt', async () => {
    const { runHere, tmux } = shell();
    const { status, stderr } = await runHere(['start', 'new-one', '--prompt', 'hi', '--wait']);
    expect([status, stderr]).toEqual([3, expect.stringContaining('the agent is not installed on here')]);
    expect(tmux.call('list-sessions', '-F', '#S')).toBe('shop');
  });
});

it.each([
  [['agent', 'shop'], 2, 'Example: threadmux agent shop'],
  [['terminal', 'shop'], 2, 'Example: threadmux terminal shop -- npm run dev'],
  [['send', 'hello'], 2, 'The first word is the session.'],
  [['wait', 'sho'], 3, 'Similar sessions: shop.'],
  [['wait', 'shop@mars'], 3, '"mars" is no configured host; these are: here.'],
  [['sessions', '--prefix', 'z'], 0, 'No session begins with z.'],
])('%j has exit code %d and says "%s"', async (args, code, said) => {
  const { status, stderr } = await shell().runHere(args);
  expect([status, stderr]).toEqual([code, expect.stringContaining(said)]);
});

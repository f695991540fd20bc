import { describe, expect, it } from 'vitest';
import { isSessionName, streamName } from '../../core/session-name.ts';
import { streamTitle } from '../../core/thread-title.ts';

describe('the name of a terminal or a headless agent', () => {
  it.each([
    ['terminal', '/home/me/shop', 'npm run dev', 'shop-npm'],
    ['terminal', '/home/me/shop', './scripts/deploy.sh --all', 'shop-deploy-sh'],
    ['terminal', '/home/me/.config', '"quoted program"', 'config-quoted'],
    ['terminal', '/', '«»', 'dir-terminal'],
    ['agent', '/home/me/my shop #(x)', 'do it', 'my-shop-x-agent'],
  ] as const)('for a %s in %s that was requested as %j is %s', (kind, directory, command, name) => {
    expect(streamName(kind, directory, command, new Set())).toBe(name);
  });

  it('gets a number if it is taken, and is always valid in tmux', () => {
    const taken = new Set(['shop-npm', 'shop-npm-2']);
    expect(streamName('terminal', '/shop', 'npm', taken)).toBe('shop-npm-3');
    const long = streamName('terminal', `/${'d'.repeat(200)}`, 'c'.repeat(200), taken);
    expect(isSessionName(long)).toBe(true);
  });

  it('is in the title, with its kind', () => {
    expect(streamTitle('terminal', 'shop-npm')).toBe('[terminal] shop-npm');
    expect(streamTitle('agent', 'shop-agent')).toBe('[headless] shop-agent');
  });
});

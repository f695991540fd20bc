import { readdirSync } from 'node:fs';
import { describe, expect, it, vi } from 'vitest';
import { tmuxOn } from '../../tmux/tmux.ts';
import { typeMessage } from '../../tmux/type-message.ts';
import { startSshServer } from '../support/ssh-server.ts';
import { pasted, startRawPane, startTmux } from '../support/tmux-server.ts';

/** Each must arrive unchanged, as one paste and one Enter, and have no other effect. */
const HOSTILE: readonly string[] = [
  ...['-hello', '--', '-X', '-t %0', '-', '- -', '--help', '-R -t web'],
  ...['hello;', ';', ';;', '\\;', 'a\\', '\\', '\\\\', 'x; kill-server', '; kill-server ;', '\n;\n'],
  ...['$(touch pwned)', '`touch pwned`', '$HOME', `$${'{HOME}'}`, '$((1+1))', '&& touch pwned', '| touch pwned'],
  ...['> pwned', '< /etc/passwd', '& touch pwned &', "'; touch pwned; '", '"; touch pwned; "', "'\\''"],
  ...[
    "'",
    '"',
    "''",
    '""',
    "\\'",
    '\\"',
    "$'\\x41'",
    '!!',
    '!echo pwned',
    '^a^b',
    '~',
    '~root',
    '=ls',
    '*',
    '?',
    '[a-z]',
  ],
  ...['{a,b}', '{ kill-server }', '}', '#{pid}', '#(touch pwned)', '##', '#', '#S', '#{q:x}', '%H', '%%', '%0'],
  ...['Enter', 'C-c', 'Escape', 'M-x', 'BSpace', 'Enter Enter', 'C-m'],
  ...['/clear', '/exit', '@file', '# note', '& x', '\\n', '\\r', '\\033[201~', '^[[201~', '[201~', '[200~'],
  ...['a\nb', '\n', '\n\n', ' ', '\t', '\ttab', 'trailing \n', ' lead', 'EOF', 'END\n.\n'],
  ...[
    '👩‍👩‍👧‍👦',
    '🇩🇪',
    'é',
    'e\u0301',
    '日本語',
    'שלום',
    '\u202eabc',
    '\u200b',
    '\ufeff',
    '\u2028',
    '\ufffd',
    'ﷺ',
    '𝕏',
  ],
  ...['DM 1 TEXT', 'TEXT', 'ENTER', 'ALREADY', 'REFUSED x', 'threadmux-end-0 0', 'x'.repeat(20_000), '\n'.repeat(500)],
];

describe('hostile text', () => {
  it.each(['local', 'ssh'])('arrives byte for byte and runs nothing (%s)', async (way) => {
    expect(new Set(HOSTILE).size).toBeGreaterThanOrEqual(60);
    const server = startTmux();
    const bystander = await startRawPane(server, 'web-2');
    const { guard, received } = await startRawPane(server, 'web');
    const far = way === 'ssh' ? await startSshServer() : undefined;
    const tmux = far === undefined ? server.tmux : tmuxOn(far.host(), server.socket);
    for (const [i, text] of HOSTILE.entries()) {
      const done = await typeMessage(tmux, guard, { id: `${i + 1}`, text }, { settleMs: 0 });
      expect([text, done.kind]).toEqual([text, 'delivered']);
    }
    await vi.waitFor(() => expect(received().toString()).toBe(pasted(...HOSTILE).toString()));
    expect(bystander.received()).toHaveLength(0);
    expect(server.call('list-buffers')).toBe('');
    const left = [server.dir, ...(far === undefined ? [] : [far.home])].flatMap((dir) => readdirSync(dir));
    expect(left.filter((name) => !/^(raw-.*|s)$/.test(name))).toEqual([]);
  });

  it('turns half a surrogate pair into the replacement character', async () => {
    const server = startTmux();
    const { guard, received } = await startRawPane(server);
    await typeMessage(server.tmux, guard, { id: '1', text: 'a\ud83db' }, { settleMs: 0 });
    await vi.waitFor(() => expect(received()).toEqual(pasted('a\ufffdb')));
  });
});

// The states of pi's screen, for record-screens.ts.

import type { Recorder } from './record-screens.ts';

export async function recordPi({ pane, shot, sees, press, type, say, paste }: Recorder): Promise<void> {
  await sees(/\d%\/\d/);
  await shot('empty-fresh', 3_000);
  await type('a half written thought');
  await shot('draft-one-line');
  await press('Home');
  await shot('draft-cursor-at-start');
  await press('End', 'C-u');
  await type('   ');
  await shot('draft-spaces');
  await press('C-c');
  await press('C-j');
  await shot('draft-line-break');
  await press('C-c');
  await paste('first line\nsecond line\nthird line');
  await shot('draft-many-lines');
  await press('C-c');
  await paste('x'.repeat(3_000));
  await shot('draft-pasted-block');
  await press('C-c');
  await paste('the quick brown fox jumps over the lazy dog '.repeat(6));
  await shot('draft-wrapped');
  await press('C-c');
  await type('> quoted');
  await shot('draft-quoted');
  await press('C-c');
  await type('/');
  await shot('menu-slash');
  await press('BSpace');
  await type('@');
  await shot('draft-at', 1_500); // no files are there
  await press('C-c');
  await type('!');
  await shot('mode-bang');
  await type('ls -l');
  await shot('mode-bang-command');
  await press('C-c');

  await say('hello there');
  await sees(/Echo: hello there/);
  await shot('empty-after-reply', 1_000);
  await say('table');
  await sees(/Done @everyone/);
  await shot('empty-after-table', 1_500);
  await say('long 12');
  await sees(/Paragraph 12/);
  await shot('empty-after-long', 1_500);
  await say('slow 6');
  await shot('busy-empty-box', 2_000);
  await type('typed while busy');
  await shot('busy-with-draft');
  await press('C-u');
  await sees(/Slept 6 s/);
  await say('slow 8');
  await sees(/Working/);
  await say('queued while busy');
  await shot('busy-with-queue', 1_000);
  await sees(/Echo: queued while busy/);
  await shot('empty-after-queue', 1_500);
  await say('slow 30');
  await sees(/Working/);
  await press('Escape');
  await shot('empty-after-interrupt', 2_000);
  await say('steps 2');
  await sees(/Done\. The tool said/);
  await shot('empty-after-tools', 1_500);
  await say('fail 500');
  await shot('busy-retry-500', 2_000);
  await press('Escape');
  await shot('empty-after-retry', 2_000);
  for (const list of ['model', 'settings', 'resume', 'tree', 'hotkeys', 'session', 'login']) {
    await say(`/${list}`);
    await shot(list === 'hotkeys' || list === 'session' ? `empty-after-${list}` : `dialog-list-${list}`, 1_500);
    await press('Escape');
    await shot(`empty-later-${list}`, 800);
  }
  pane.tmux('copy-mode', '-t', 'demo');
  await shot('copy-mode');
  pane.tmux('send-keys', '-t', 'demo', '-X', 'cancel');
  await press('C-c');
  await shot('empty-ctrl-c-once', 300);
  await say('/quit');
  await shot('shell-after-exit', 3_000);
}

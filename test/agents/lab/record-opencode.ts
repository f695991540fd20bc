// The states of OpenCode's screen, for record-screens.ts.

import type { Recorder } from './record-screens.ts';

export async function recordOpencode({ pane, shot, sees, press, type, say, paste }: Recorder): Promise<void> {
  await sees(/Ask anything/);
  await shot('empty-home', 3_000);
  await type('first words');
  await shot('draft-home');
  await press('Enter');
  await sees(/Echo: first words/);
  await shot('empty-fresh', 2_000);

  await type('a half written thought');
  await shot('draft-one-line');
  await press('Home');
  await shot('draft-cursor-at-start');
  await press('End', 'C-u');
  await type('   ');
  await shot('draft-spaces');
  await press('C-u');
  await press('C-j');
  await shot('draft-line-break');
  await press('BSpace');
  await paste('first line\nsecond line');
  await shot('draft-two-lines');
  await press('C-c');
  await paste('first line\nsecond line\nthird line');
  await shot('draft-many-lines');
  await press('C-c');
  await shot('empty-after-ctrl-c');
  await paste('x'.repeat(3_000));
  await shot('draft-pasted-block');
  await press('C-c');
  await paste('the quick brown fox jumps over the lazy dog '.repeat(3));
  await shot('draft-wrapped');
  await press('C-c');
  for (let line = 0; line < 20; line++) {
    pane.type(`line ${line}`);
    pane.press('C-j');
  }
  await shot('draft-tall', 1_500);
  await press('C-c');
  await type('#');
  await shot('draft-hash');
  await press('BSpace');
  await type('?');
  await shot('draft-question-mark');
  await press('BSpace');

  await type('/');
  await shot('menu-slash');
  await type('xyzzy');
  await shot('menu-slash-nothing');
  await press('Escape');
  await press('C-u');
  await type('@proj');
  await shot('menu-at', 1_500);
  await press('Escape', 'C-u');
  await type('!');
  await shot('mode-bang');
  await type('ls -l');
  await shot('mode-bang-command');
  await press('C-u', 'Escape');
  await shot('empty-after-shell-mode');

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
  await sees(/esc interrupt/);
  await say('queued while busy');
  await shot('busy-with-queue', 1_000);
  await sees(/Echo: queued while busy/);
  await shot('empty-after-queue', 1_500);
  await say('slow 30');
  await sees(/esc interrupt/);
  await press('Escape');
  await shot('busy-esc-once', 200);
  await press('Escape');
  await shot('empty-after-interrupt', 2_000);

  await say('run curl http://127.0.0.1:1/');
  await sees(/Permission required/);
  await shot('dialog-permission-shell', 1_000);
  await press('Right');
  await press('Enter');
  await shot('dialog-permission-always', 1_000);
  await press('Escape');
  await press('Right', 'Right');
  await shot('dialog-permission-on-reject');
  await press('Enter');
  await shot('empty-after-reject', 2_000);
  await say('write written.txt');
  await sees(/Permission required/);
  await shot('dialog-permission-write', 1_000);
  await press('C-f');
  await shot('dialog-permission-fullscreen', 1_000);
  await press('C-f', 'Escape');
  await shot('empty-after-escape', 2_000);

  await say('ask');
  await sees(/Which database/);
  await shot('dialog-question', 1_000);
  await type('x');
  await shot('dialog-question-key');
  await press('4');
  await type('my own words');
  await shot('dialog-question-typing');
  await press('Escape', 'Escape');
  await shot('empty-after-dismiss', 2_000);
  await say('ask2');
  await sees(/Which database/);
  await shot('dialog-question-two', 1_000);
  await press('Enter');
  await shot('dialog-question-second', 1_000);
  await press('Tab');
  await shot('dialog-question-confirm', 1_000);
  await press('Escape');
  await shot('empty-after-dismiss-two', 2_000);

  await say('delegate slow 12');
  await sees(/General|Task|Subagent/i);
  await shot('busy-subagent-runs', 3_000);
  await press('C-x', 'Down');
  await shot('view-subagent', 2_000);
  await press('Up');
  await sees(/Done\. The tool said/);
  await shot('empty-after-subagent', 2_000);

  await press('Tab');
  await shot('empty-plan-agent', 1_000);
  await press('Tab');
  await say('fail 429');
  await shot('busy-retry-429', 4_000);
  await press('Escape', 'Escape');
  await shot('empty-after-retry', 2_000);

  await press('C-p');
  await shot('dialog-list-commands', 1_000);
  await press('Escape');
  const lists = ['models', 'sessions', 'agents', 'themes', 'timeline', 'export', 'rename'];
  for (const list of [...lists, 'status', 'help', 'debug', 'mcps', 'skills']) {
    await type(`/${list}`);
    await press('Enter');
    await shot(`dialog-list-${list}`, 1_500);
    await press('Escape');
    await shot(`empty-after-${list}`, 800);
    await press('C-u');
  }
  await press('C-x');
  await shot('empty-leader-key', 100);
  await press('Escape');
  await press('C-x', 'b');
  await shot('empty-sidebar-toggled', 1_000);
  await press('C-x', 'b');
  pane.tmux('copy-mode', '-t', 'demo');
  await shot('copy-mode');
  pane.tmux('send-keys', '-t', 'demo', '-X', 'cancel');
  await press('C-c');
  await sees(/Continue/);
  await shot('shell-after-exit', 2_000);
}

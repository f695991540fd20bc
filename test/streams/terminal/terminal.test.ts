import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadStreamRecord } from '../../../home/stream-record.ts';
import { typeMessage } from '../../../tmux/type-message.ts';
import { download, expectText, type TerminalSetting, terminalSetting, waitFor } from '../../support/terminal.ts';

/** A short program; `out` writes, `wait` waits. */
function program(setting: TerminalSetting, body: string): string {
  const file = join(setting.server.dir, `program-${Math.random()}.mjs`);
  const head = `import { existsSync, writeFileSync } from 'node:fs';
const wait = (ms) => new Promise((done) => setTimeout(done, ms));
const out = (text) => new Promise((done) => process.stdout.write(text, done));
`;
  writeFileSync(file, head + body);
  return `${process.execPath} ${file}`;
}

/** Without spaces at line ends, like the output of tmux. */
const plain = (text: string) => text.replace(/ +$/gm, '').replace(/\n+$/, '');

describe('a terminal', () => {
  it('shows the output of the first moment', async () => {
    const setting = await terminalSetting();
    const record = await setting.run('printf "first\\nsecond"; exit 3');
    expectText(await setting.text(), 'first\nsecond');
    expect(setting.captured(record)).toContain('first\nsecond');
  });

  it('shows a dev server: lines over time, in messages that are edited in place', async () => {
    const setting = await terminalSetting();
    const command = program(
      setting,
      `for (let at = 1; at <= 60; at++) { await out('\\x1b[32mGET\\x1b[m /page/' + at + ' 200 in 12 ms, rendered from the cache\\n'); await wait(30); }`,
    );
    const terminal = setting.follow(await setting.start(command));
    await waitFor(async () => expect(await setting.text()).toContain('/page/5 '));
    const [first] = await setting.messages();
    await terminal.ended;
    const lines = Array.from({ length: 60 }, (_, at) => `GET /page/${at + 1} 200 in 12 ms, rendered from the cache\n`);
    expectText(await setting.text(), lines.join(''));
    const messages = await setting.messages();
    expect(messages[0]?.id).toBe(first?.id);
    expect(messages).toHaveLength(3); // two full of text, and the exit
    expect(plain(setting.captured(terminal.record()))).toContain(plain(lines.join('')));
  });

  it('shows the final state of a progress bar', async () => {
    const setting = await terminalSetting();
    const command = program(
      setting,
      `for (let at = 0; at <= 100; at += 2) { await out('\\r[' + '#'.repeat(at / 2).padEnd(50) + '] ' + at + ' %'); await wait(10); }
       await out('\\ndone\\n');`,
    );
    const record = await setting.run(command);
    expectText(await setting.text(), `[${'#'.repeat(50)}] 100 %\ndone\n`);
    expect(setting.captured(record)).toContain(plain(await setting.text()));
  });

  it('shows a progress display of several rows, redrawn by moving up', async () => {
    const setting = await terminalSetting();
    const command = program(
      setting,
      `await out('building\\n');
       for (let at = 0; at <= 30; at++) { await out((at ? '\\x1b[3A' : '') + ['a', 'b', 'c'].map((n) => '\\x1b[2K' + n + ' ' + at + '/30\\n').join('')); await wait(10); }
       await out('built\\n');`,
    );
    const record = await setting.run(command);
    expectText(await setting.text(), 'building\na 30/30\nb 30/30\nc 30/30\nbuilt\n');
    expect(setting.captured(record)).toContain(plain(await setting.text()));
  });

  it('counts 100,000 lines in a burst, and attaches them', async () => {
    const setting = await terminalSetting();
    await setting.run('seq 1 100000');
    const lines = Array.from({ length: 100_000 }, (_, at) => `${at + 1}\n`).join('');
    expectText(await setting.text(), lines);
    const messages = await setting.messages();
    expect(messages.length).toBeLessThan(8);
    const [flood] = messages.filter(({ content }) => /^… [\d,]+ lines …/.test(content));
    expect(flood?.content).toContain('… 99,447 lines …');
    const exit = messages.at(-1);
    expect(exit?.content).toContain('the whole output');
    expectText(await download(setting.workspace, exit?.attachments[0]?.url ?? ''), lines);
  });

  it('shows a continuous burst while it runs, and later output line by line', async () => {
    const setting = await terminalSetting();
    const seen = join(setting.server.dir, 'seen');
    const command = program(
      setting,
      `const lines = (n) => Array.from({ length: n }, (_, at) => 'flood ' + at + '\\n').join('');
       let times = 0;
       for (; times < 12 || !existsSync('${seen}'); times++) { await out(lines(3000)); await wait(100); }
       writeFileSync('${seen}', String(times));
       await wait(1000);
       for (let at = 0; at < 10; at++) { await out('calm ' + at + '\\n'); await wait(30); }`,
    );
    const terminal = setting.follow(await setting.start(command));
    await waitFor(async () => {
      const [, second] = await setting.messages();
      expect(second?.content).toMatch(/^… [\d,]{5,} lines …\n```text\n(flood \d+\n)+```$/);
    });
    writeFileSync(seen, '');
    await terminal.ended;
    const times = Number(readFileSync(seen, 'utf8'));
    const flood = Array.from({ length: 3000 }, (_, at) => `flood ${at}\n`).join('');
    const calm = Array.from({ length: 10 }, (_, at) => `calm ${at}\n`).join('');
    expectText(await setting.text(), flood.repeat(times) + calm);
  });

  it('shows binary output, every invalid byte as one character, and stays whole', async () => {
    const setting = await terminalSetting();
    await setting.run(
      'head -c 3000 /dev/zero | tr "\\\\0" "\\\\377"; printf "\\\\303\\\\050 \\\\360\\\\237\\n"; echo end',
    );
    const text = await setting.text();
    expectText(text, `${'\ufffd'.repeat(3000)}\ufffd( \ufffd\nend\n`);
    const random = await terminalSetting();
    await random.run('head -c 200000 /dev/urandom; printf "\\\\033c"; echo over');
    expect(await random.text()).toMatch(/over\n$/);
  });

  it('shows what a program asks for and what it is given', async () => {
    const setting = await terminalSetting();
    const record = await setting.start('printf "Your name? "; read name; echo "Hello, $name."');
    const terminal = setting.follow(record);
    await waitFor(async () => expect(await setting.text()).toBe('Your name? '));
    const { pane } = record;
    if (pane === undefined) throw new Error('it has no pane');
    await typeMessage(setting.server.tmux, { pane, command: 'sh' }, { id: '1', text: 'Ada' });
    await terminal.ended;
    expectText(await setting.text(), 'Your name? Ada\nHello, Ada.\n');
    expect(setting.captured(record)).toContain('Your name? Ada\nHello, Ada.');
  });

  it('reports the exit code of a program that has crashed, after all its output', async () => {
    const setting = await terminalSetting();
    const command = program(setting, `await out('working\\n'); throw new Error('out of luck');`);
    const record = await setting.run(command);
    expect(await setting.text()).toMatch(/^working\n.*Error: out of luck/s);
    const messages = await setting.messages();
    const exit = messages.at(-1);
    expect(exit?.content).toMatch(/^⏹️ Exited with code 1 after \d+ s\.\n/);
    expect(exit?.content).toContain('`!done`');
    expect(exit?.flags).toBe(4); // it notifies
    expect(messages[0]?.flags).toBe(4 | 4096); // the output does not
    expect(record.ended).toMatchObject({ how: 'exited with code 1' });
    expect(loadStreamRecord(setting.parts.home, setting.thread)).toEqual(record);
  });

  it('reports the signal that ended a program', async () => {
    const setting = await terminalSetting();
    const command = program(setting, `await out('alive\\n'); process.kill(process.pid, 'SIGKILL');`);
    const record = await setting.run(command);
    expect(record.ended).toMatchObject({ how: 'ended by signal 9 (code 137)' });
    expect((await setting.messages()).at(-1)?.content).toMatch(/^⏹️ Ended by signal 9 \(code 137\)/);
    expect(await setting.text()).toMatch(/^alive\n(Killed\n)?$/); // some shells report it too
  });

  it('shows a line of 1 MB without a newline', async () => {
    const setting = await terminalSetting();
    const command = program(setting, `await out('0123456789abcdef'.repeat(65536));`);
    await setting.run(command);
    expectText(await setting.text(), '0123456789abcdef'.repeat(65_536));
  });

  it('shows wide characters and emoji', async () => {
    const setting = await terminalSetting();
    const text = '日本語テキスト🚀👍 é ü 한국어 '.repeat(40);
    const command = program(setting, `await out(${JSON.stringify(`${text}\nnext\n`)});`);
    const record = await setting.run(command);
    expectText(await setting.text(), `${text}\nnext\n`);
    expect(setting.captured(record)).toContain(text.trimEnd());
  });

  it('shows the alternate screen while it is active, and the previous text afterwards', async () => {
    const setting = await terminalSetting();
    const command = program(
      setting,
      `await out('before\\n\\x1b[?1049h\\x1b[H\\x1b[2J~\\n~\\n\\x1b[5;1H"notes" 3L'); process.stdin.once('data', async () => { await out('\\x1b[?1049lafter\\n'); process.exit(); });`,
    );
    const record = await setting.start(command);
    const terminal = setting.follow(record);
    await waitFor(async () => expect(await setting.text()).toBe('~\n~\n\n\n"notes" 3L'));
    setting.server.call('send-keys', '-t', record.pane?.paneId ?? '', 'q', 'Enter');
    await terminal.ended;
    expect(await setting.text()).toMatch(/^before\n(q\n)?after\n$/);
  });

  it('keeps text with code fences inside its own', async () => {
    const setting = await terminalSetting();
    const text = '```js\nlet a = `b`;\n```\n``````\n⟨U+0060⟩ ⟨U+27E8⟩ `';
    const command = program(setting, `await out(${JSON.stringify(text)});`);
    await setting.run(command);
    expectText(await setting.text(), text);
    const [first] = await setting.messages();
    expect(first?.content.match(/```/g)).toHaveLength(2);
  });

  it('notices that its session was killed, and says so once', async () => {
    const setting = await terminalSetting();
    const record = await setting.start('echo here; sleep 600');
    const terminal = setting.follow(record);
    await waitFor(async () => expect(await setting.text()).toBe('here\n'));
    setting.server.call('kill-session', '-t', record.pane?.sessionId ?? '');
    await terminal.ended;
    const messages = await setting.messages();
    expect(messages.at(-1)?.content).toMatch(/^⏹️ Over: its session is gone after \d+ s\./);
    expect(messages).toHaveLength(2);
  });

  it('notices that the whole tmux server is gone', async () => {
    const setting = await terminalSetting();
    const terminals = [];
    // One after the other: two workspaces that start in the same millisecond assign the same ids.
    for (const name of ['one', 'two']) {
      const other = await terminalSetting({ server: setting.server });
      terminals.push(other.follow(await other.start(`echo ${name}; sleep 600`)));
      await waitFor(async () => expect(await other.text()).toBe(`${name}\n`));
    }
    setting.server.call('kill-server');
    for (const terminal of terminals) {
      await terminal.ended;
      expect(terminal.record().ended).toMatchObject({ how: 'its session is gone' });
    }
  });

  it('ends on request: kills the session, shows the rest, and posts a summary and no message', async () => {
    const setting = await terminalSetting();
    const record = await setting.start('echo one; echo two; sleep 600');
    const terminal = setting.follow(record);
    await waitFor(async () => expect(await setting.text()).toBe('one\ntwo\n'));
    expect(await terminal.end()).toMatch(/^2 lines in \d+ s; ended$/);
    expect(await setting.messages()).toHaveLength(1);
    expect(() => setting.server.call('has-session', '-t', `=t${setting.thread}`)).toThrow();
    expect(terminal.record().ended).toMatchObject({ how: 'ended' });
  });

  it('reports an exit that happened while nobody followed, once, with the last lines', async () => {
    const setting = await terminalSetting();
    const go = join(setting.server.dir, 'go');
    const record = await setting.start(`echo started; while [ ! -e '${go}' ]; do sleep 0.05; done; echo over; exit 4`);
    const first = setting.follow(record);
    await waitFor(async () => expect(await setting.text()).toBe('started\n'));
    await first.close();
    writeFileSync(go, '');
    await waitFor(() =>
      expect(setting.server.call('display-message', '-p', '-t', record.pane?.paneId ?? '', '#{pane_dead}')).toBe('1'),
    );
    const second = setting.follow(record);
    await second.ended;
    expectText(await setting.text(), 'started\nover\n');
    const third = setting.follow(second.record());
    await third.ended;
    expect(await third.end()).toMatch(/^2 lines in \d+ s; exited with code 4$/);
    expect((await setting.messages()).filter(({ content }) => content.startsWith('⏹️'))).toHaveLength(1);
  });
});

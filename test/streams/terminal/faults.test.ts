import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadStreamRecord } from '../../../home/stream-record.ts';
import type { Fault, FaultyRequest } from '../../support/as-discord.mjs';
import { tempFolder } from '../../support/temp-home.ts';
import { download, expectText, sleep, terminalSetting, waitFor } from '../../support/terminal.ts';

const LINES = 'for i in $(seq 1 80); do echo "line $i of some text that is long enough"; sleep 0.03; done';
const EXPECTED = Array.from({ length: 80 }, (_, at) => `line ${at + 1} of some text that is long enough\n`).join('');

/** A fault for every third request that changes a message. */
function troubled(fault: (at: number) => Fault) {
  let count = -3; // the thread is created without faults
  return {
    faults: {
      onRequest({ method, path }: FaultyRequest): Fault | undefined {
        if (method === 'GET' || !/\/messages(\/\d+)?$/.test(path)) return undefined;
        return ++count % 3 === 0 ? fault(count) : undefined;
      },
    },
  };
}

describe('a terminal in a thread with errors', () => {
  it.each<[string, (at: number) => Fault]>([
    ['says "not so fast"', () => ({ kind: 'limited', retryAfterMs: 150, scope: 'user' })],
    ['fails', () => ({ kind: 'answer', status: 500 })],
    ['does it and fails', () => ({ kind: 'apply-then-answer', status: 502 })],
    ['loses its answers', (at) => ({ kind: at % 2 === 0 ? 'apply-then-reset' : 'reset' })],
  ])('shows everything once and in order when Discord %s', async (_, fault) => {
    const setting = await terminalSetting({ workspace: troubled(fault) });
    await setting.run(LINES);
    expectText(await setting.text(), EXPECTED);
  });

  it('stops, and lets the program run, when its thread was deleted', async () => {
    const setting = await terminalSetting();
    const record = await setting.start('while :; do date; sleep 0.1; done');
    const terminal = setting.follow(record);
    await waitFor(async () => expect(await setting.messages()).toHaveLength(1));
    await setting.workspace.bot('DELETE', `/channels/${setting.thread}`);
    await sleep(500);
    expect(setting.server.call('list-panes', '-a', '-F', '#{pane_dead}')).toBe('0');
    expect(await terminal.end()).toMatch(/lines in \d+ s; ended$/);
  });

  it('posts its open message again when Discord no longer lets it be edited', async () => {
    let frozen = '';
    const setting = await terminalSetting({
      workspace: {
        faults: {
          onRequest: ({ method, path }) =>
            method === 'PATCH' && frozen !== '' && path.endsWith(frozen)
              ? { kind: 'answer', status: 400, body: { code: 30046, message: 'Too many edits' } }
              : undefined,
        },
      },
    });
    const record = await setting.start('echo one; read a; echo two; read b');
    setting.follow(record, { retryMs: 100 });
    await waitFor(async () => expect(await setting.text()).toBe('one\n'));
    frozen = (await setting.messages())[0]?.id ?? '';
    setting.server.call('send-keys', '-t', record.pane?.paneId ?? '', 'x', 'Enter');
    await waitFor(async () => expect(await setting.text()).toBe('one\nx\ntwo\n'));
    expect((await setting.messages()).map(({ id }) => id)).not.toContain(frozen);
  });
});

describe('a terminal that cannot be emulated', () => {
  async function broken() {
    const setting = await terminalSetting();
    const record = await setting.start('echo one; sleep 60');
    const first = setting.follow(record);
    await waitFor(async () => expect(await setting.text()).toBe('one\n'));
    await first.close();
    const folder = setting.parts.home.path('streams', setting.thread);
    const file = join(folder, 'state.json');
    const state = JSON.parse(readFileSync(file, 'utf8'));
    writeFileSync(file, JSON.stringify({ ...state, text: { base: 0.5, length: 4 } }));
    return { setting, record, folder };
  }

  it('is given up alone, says so once, and lets its program and the other terminals run', async () => {
    const { setting, record } = await broken();
    const other = await terminalSetting({ server: setting.server });
    const failing = setting.follow(record, { retryMs: 50 });
    const told = async () => (await setting.messages()).filter(({ content }) => content.startsWith('⚠️'));
    await waitFor(async () => expect(await told()).toHaveLength(1));
    await other.run('echo two');
    expect(await other.text()).toBe('two\n');
    await failing.close();
    expect(setting.server.call('list-panes', '-a', '-F', '#{pane_dead}')).toContain('0');

    const kept = loadStreamRecord(setting.parts.home, setting.thread);
    expect(kept?.ended?.how).toBe('no longer shown');
    const again = setting.follow(kept ?? record, { retryMs: 50 });
    await again.ended;
    expect(await told()).toHaveLength(1);
    expect(await again.end()).toContain('no longer shown');
  });

  it('is remembered as given up as soon as the disk takes it', async () => {
    const { setting, record, folder } = await broken();
    rmSync(join(folder, 'stream.json'));
    mkdirSync(join(folder, 'stream.json', 'in the way'), { recursive: true });
    setting.follow(record, { retryMs: 50 });
    await waitFor(async () => expect((await setting.messages()).at(-1)?.content).toMatch(/^⚠️/));
    await sleep(200);
    rmSync(join(folder, 'stream.json'), { recursive: true });
    const how = () => loadStreamRecord(setting.parts.home, setting.thread)?.ended?.how;
    await waitFor(() => expect(how()).toBe('no longer shown'));
  });
});

describe('a terminal that only redraws the same place', () => {
  it('is shown less often after a while', async () => {
    const edits: number[] = [];
    const setting = await terminalSetting({
      workspace: {
        faults: {
          onRequest({ method }) {
            if (method === 'PATCH') edits.push(Date.now());
            return undefined;
          },
        },
      },
    });
    const spinner = 'while :; do for c in 1 2 3 4 5 6 7; do printf "\\r$c"; sleep 0.02; done; done';
    setting.follow(await setting.start(spinner), { everyMs: 100, spinsAfterMs: 1000 });
    await waitFor(() => expect(edits.length).toBeGreaterThan(12), 20_000);
    // Three pauses together: a busy machine delays single edits.
    expect((edits.at(-1) ?? 0) - (edits.at(-4) ?? 0)).toBeGreaterThan(3 * 450);
  });
});

describe("a terminal's log", () => {
  it('is written below a home with any name', async () => {
    const odd = 'it\'s #{pid} %H 100%% #(touch pwned) #[x] ##[y] $(touch pwned) \\ "q" ;é';
    const setting = await terminalSetting({ home: join(tempFolder(), odd, 'home;') });
    await setting.run('echo "50% #{pid}" a\\;');
    expectText(await setting.text(), '50% #{pid} a;\n');
    expect(readdirSync(setting.server.dir)).not.toContain('pwned');
  });

  it('is read to its end, even if it is written late', async () => {
    const setting = await terminalSetting();
    const record = await setting.start('stty -echo; echo early; read a; echo late');
    const terminal = setting.follow(record, { quietMs: 4000 });
    await waitFor(async () => expect(await setting.text()).toBe('early\n'));
    const writer = writerOf(setting.parts.home.path('streams', setting.thread, 'log'));
    process.kill(writer, 'SIGSTOP');
    setting.server.call('send-keys', '-t', record.pane?.paneId ?? '', 'Enter');
    await waitFor(() =>
      expect(setting.server.call('display-message', '-p', '-t', record.pane?.paneId ?? '', '#{pane_dead}')).toBe('1'),
    );
    await sleep(2000);
    process.kill(writer, 'SIGCONT');
    await terminal.ended;
    expectText(await setting.text(), 'early\nlate\n');
  });

  it('continues across its segments, and removes those that were shown', async () => {
    const setting = await terminalSetting();
    const record = await setting.start('for i in $(seq 1 300); do echo "line $i"; sleep 0.005; done', {
      readsPerSegment: 10,
    });
    const terminal = setting.follow(record);
    let most = 0;
    while (terminal.record().ended === undefined) {
      const folder = setting.parts.home.path('streams', setting.thread, 'log');
      most = Math.max(most, existsSync(folder) ? readdirSync(folder).length : 0);
      await sleep(100);
    }
    const lines = Array.from({ length: 300 }, (_, at) => `line ${at + 1}\n`).join('');
    expectText(await setting.text(), lines);
    expect(most).toBeLessThan(20); // of thirty; a busy machine lags behind
    expect(readdirSync(setting.parts.home.path('streams', setting.thread)).sort()).toEqual([
      'state.json',
      'stream.json',
    ]);
  });

  it('is capped while nobody reads it, and says what was dropped', async () => {
    const setting = await terminalSetting();
    const record = await setting.start('seq 1 50000; sleep 600', { readsPerSegment: 4, maxBytes: 40_000 });
    await waitFor(() => expect(setting.captured(record)).toContain('\n50000\n'));
    const folder = setting.parts.home.path('streams', setting.thread, 'log');
    await waitFor(() => {
      const names = readdirSync(folder).sort((a, b) => Number(b) - Number(a));
      expect(names.length).toBeLessThan(8);
      const end = names.slice(0, 2).map((name) => readFileSync(join(folder, name), 'utf8'));
      expect(end.reverse().join('')).toMatch(/50000\r\n$/);
    });
    const terminal = setting.follow(record);
    await waitFor(async () => expect(await setting.text()).toMatch(/\n50000\n$/));
    const text = await setting.text();
    expect(text).toContain('… output was dropped here: the log had no room for it …\n');
    const [, after = ''] = text.split('the log had no room for it …\n');
    const first = Number(after.split('\n')[1]);
    expect(first).toBeGreaterThan(40_000);
    const rest = Array.from({ length: 50_000 - first + 1 }, (_, at) => `${first + at}\n`).join('');
    expectText(after.slice(after.indexOf('\n') + 1), rest);
    await terminal.close();
  });

  it('attaches a flood in several files when it is too long for one, and drops what is far too long', async () => {
    const setting = await terminalSetting();
    const file = join(setting.server.dir, 'flood.mjs');
    writeFileSync(
      file,
      `for (let at = 0; at < 40; at++) { process.stdout.write(Array.from({ length: 1000 }, (_, n) => at * 1000 + n + ' of a flood\\n').join('')); await new Promise((r) => setTimeout(r, 120)); }`,
    );
    const terminal = setting.follow(await setting.start(`${process.execPath} ${file}`), { fileBytes: 60_000 });
    const folder = setting.parts.home.path('streams', setting.thread);
    let most = 0;
    while (terminal.record().ended === undefined) {
      const texts = readdirSync(folder).filter((name) => name.startsWith('text-'));
      const sizes = texts.map((name) => statSync(join(folder, name), { throwIfNoEntry: false })?.size);
      most = Math.max(most, ...sizes.map((size) => size ?? 0));
      await sleep(50);
    }
    expect(most).toBeLessThan(250_000);
    const messages = await setting.messages();
    const floods = messages.filter(({ content }) => content.startsWith('… '));
    expect(floods.length).toBeGreaterThan(3);
    expect(floods.at(-1)?.content).toMatch(/Too much to keep: only the last [\d,]+ lines are attached/);
    for (const { attachments } of floods) expect(attachments[0]?.size).toBeLessThan(300_000);
    const exit = messages.at(-1);
    expect(exit?.content).toContain('the end of the output');
    const whole = await download(setting.workspace, exit?.attachments[0]?.url ?? '');
    expect(whole).toMatch(/\n39999 of a flood\n$/);
    expect(Buffer.byteLength(whole)).toBeLessThanOrEqual(60_000);
  });
});

/** The process that writes the log in this folder. */
function writerOf(folder: string): number {
  const rows = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,args='], { encoding: 'utf8' }).split('\n');
  const processes = rows.map((row) => row.trim().split(/\s+/));
  const shells = processes.filter((_, at) => rows[at]?.includes(folder)).map(([pid]) => pid);
  return Number(processes.find(([, ppid, name]) => name === 'dd' && shells.includes(ppid))?.[0] ?? 'none');
}

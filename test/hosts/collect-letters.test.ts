import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type CollectState, keepCollecting } from '../../hosts/collect-letters.ts';
import { letterReader } from '../../hosts/collect-letters-script.ts';
import type { Host } from '../../hosts/host.ts';
import { killNow } from '../support/hook-process.ts';
import { commandLines } from '../support/processes.ts';
import { loginShells, type SshServer, type SshServerOptions, startSshServer } from '../support/ssh-server.ts';
import { tempFolder } from '../support/temp-home.ts';

/** Nothing else is needed on the host, in particular no node. */
const TOOLS = ['sh', 'bash', 'cat', 'wc', 'rm', 'mv', 'mkdir', 'mkfifo', 'sleep', 'find', 'rmdir'];

function bareTools(from?: string): string {
  const folder = tempFolder();
  for (const tool of TOOLS) symlinkSync(from ?? `/bin/${tool}`, join(folder, tool));
  return folder;
}

interface Far {
  readonly server: SshServer;
  readonly home: string;
  write(box: string, number: number, text: string | Buffer): string;
  ring(): void;
  letters(): readonly string[];
  collectors(): readonly number[];
}

async function startFar(options: SshServerOptions = {}, name = 'me'): Promise<Far> {
  const server = await startSshServer({ path: bareTools(options.shell?.match(/^.*busybox/)?.[0]), ...options });
  return farHome(server, name);
}

function farHome(server: SshServer, name: string): Far {
  const home = join(server.home, '.threadmux', 'for', name);
  mkdirSync(join(home, 'outbox'), { recursive: true });
  const bell = join(home, 'bell');
  if (!existsSync(bell)) execFileSync('mkfifo', [bell]);
  onTestFinished(() => processesOf(home).forEach(killNow));
  return {
    server,
    home,
    write(box, number, text) {
      const folder = join(home, 'outbox', box);
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, '.new'), text);
      renameSync(join(folder, '.new'), join(folder, `${number}.77`));
      return `${box}/${number}.77`;
    },
    ring() {
      const fd = openSync(bell, 'r+'); // like `drop`, for reading and writing: it does not wait for a reader
      writeSync(fd, '\n');
      closeSync(fd);
    },
    letters: () =>
      readdirSync(join(home, 'outbox')).flatMap((box) =>
        readdirSync(join(home, 'outbox', box)).map((letter) => `${box}/${letter}`),
      ),
    collectors: () => processesOf(home),
  };
}

/** Collectors of this home on the host, with their helpers; not the ssh that started them. */
function processesOf(home: string): readonly number[] {
  return commandLines().flatMap(({ pid, args }) =>
    args.startsWith('sh -c ') && args.includes(`${home} `) ? [pid] : [],
  );
}

function collect(far: Far, host: Host = far.server.host(), more: Partial<Parameters<typeof keepCollecting>[0]> = {}) {
  const taken: string[] = [];
  const letters: Buffer[] = [];
  const states: CollectState[] = [];
  const stop = new AbortController();
  const collector = keepCollecting({
    host,
    home: far.home,
    signal: stop.signal,
    heartbeatSeconds: 1,
    backoffMs: { first: 50, longest: 400 },
    onState: (state) => void states.push(state),
    take(box, name, letter) {
      taken.push(`${box}/${name}`);
      letters.push(letter);
      return undefined;
    },
    ...more,
  });
  onTestFinished(() => collector.close());
  const connected = (times = 1) =>
    soon(() => expect(states.filter(({ kind }) => kind === 'connected').length).toBe(times));
  return { ...collector, taken, letters, states, connected, stop };
}

const soon = (check: () => void | Promise<void>) => vi.waitFor(check, { timeout: 15_000, interval: 20 });
const sshClients = (far: Far) =>
  commandLines()
    .filter(({ args }) => args.includes(far.server.controlDir))
    .map(({ pid, args }) => ({ pid, isMaster: args.includes('[mux]') }));

describe('the collector', () => {
  it('lets an empty letter keep its place while its hook waits for space, and no longer', async () => {
    const far = await startFar();
    const first = far.write('11.1', 100_000_002, 'after it');
    const other = far.write('11.2', 100_000_002, 'of another pane');
    const hook = spawn('sleep', ['100']);
    onTestFinished(() => void hook.kill('SIGKILL'));
    const place = join(far.home, 'outbox', '11.1', `100000001.${hook.pid}`);
    writeFileSync(place, '');
    const { taken } = collect(far);
    await soon(() => expect(taken).toEqual([other]));
    hook.kill('SIGKILL');
    await once(hook, 'exit');
    far.ring();
    await soon(() => expect(taken).toEqual([other, first]));
    expect(existsSync(place)).toBe(false);
  });

  it('lets no old empty letter keep its place, although its number belongs to a process', async () => {
    const far = await startFar();
    const first = far.write('11.1', 100_000_002, 'after it');
    const place = join(far.home, 'outbox', '11.1', `100000001.${process.pid}`);
    writeFileSync(place, '');
    utimesSync(place, 0, Date.now() / 1_000 - 20 * 60);
    const { taken } = collect(far);
    await soon(() => expect(taken).toEqual([first]));
    expect(existsSync(place)).toBe(false);
  });

  it.each([...loginShells(), '/bin/busybox sh'])(
    'brings all letters in order from a host with %s, and those written later',
    async (shell) => {
      const far = await startFar({ shell, banner: 'Welcome\n' });
      mkdirSync(join(far.server.home, '.config/fish'), { recursive: true });
      for (const file of ['.bashrc', '.zshenv', '.config/fish/config.fish'])
        writeFileSync(join(far.server.home, file), 'echo hello; echo "letter 1.1/100000001.1 3"\n');
      const first = far.write('11.1', 100_000_001, 'one\n\nbeat\nletter');
      const every = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
      const second = far.write('11.1', 100_000_002, every);
      const { taken, letters, connected } = collect(far);
      await soon(() => expect(taken).toEqual([first, second]));
      expect(letters.map((letter) => letter.toString('latin1'))).toEqual([
        'one\n\nbeat\nletter',
        every.toString('latin1'),
      ]);
      await connected();
      const third = far.write('11.2', 100_000_001, '\n');
      far.ring();
      await soon(() => expect(taken).toEqual([first, second, third]));
      await soon(() => expect(far.letters()).toEqual([]));
    },
  );

  it('brings 200 letters of several panes, each pane in order, while they are written', async () => {
    const far = await startFar();
    const written: string[] = [];
    for (let n = 0; n < 100; n++) written.push(far.write(`5.${n % 3}`, 100_000_001 + n, `${n}`));
    const { taken } = collect(far);
    for (let n = 100; n < 200; n++) {
      written.push(far.write(`5.${n % 3}`, 100_000_001 + n, `${n}`));
      far.ring();
    }
    await soon(() => expect(taken.length).toBe(200));
    for (const box of ['5.0/', '5.1/', '5.2/'])
      expect(taken.filter((name) => name.startsWith(box))).toEqual(written.filter((name) => name.startsWith(box)));
    await soon(() => expect(far.letters()).toEqual([]));
  });

  it.each(['/bin/sh', '/bin/busybox sh'])(
    'removes old leftovers, and nothing else, on a host with %s',
    async (shell) => {
      const far = await startFar({ shell });
      const DAY = 86_400;
      const put = (name: string, days: number) => {
        const path = join(far.home, name);
        mkdirSync(dirname(path), { recursive: true });
        if (name.endsWith('.bell')) execFileSync('mkfifo', [path]);
        else writeFileSync(path, 'x');
        const at = Date.now() / 1_000 - days * DAY;
        utimesSync(path, at, at);
      };
      const old = ['answers/a.taken', 'answers/b.bell', 'answers/.c.77', 'outbox/1.2/.77', 'status/.77'];
      for (const name of old) put(name, 1.1);
      for (const name of ['status/s.json', 'files/1/photo.png', 'files/2/x']) put(name, 31.1);
      const young = ['answers/d.taken', 'answers/e.bell', 'answers/f', 'outbox/1.2/.78', 'status/.78'];
      for (const name of young) put(name, 0.9);
      for (const name of ['status/t.json', 'files/2/y']) put(name, 29);
      put('outbox/aside/1.2-100000001.77', 40);
      const since = Date.now() / 1_000 - 31.1 * DAY;
      mkdirSync(join(far.home, 'files/3'));
      for (const folder of ['files/3', 'files']) utimesSync(join(far.home, folder), since, since);
      collect(far);
      const left = () =>
        ['answers', 'outbox', 'status', 'files'].flatMap((folder) =>
          readdirSync(join(far.home, folder), { recursive: true, encoding: 'utf8' })
            .map((name) => `${folder}/${name}`)
            .filter((name) => !/^outbox\/[^/]*$/.test(name)),
        );
      await soon(() =>
        expect(left().sort()).toEqual(
          [...young, 'status/t.json', 'files/1', 'files/2', 'files/2/y'].concat('outbox/aside/1.2-100000001.77').sort(),
        ),
      );
      expect(existsSync(join(far.home, 'files'))).toBe(true);
    },
  );

  it('costs an idle host one exec, and only heartbeats', async () => {
    const far = await startFar();
    const { states, connected } = collect(far);
    await connected();
    const { execs } = far.server.counts;
    await new Promise((resolve) => setTimeout(resolve, 3_500)); // more than three heartbeats
    expect(far.server.counts.execs).toBe(execs);
    expect(states).toEqual([{ kind: 'connected' }]);
  });

  it('takes only what drop writes, and sets aside what is too large', async () => {
    const far = await startFar();
    const names = [
      '1.1/.other',
      '1.1/12345678.1',
      '1.1/100000001',
      '1.1/100000001.1.1',
      '1.1/100000001.x',
      'x/100000001.1',
      '1.1.1/100000001.1',
      'aside/1-2',
    ];
    for (const name of names) {
      mkdirSync(join(far.home, 'outbox', name, '..'), { recursive: true });
      writeFileSync(join(far.home, 'outbox', name), 'not a letter');
    }
    mkdirSync(join(far.home, 'outbox', '1.1', '100000000.5'));
    const large = far.write('1.1', 100_000_001, '');
    truncateSync(join(far.home, 'outbox', large), 33 * 1024 * 1024);
    const fine = far.write('1.1', 100_000_002, 'fine');
    const { taken } = collect(far);
    await soon(() => expect(taken).toEqual([fine]));
    await soon(() =>
      expect([...far.letters()].sort()).toEqual([...names, '1.1/100000000.5', 'aside/1.1-100000001.77'].sort()),
    );
  });

  it('brings a letter again that could not be saved', async () => {
    const far = await startFar();
    const name = far.write('1.1', 100_000_001, 'x');
    let room = false;
    const taken: string[] = [];
    const take = (box: string, letter: string) => {
      if (!room) throw new Error('The disk is full.');
      taken.push(`${box}/${letter}`);
      return undefined;
    };
    const { states } = collect(far, undefined, { take });
    await soon(() =>
      expect(states).toContainEqual(expect.objectContaining({ kind: 'lost', because: 'The disk is full.' })),
    );
    expect(far.letters()).toEqual([name]);
    room = true;
    await soon(() => expect(taken).toEqual([name]));
    await soon(() => expect(far.letters()).toEqual([]));
  });

  it('leaves the rest on the host while there is no space, says so once, and continues', async () => {
    const far = await startFar();
    const names = [1, 2, 3].map((n) => far.write('1.1', 100_000_000 + n, `${n}`));
    let tries = 0;
    let room = 0;
    const taken: string[] = [];
    const take = (box: string, letter: string) => {
      if (taken.length >= room && tries++ >= 0) return 'full';
      taken.push(`${box}/${letter}`);
      return undefined;
    };
    const onFull = vi.fn();
    const { states } = collect(far, undefined, { take, onFull, fullMs: 20 });
    await soon(() => expect(tries).toBeGreaterThan(3));
    expect([...far.letters()].sort()).toEqual(names);
    expect(onFull).toHaveBeenCalledTimes(1);
    room = 2;
    await soon(() => expect(taken).toEqual(names.slice(0, 2)));
    await soon(() => expect(far.letters()).toEqual(names.slice(2)));
    room = 3;
    await soon(() => expect(far.letters()).toEqual([]));
    expect(taken).toEqual(names);
    expect(states.filter(({ kind }) => kind === 'lost')).toEqual([]);
  });

  it('brings the letters of other panes while those of one have no room, and stays connected', async () => {
    const far = await startFar();
    const loud = [1, 2].map((n) => far.write('1.1', 100_000_000 + n, `${n}`));
    const other = far.write('2.2', 100_000_001, 'x');
    let hasRoom = false;
    const taken: string[] = [];
    const take = (box: string, letter: string) => {
      if (box === '1.1' && !hasRoom) return 'pane-full';
      taken.push(`${box}/${letter}`);
      return undefined;
    };
    const { states } = collect(far, undefined, { take });
    await soon(() => expect([...far.letters()].sort()).toEqual(loud));
    const later = far.write('2.2', 100_000_002, 'y');
    far.ring();
    await soon(() => expect(taken).toEqual([other, later]));
    hasRoom = true;
    await soon(() => expect(far.letters()).toEqual([])); // at the next heartbeat
    expect(taken).toEqual([other, later, ...loud]);
    expect(states.map(({ kind }) => kind)).toEqual(['connected']);
  });

  it('keeps the letters of two homes on one host apart', async () => {
    const far = await startFar();
    const other = farHome(far.server, 'you');
    const mine = collect(far);
    const yours = collect(other);
    await Promise.all([mine.connected(), yours.connected()]);
    const written = [1, 2, 3].map((n) => [
      far.write('1.1', 100_000_000 + n, 'm'),
      other.write('2.2', 100_000_000 + n, 'y'),
    ]);
    far.ring();
    other.ring();
    await soon(() => expect([mine.taken, yours.taken]).toEqual([written.map(([m]) => m), written.map(([, y]) => y)]));
    expect([mine.states.length, yours.states.length]).toEqual([1, 1]);
  });

  it('says that another collector has replaced it, and does not take over at once', async () => {
    const far = await startFar();
    const old = collect(far, undefined, { backoffMs: { first: 50, longest: 60_000 } });
    await old.connected();
    const younger = collect(far);
    await soon(() =>
      expect(old.states.at(-1)).toMatchObject({ kind: 'lost', because: expect.stringContaining('Another threadmux') }),
    );
    const name = far.write('1.1', 100_000_001, 'x');
    far.ring();
    await soon(() => expect(younger.taken).toEqual([name]));
  });

  it('ends an older one that hangs, which swallows no ring of the newer one', async () => {
    const far = await startFar();
    // Without a heartbeat in the time of this test: only rings wake anyone.
    const quiet = { heartbeatSeconds: 300, backoffMs: { first: 300_000, longest: 300_000 } };
    let now = collect(far, undefined, quiet);
    await now.connected();
    for (let n = 1; n <= 8; n++) {
      const older = far.collectors();
      for (const pid of older) process.kill(pid, 'SIGSTOP'); // as on a dead connection
      now = collect(far, undefined, quiet);
      await now.connected();
      const [first, second] = [far.write('1.1', 100_000_000 + 2 * n, 'x'), far.write('1.2', 100_000_000 + 2 * n, 'y')];
      far.ring();
      await soon(() => expect(now.taken).toEqual([first, second]));
      for (const pid of older) process.kill(pid, 'SIGCONT');
      const third = far.write('1.1', 100_000_001 + 2 * n, 'z');
      far.ring();
      await soon(() => expect(now.taken).toEqual([first, second, third]));
      await soon(() => expect(far.letters()).toEqual([]));
      // It ends when it reads a ring; without one, its heartbeat ends it.
      await soon(() => {
        far.ring();
        expect(far.collectors().filter((pid) => older.includes(pid))).toEqual([]);
      });
    }
  });

  it('leaves nothing running on the host', async () => {
    const far = await startFar();
    const { connected, close } = collect(far);
    await connected();
    await soon(() => expect(far.collectors().length).toBe(2));
    await close();
    await soon(() => expect(far.collectors()).toEqual([]));
    expect(readdirSync(far.home).filter((name) => name.startsWith('collector'))).toEqual([]);
  });
});

describe('what is compared on the host', () => {
  it.each(['dash', 'bash'])(
    'is reported when it changes, with %s, and looked at seldom while nobody is there',
    { timeout: 60_000 },
    async (sh) => {
      const [tools, log] = [bareTools(), join(tempFolder(), 'naps')];
      for (const tool of ['sh', 'sleep']) rmSync(join(tools, tool));
      symlinkSync(`/bin/${sh}`, join(tools, 'sh'));
      writeFileSync(join(tools, 'sleep'), `#!/bin/sh\necho "$1" >> '${log}'\nexec /bin/sleep 0.03\n`, { mode: 0o755 });
      const far = await startFar({ path: tools });
      const [value, attached] = [join(far.home, 'value'), join(far.home, 'attached')];
      writeFileSync(value, 'one\n');
      const onMoved = vi.fn();
      const compared = ['cat "$1"; [ -e "$2" ]', value, attached] as const;
      const { connected, close } = collect(far, undefined, { compared, onMoved, heartbeatSeconds: 7 });
      await connected();
      const naps = () => readFileSync(log, 'utf8').trim().split('\n');
      const isSeldom = () => expect(naps().slice(-8)).toEqual(Array(8).fill('7'));
      const isOften = () => expect(naps().slice(-20)).toContain('1');
      await soon(isSeldom);
      expect(onMoved).not.toHaveBeenCalled();
      writeFileSync(value, 'two\n');
      await soon(() => expect(onMoved.mock.calls.length).toBeGreaterThan(0));
      isOften();
      await soon(isSeldom);
      writeFileSync(attached, '');
      await soon(isOften);
      const before = naps().length;
      await soon(() => expect(naps().length).toBeGreaterThan(before + 150));
      isOften();
      await close();
      await soon(() => expect(far.collectors()).toEqual([]));
    },
  );
});

describe('a lost connection', () => {
  const faults: readonly [string, (far: Far) => void][] = [
    [
      'its ssh client is killed',
      (far) =>
        kill(
          sshClients(far)
            .filter(({ isMaster }) => !isMaster)
            .map(({ pid }) => pid),
        ),
    ],
    [
      'the shared connection is killed',
      (far) =>
        kill(
          sshClients(far)
            .filter(({ isMaster }) => isMaster)
            .map(({ pid }) => pid),
        ),
    ],
    ['the collector on the host is killed', (far) => kill(far.collectors())],
    ['the network is cut', (far) => far.server.drop()],
  ];
  it.each(faults)('loses nothing when %s, and recovers', async (_, fault) => {
    const far = await startFar();
    const { taken, connected } = collect(far);
    await connected();
    const written: string[] = [];
    for (let n = 1; n <= 60; n++) {
      written.push(far.write('1.1', 100_000_000 + n, `${n}`));
      far.ring();
      if (n % 20 === 10) {
        await soon(() => expect(taken.length).toBeGreaterThanOrEqual(n - 9));
        fault(far);
      }
    }
    await soon(() => expect([...new Set(taken)]).toEqual(written));
    await soon(() => expect(far.letters()).toEqual([]));
    expect(taken.length).toBeLessThanOrEqual(63); // a letter is sent again at most once per fault
    await soon(() => expect(far.collectors().length).toBe(2));
  });

  it('is noticed when the host only falls silent, and the waiting letters follow', async () => {
    const far = await startFar();
    const { taken, states, connected, tryNow } = collect(far, far.server.host({ timeoutMs: 2_000 }), {
      backoffMs: { first: 60_000, longest: 60_000 },
    });
    await connected();
    far.server.faults.frozen = true;
    const name = far.write('1.1', 100_000_001, 'x');
    far.ring();
    await soon(() => expect(states.at(-1)).toMatchObject({ kind: 'lost', because: 'far has not answered for 3 s.' }));
    far.server.faults.frozen = false;
    far.server.drop();
    tryNow();
    await soon(() => expect([...new Set(taken)]).toEqual([name]));
    await soon(() => expect(far.collectors().length).toBe(2));
  });

  it('is retried with growing pauses while the host is unreachable', async () => {
    const far = await startFar();
    const { states, connected, taken } = collect(far);
    await connected();
    await far.server.stop();
    const name = far.write('1.1', 100_000_001, 'x');
    await soon(() => expect(states.length).toBeGreaterThan(4));
    const lost = states.slice(2).map((state) => (state.kind === 'lost' ? state : undefined));
    expect(lost[0]?.because).toContain('refused');
    await far.server.start();
    await soon(() => expect(taken).toEqual([name]));
  });

  it('brings the letter again when we were killed between saving and acknowledging it', async () => {
    const far = await startFar();
    const [first, second] = [far.write('1.1', 100_000_001, 'x'), far.write('1.1', 100_000_002, 'y')];
    const dist = fileURLToPath(new URL('../../dist/hosts', import.meta.url));
    const { configFile, controlDir } = far.server;
    const program = `
      import { appendFileSync } from 'node:fs';
      import { keepCollecting } from '${dist}/collect-letters.js';
      import { sshHost } from '${dist}/ssh.js';
      const host = sshHost(${JSON.stringify({ name: 'far', ssh: 'far', configFile, controlDir, env: { PATH: process.env.PATH } })});
      keepCollecting({ host, home: ${JSON.stringify(far.home)}, signal: new AbortController().signal, onState() {}, take(box, name) {
        appendFileSync(${JSON.stringify(join(far.home, 'saved'))}, box + '/' + name + '\\n');
        if (name.startsWith('100000002')) process.kill(process.pid, 'SIGKILL');
      } });`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: 'inherit' });
    await once(child, 'exit');
    expect(readFileSync(join(far.home, 'saved'), 'utf8')).toBe(`${first}\n${second}\n`);
    expect(far.letters()).toEqual([second]);
    const { taken } = collect(far);
    await soon(() => expect(taken).toEqual([second]));
    await soon(() => expect(far.letters()).toEqual([]));
  });
});

describe('the output of a hostile host', () => {
  const read = (text: string) => [...letterReader().read(Buffer.from(text))];
  it.each([
    ['a name with a path', 'letter ../../x/100000001.1 1\nx\n'],
    ['a name that drop does not give', 'letter 1.1/..1 1\nx\n'],
    ['a letter without end', `letter 1.1/100000001.1 ${33 * 1024 * 1024}\n`],
    ['a line without end', 'b'.repeat(121)],
    ['a size that is not true', 'letter 1.1/100000001.1 1\nxy\n'],
  ])('is refused: %s', (_, text) => {
    expect(() => read(text)).toThrow('invalid data');
  });

  it('is read in linear time', () => {
    const from = process.cpuUsage();
    read('beat\n'.repeat(100_000));
    const { user, system } = process.cpuUsage(from);
    expect(user + system).toBeLessThan(2_000_000);
  });

  it('needs no more memory in small chunks than in large ones', () => {
    setFlagsFromString('--expose-gc');
    const collectGarbage = runInNewContext('gc') as () => void;
    const used = () => {
      collectGarbage();
      const { heapUsed, external } = process.memoryUsage();
      return (heapUsed + external) / 2 ** 20;
    };
    const reader = letterReader();
    const before = used();
    expect([...reader.read(Buffer.from('letter 1.1/100000001.1 200000\n'))]).toEqual([]);
    for (let n = 0; n < 200_000; n++) for (const _ of reader.read(Buffer.from('x'))) throw new Error('too early');
    expect(used() - before).toBeLessThan(10);
    expect([...reader.read(Buffer.from('\n'))]).toMatchObject([{ letter: Buffer.alloc(200_000, 'x') }]);
  });

  it('is read in chunks of any size', () => {
    const reader = letterReader();
    const text = 'beat\nletter 1.1/100000001.1 5\na\nb\nc\nskip 1.1/100000002.1 99\nreplaced\n';
    const lines = [...text].flatMap((byte) => [...reader.read(Buffer.from(byte))]);
    expect(lines.map(({ kind }) => kind)).toEqual(['beat', 'letter', 'skip', 'replaced']);
    expect(lines[1]).toMatchObject({ box: '1.1', name: '100000001.1', letter: Buffer.from('a\nb\nc') });
  });
});

function kill(pids: readonly number[]): void {
  expect(pids.length).toBeGreaterThan(0);
  pids.forEach(killNow);
}

import { spawn, spawnSync } from 'node:child_process';
import fs, {
  existsSync,
  lchownSync,
  linkSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join, resolve } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { isAnswering } from '../../home/answering-path.ts';
import { type AttachRules, takeOutgoingFiles, takeOutgoingRemoteFiles } from '../../hooks/outgoing-files.ts';
import { type Host, localHost } from '../../hosts/host.ts';
import { openTestCourier } from '../support/courier-setup.ts';
import { messagesIn, startMachine, stopInput } from '../support/hook-process.ts';
import { tempFolder } from '../support/temp-home.ts';
import { startTestWorkspace } from '../support/workspace.ts';

function project() {
  const folder = tempFolder();
  const root = join(folder, 'shop');
  const files = join(folder, 'home', 'files');
  const out = join(folder, 'elsewhere');
  for (const path of [join(root, 'src'), join(root, '.git'), join(root, 'dir'), files, out])
    mkdirSync(path, { recursive: true });
  writeFileSync(join(root, 'report.pdf'), 'a report');
  writeFileSync(join(root, 'src', 'deep.txt'), 'deep');
  writeFileSync(join(root, 'two words.txt'), 'two words');
  writeFileSync(join(root, '.env'), 'SECRET=1');
  writeFileSync(join(root, '.git', 'config'), 'secret');
  writeFileSync(join(root, 'large.bin'), Buffer.alloc(3_000));
  writeFileSync(join(files, 'shared.txt'), 'shared');
  writeFileSync(join(out, 'secret.txt'), 'secret');
  symlinkSync(join(out, 'secret.txt'), join(root, 'link-out.txt'));
  symlinkSync(out, join(root, 'folder-out'));
  symlinkSync(join(root, 'report.pdf'), join(root, 'link-in.pdf'));
  symlinkSync(join(root, '.env'), join(root, 'env.txt'));
  symlinkSync('loop', join(root, 'loop'));
  linkSync(join(out, 'secret.txt'), join(root, 'hard.txt'));
  spawnSync('mkfifo', [join(root, 'pipe')]);
  const rules: AttachRules = {
    roots: [files, root],
    home: join(folder, 'home'),
    cwd: root,
    homeDir: folder,
    maxBytes: 2_000,
  };
  return { folder, root, files, out, rules };
}

/** Only root can give a link to another user; for everybody else, the user is another one from now on. */
function giveToAnother(link: string, bin: string): void {
  const uid = process.getuid?.() ?? 0;
  if (uid === 0) return lchownSync(link, 65_534, 65_534);
  const asked = vi.spyOn(process, 'getuid').mockReturnValue(uid + 1);
  onTestFinished(() => asked.mockRestore());
  mkdirSync(bin);
  writeFileSync(join(bin, 'id'), `#!/bin/sh\necho ${uid + 1}\n`, { mode: 0o755 });
}

/** Another process of the project: `swap` alternates between a folder and a link. */
const SWAP = `const { renameSync, writeFileSync } = require('node:fs');
writeFileSync('swapping', '');
for (;;) {
  renameSync('swap', 'folder');
  renameSync('link', 'swap');
  renameSync('swap', 'link');
  renameSync('folder', 'swap');
}`;

const take = (path: string, rules: AttachRules) => takeOutgoingFiles(`[ATTACH: ${path}]`, rules);

const hasFiles = (body: unknown) => ((body as { attachments?: readonly unknown[] }).attachments?.length ?? 0) > 0;

describe('[ATTACH: path]', () => {
  it.each([
    ['a file of the project', 'report.pdf', 'report.pdf', 'a report'],
    ['one in a folder', './src/deep.txt', 'deep.txt', 'deep'],
    ['one with blanks in its name', ' two words.txt ', 'two words.txt', 'two words'],
    ['a link to a file of the project', 'link-in.pdf', 'report.pdf', 'a report'],
    ['a way out and back in', '../shop/report.pdf', 'report.pdf', 'a report'],
    ['one of the files folder', '~/home/files/shared.txt', 'shared.txt', 'shared'],
  ])('sends %s', async (_, path, name, content) => {
    const { rules } = project();
    const { files, refused, text } = await take(path, rules);
    expect(refused).toEqual([]);
    expect(text).toBe('');
    expect(files.map((file) => [file.name, Buffer.from(file.data as Uint8Array).toString()])).toEqual([
      [name, content],
    ]);
  });

  it.each([
    ['a file outside', '../elsewhere/secret.txt', 'outside'],
    ['an absolute path outside', '/etc/passwd', 'outside'],
    ['a link to a file outside', 'link-out.txt', 'outside'],
    ['a file below a link to a folder outside', 'folder-out/secret.txt', 'outside'],
    ['the project itself', '.', 'outside'],
    ['a hidden file', '.env', 'hidden'],
    ['a link to a hidden file', 'env.txt', 'hidden'],
    ['a file in a hidden folder', '.git/config', 'hidden'],
    ['a folder', 'dir', 'not a file'],
    ['a pipe', 'pipe', 'not a file'],
    ['a second name of a file elsewhere', 'hard.txt', 'hard link'],
    ['a file that is too large', 'large.bin', 'larger than'],
    ['a missing file', 'nothing.txt', 'no such file'],
    ['a broken link', 'loop', 'no such file'],
    ['a name with a zero byte', 'report.pdf\0.png', 'not a path'],
  ])('refuses %s, and names it', async (_, path, because) => {
    const { rules } = project();
    const { files, refused } = await take(path, rules);
    expect(files).toEqual([]);
    expect(refused).toHaveLength(1);
    expect(refused[0]).toContain(because);
    expect(refused[0]).toContain(`\`${path.replace('\0', '⟨U+0000⟩')}\``);
  });

  it.each([
    ['the environment of this process', '/proc/self/environ', 'belongs to the system'],
    ['a file of the kernel', '/sys/kernel/notes', 'belongs to the system'],
    ['a device', '/dev/null', 'belongs to the system'],
    ['our configuration', 'home/config.json', 'belongs to threadmux'],
    ['a link to our configuration', 'shop/config.json', 'belongs to threadmux'],
  ])('refuses %s even with "/" as the project', async (_, path, because) => {
    const { folder, rules } = project();
    writeFileSync(join(folder, 'home', 'config.json'), '{"token": "secret"}');
    symlinkSync(join(folder, 'home', 'config.json'), join(folder, 'shop', 'config.json'));
    const open = { ...rules, roots: ['/'], cwd: folder, maxBytes: 1e6 };
    const { files, refused } = await take(path, open);
    expect(files).toEqual([]);
    expect(refused).toEqual([expect.stringContaining(because)]);
    expect((await take('shop/report.pdf', open)).refused).toEqual([]);
    expect((await take('home/files/shared.txt', open)).refused).toEqual([]);
  });

  it.each([
    ['here', async (text: string, rules: AttachRules) => takeOutgoingFiles(text, rules)],
    [
      'on another host',
      (text: string, { home, cwd, roots }: AttachRules) => {
        const host = localHost({ name: 'mini', env: process.env });
        return takeOutgoingRemoteFiles(text, { host, home: join(home, 'for', 'me'), cwd, project: roots[0] ?? '' });
      },
    ],
  ])('sends files of the worktree of the session, and nothing else of our home, %s', async (_, takeThere) => {
    const home = join(tempFolder(), 'home');
    const all = join(home, 'worktrees');
    const [mine, other] = ['web', 'other'].map((name) => join(all, 'shop', name)) as [string, string];
    for (const path of [join(mine, 'src'), other, join(all, '.removing', 'shop.web'), join(home, 'for', 'me', 'files')])
      mkdirSync(path, { recursive: true });
    writeFileSync(join(mine, 'src', 'a.txt'), 'mine');
    writeFileSync(join(mine, 'b.txt'), 'mine');
    for (const path of [join(other, 'x'), `${mine}.record`, join(all, '.removing', 'shop.web', 'x'), join(home, 'x')])
      writeFileSync(path, 'secret');
    const rules = (root: string) => ({ roots: [root], cwd: root, home, homeDir: home });
    const names = ['src/a.txt', 'b.txt', '../other/x', '../web.record', '../../.removing/shop.web/x', '../../../x'];
    const text = names.map((name) => `[ATTACH: ${name}]`).join('\n');
    const { files, refused } = await takeThere(text, rules(mine));
    expect(files.map(({ name }) => name)).toEqual(['a.txt', 'b.txt']);
    expect(refused).toHaveLength(4);
    const wider = await takeThere('[ATTACH: x]\n[ATTACH: worktrees/shop/web.record]', rules(home));
    expect(wider.files).toEqual([]);
  });

  it.each(['here', 'on another host'])(
    'sends nothing of our home or of the system from where it is mounted again, %s',
    (where) => {
      const namespace = ['-r', '-m'];
      if (spawnSync('unshare', [...namespace, 'true']).status !== 0) return; // not allowed here, or not Linux
      const { root, folder, rules } = project();
      const home = where === 'here' ? rules.home : join(rules.home, 'for', 'me');
      mkdirSync(join(home, 'files'), { recursive: true });
      writeFileSync(join(rules.home, 'config.json'), 'secret');
      const mounts = { home: rules.home, above: folder, proc: '/proc', dev: '/dev' };
      for (const name of Object.keys(mounts)) mkdirSync(join(root, 'mounted', name), { recursive: true });
      const script = Object.entries(mounts).map(([name, from]) => `mount --rbind '${from}' 'mounted/${name}' &&`);
      const paths = ['home/config.json', 'above/home/config.json', 'proc/version', 'dev/null', 'above/shop/report.pdf'];
      const text = paths.map((path) => `[ATTACH: mounted/${path}]`).join('\n');
      const there = { ...rules, home, project: root };
      const program = `import * as all from '${resolve('dist/hooks/outgoing-files.js')}';
      import { localHost } from '${resolve('dist/hosts/host.js')}';
      const rules = { ...${JSON.stringify(there)}, host: localHost({ name: 'far', env: process.env }) };
      const text = ${JSON.stringify(text)};
      const taken = await all.${where === 'here' ? 'takeOutgoingFiles' : 'takeOutgoingRemoteFiles'}(text, rules);
      console.log(JSON.stringify([taken.files.map(({ name }) => name), taken.refused]));`;
      const command = [...script, process.execPath, '--input-type=module', '-e', '"$1"'].join(' ');
      const ran = spawnSync('unshare', [...namespace, 'sh', '-c', command, 'sh', program], {
        cwd: root,
        encoding: 'utf8',
      });
      const [sent, refused] = JSON.parse(ran.stdout);
      expect(sent).toEqual(['report.pdf']);
      const [ours, system] = [/belongs to threadmux/, /belongs to the system/].map((one) => expect.stringMatching(one));
      expect(refused).toEqual([ours, ours, system, system]);
    },
  );

  it('sends nothing from outside while a folder is repeatedly exchanged for a link', async () => {
    const { root, out, rules } = project();
    // Deep below the folder, so that much time passes between the check and opening the file.
    const deep = join(...Array<string>(30).fill('d'));
    for (const [folder, content] of [
      [join(root, 'swap'), 'harmless'],
      [out, 'secret'],
    ] as const) {
      mkdirSync(join(folder, deep), { recursive: true });
      writeFileSync(join(folder, deep, 'x.txt'), content);
    }
    symlinkSync(out, join(root, 'link'));
    const swapper = spawn(process.execPath, ['-e', SWAP], { cwd: root, stdio: 'ignore' });
    onTestFinished(() => void swapper.kill('SIGKILL'));
    await vi.waitFor(() => expect(existsSync(join(root, 'swapping'))).toBe(true), 20_000);
    const seen = new Map<string, number>();
    // Many in one reply, because a process looks first whether they can be looked at.
    const path = join('swap', deep, 'x.txt');
    const text = Array.from({ length: 20 }, (_, at) => `[ATTACH: ${'./'.repeat(at)}${path}]`).join('\n');
    const count = (what: string) => seen.set(what, (seen.get(what) ?? 0) + 1);
    for (let tries = 0; tries < 10_000 && (seen.get('harmless') ?? 0) < 1_000; tries++) {
      const { files, refused } = await takeOutgoingFiles(text, rules);
      for (const { data } of files) count(Buffer.from(data as Uint8Array).toString());
      if (refused.length > 0) count('refused');
    }
    expect([...seen.keys()].sort()).toEqual(['harmless', 'refused']);
  });

  it('sends no hard link whose name is just being replaced', async () => {
    const { root, out, rules } = project();
    const name = join(root, 'hard.txt');
    writeFileSync(join(root, 'other'), 'of the project');
    // In the middle of rename(2): the file is counted without this name, which still leads to it until the folder can be read.
    const { fstatSync, opendirSync } = fs;
    const stat = vi
      .spyOn(fs, 'fstatSync')
      .mockImplementation(((fd: number) => Object.assign(fstatSync(fd), { nlink: 1 })) as typeof fs.fstatSync);
    const list = vi.spyOn(fs, 'opendirSync').mockImplementation((path) => {
      fs.renameSync(join(root, 'other'), name);
      return opendirSync(path);
    });
    syncBuiltinESMExports();
    onTestFinished(() => {
      for (const one of [stat, list]) one.mockRestore();
      syncBuiltinESMExports();
    });
    expect(existsSync(join(out, 'secret.txt'))).toBe(true);
    expect(await take('hard.txt', rules)).toMatchObject({
      files: [],
      refused: ['`hard.txt`: it was replaced while it was read'],
    });
  });

  it('sends nothing from a folder that cannot be read: nobody could wait there until a name is replaced', async () => {
    const { rules } = project();
    const list = vi.spyOn(fs, 'opendirSync').mockImplementation(() => {
      throw new Error('EACCES'); // root can read every folder
    });
    syncBuiltinESMExports();
    onTestFinished(() => {
      list.mockRestore();
      syncBuiltinESMExports();
    });
    expect(await take('report.pdf', rules)).toMatchObject({
      files: [],
      refused: ['`report.pdf`: its folder cannot be read'],
    });
  });

  it.each(['here', 'on another host'])('sends nothing if another user made the project a link, %s', async (where) => {
    const { folder, root, out, rules } = project();
    writeFileSync(join(out, 'report.pdf'), 'secret');
    const host = localHost({ name: 'mini', env: { PATH: `${join(folder, 'bin')}:${process.env.PATH}` } });
    const far = { host, home: rules.home, project: root, cwd: root };
    const attach = async () =>
      where === 'here' ? take('report.pdf', rules) : takeOutgoingRemoteFiles('[ATTACH: report.pdf]', far);
    const contents = async () => (await attach()).files.map(({ data }) => Buffer.from(data as Uint8Array).toString());
    expect(await contents()).toEqual(['a report']);
    renameSync(root, `${root}.old`);
    symlinkSync('link', root);
    symlinkSync(`${root}.old`, join(folder, 'link'));
    expect(await contents()).toEqual(['a report']); // the user's own
    rmSync(join(folder, 'link'));
    symlinkSync(out, join(folder, 'link'));
    giveToAnother(join(folder, 'link'), join(folder, 'bin'));
    expect(await contents()).toEqual([]);
    expect((await attach()).refused).toEqual([expect.stringContaining('outside the project')]);
  });

  it('is parsed in linear time', async () => {
    const { rules } = project();
    const text = `[ATTACH:${' '.repeat(200_000)}`; // once took hours
    expect(await takeOutgoingFiles(text, rules)).toEqual({ text, files: [], refused: [] });
  });

  it('accepts no more files than one message can hold', async () => {
    const { root, rules } = project();
    const names = Array.from({ length: 12 }, (_, n) => `f${n}.txt`);
    for (const name of names) writeFileSync(join(root, name), 'x'.repeat(1_000));
    const text = names.map((name) => `[ATTACH: ${name}]`).join('\n');
    expect((await takeOutgoingFiles(text, rules)).files).toHaveLength(10);
    expect((await takeOutgoingFiles(text, rules)).refused).toHaveLength(2);
    const small = await takeOutgoingFiles(text, { ...rules, maxTotalBytes: 2_500 });
    expect([small.files.length, small.refused.length]).toEqual([2, 10]);
  });

  it('reads each file once, and no more than fits, however often it is named', async () => {
    const { root, rules } = project();
    const read = vi.spyOn(fs, 'readSync');
    syncBuiltinESMExports();
    onTestFinished(() => {
      read.mockRestore();
      syncBuiltinESMExports();
    });
    const same = await takeOutgoingFiles('[ATTACH: report.pdf]\n'.repeat(4_000), rules);
    expect([same.files.length, same.refused.length]).toEqual([1, 0]);
    const names = Array.from({ length: 50 }, (_, n) => `f${n}.txt`);
    for (const name of names) writeFileSync(join(root, name), 'x'.repeat(1_000));
    const text = names.map((name) => `[ATTACH: ${name}]`).join('\n');
    read.mockClear();
    const many = await takeOutgoingFiles(text, { ...rules, maxTotalBytes: 2_500 });
    expect(many.files).toHaveLength(2);
    expect(many.refused).toHaveLength(19);
    expect(many.refused.at(-1)).toBe('30 more: more files than one message can hold');
    expect(read).toHaveBeenCalledTimes(2);
  });

  it('may be written as [DISCORD_ATTACH: path]', async () => {
    const { rules } = project();
    const { files, text } = await takeOutgoingFiles('Here.\n  [DISCORD_ATTACH: report.pdf]\n[OTHER_ATTACH: x]', rules);
    expect(files.map(({ name }) => name)).toEqual(['report.pdf']);
    expect(text).toBe('Here.\n[OTHER_ATTACH: x]');
  });

  it('is plain text in a code block or in a sentence', async () => {
    const { rules } = project();
    const text = [
      'Write [ATTACH: report.pdf] to send it:',
      '```',
      '[ATTACH: report.pdf]',
      '```',
      '~~~~',
      '~~~',
      '[ATTACH: report.pdf]',
      '~~~~',
    ].join('\n');
    expect(await takeOutgoingFiles(text, rules)).toEqual({ text, files: [], refused: [] });
  });

  it('arrives with the reply, which names what was refused', async () => {
    const workspace = await startTestWorkspace();
    const machine = startMachine(workspace);
    const { root } = project();
    const text = 'Here it is.\n[ATTACH: report.pdf]\n[ATTACH: ../elsewhere/secret.txt]';
    await openTestCourier(machine).deliver(machine.session('web'), stopInput(text, { cwd: root }));
    const [message] = await messagesIn(workspace, '[agent] web');
    expect(message?.attachments.map(({ filename }) => filename)).toEqual(['report.pdf']);
    expect(message?.content).toContain('Here it is.\n📎 not attached: `../elsewhere/secret.txt`: ');
    expect(message?.content).not.toContain('ATTACH');
  });

  it('does not delay the text if the server refuses a file of that size', async () => {
    const workspace = await startTestWorkspace({
      faults: {
        onRequest: ({ method, path, body }) =>
          method === 'POST' && path.endsWith('/messages') && hasFiles(body)
            ? { kind: 'answer', status: 413, body: { code: 40005, message: 'too large' } }
            : undefined,
      },
    });
    const machine = startMachine(workspace);
    const { root } = project();
    const text = 'Here it is.\n[ATTACH: report.pdf]';
    await openTestCourier(machine).deliver(machine.session('web'), stopInput(text, { cwd: root }));
    const [message] = await messagesIn(workspace, '[agent] web');
    expect(message?.content).toContain('Here it is.');
    expect(message?.content).toMatch(/not attached.*report\.pdf/);
  });
});

describe('a hostile host', () => {
  it('has its refusals shown as code, and gets a limited number of requests', async () => {
    let asked = 0;
    const sh = async () => `no [sign in](https://example.org) ${++asked}\n`;
    const host = { name: 'mini', sh } as unknown as Host;
    const text = Array.from({ length: 500 }, (_, n) => `[ATTACH: ${n % 400}.txt]`).join('\n');
    const { refused } = await takeOutgoingRemoteFiles(text, { host, home: '/h', project: '/p', cwd: '/p' });
    expect(refused[0]).toBe('`0.txt`: `[sign in](https://example.org) 1`');
    expect(refused.at(-1)).toBe('380 more: more files than one message can hold');
    expect([asked, refused.length]).toEqual([20, 21]);
  });
});

describe('a file on another host', () => {
  /** Another process of the project acts each time the script looks at a file. */
  function far({ before = ':', after = ':', output = 'cat' }) {
    const { folder, root, out, rules } = project();
    const bin = join(folder, 'bin');
    mkdirSync(bin);
    const script = `#!/bin/sh\nasked=$*\n(cd "${root}"; ${before})\n/bin/ls "$@" | ${output}\ncd "${root}"; ${after}\n`;
    writeFileSync(join(bin, 'ls'), script, { mode: 0o755 });
    const host = localHost({ name: 'mini', env: { PATH: `${bin}:${process.env.PATH}` } });
    const take = () => takeOutgoingRemoteFiles('[ATTACH: x.txt]', { host, home: rules.home, project: root, cwd: root });
    return { root, out, take };
  }

  it.each([0, 1])('is not sent if its name led elsewhere when it was opened (%i)', async (turns) => {
    const { root, out, take } = far({
      before: `n=$(wc -l < turns); echo >> turns
          if [ $((n % 2)) = 0 ]; then rm x.txt; mv calm x.txt
          else mv x.txt calm; ln ../elsewhere/secret.txt x.txt; fi`,
    });
    rmSync(join(root, 'hard.txt'));
    writeFileSync(join(root, 'calm'), 'harmless');
    if (turns === 0) linkSync(join(out, 'secret.txt'), join(root, 'x.txt'));
    else writeFileSync(join(root, 'x.txt'), 'harmless');
    writeFileSync(join(root, 'turns'), '\n'.repeat(turns));
    for (let tries = 0; tries < 3; tries++) {
      const { files } = await take();
      for (const { data } of files) expect(Buffer.from(data as Uint8Array).toString()).toBe('harmless');
    }
  });

  it('is not sent if it is a hard link whose name is just being replaced', async () => {
    // In the middle of rename(2): the file is counted without this name, which still leads to it until the folder can be read.
    const { root, out, take } = far({
      before: `case $asked in '-a .') mv other x.txt;; esac`,
      output: `sed 's/^\\( *[0-9]* -[^ ]*\\) *2 /\\1 1 /'`,
    });
    rmSync(join(root, 'hard.txt'));
    linkSync(join(out, 'secret.txt'), join(root, 'x.txt'));
    writeFileSync(join(root, 'other'), 'of the project');
    expect(await take()).toMatchObject({ files: [], refused: [expect.stringContaining('replaced while it was read')] });
  });

  it('that grows while it is read is refused, not read without a limit', async () => {
    const { root, take } = far({ after: 'truncate -s 40M x.txt' });
    writeFileSync(join(root, 'x.txt'), 'small');
    expect(await take()).toMatchObject({ files: [], refused: [expect.stringContaining('larger than 10 MiB')] });
  });

  it('that does not change is sent whole', async () => {
    const { root, take } = far({});
    writeFileSync(join(root, 'x.txt'), Buffer.alloc(200_000, 'abc'));
    const { files, refused } = await take();
    expect(refused).toEqual([]);
    expect(Buffer.compare(files[0]?.data as Buffer, Buffer.alloc(200_000, 'abc'))).toBe(0);
  });
});

it('a file system that does not answer holds up nothing but its reply, and is asked once', async () => {
  const { rules, root } = project();
  const asked = join(tempFolder(), 'asked');
  const hanging = ['/bin/sh', '-c', `echo >> '${asked}'; exec sleep 600`] as const;
  const text = '[ATTACH: a.txt]\n[ATTACH: b.txt]\nThe report.';
  const {
    files,
    refused,
    text: kept,
  } = await takeOutgoingFiles(text, { ...rules, look: { command: hanging, withinMs: 300 } });
  expect([files, kept]).toEqual([[], 'The report.']);
  expect(refused).toEqual(['`a.txt`: its file system does not answer', '`b.txt`: its file system does not answer']);
  expect(readFileSync(asked, 'utf8')).toBe('\n');
  expect(await isAnswering([root, join(root, 'not there')])).toBe(true);
});

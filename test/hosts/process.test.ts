import { describe, expect, it } from 'vitest';
import { localHost } from '../../hosts/host.ts';
import { connectionFailed, frameScript, readFrame, scriptFailed } from '../../hosts/host-errors.ts';
import { runProcess } from '../../hosts/process.ts';

const ENV = { PATH: process.env.PATH ?? '' };
const sh = (script: string, options: Partial<Parameters<typeof runProcess>[2]> = {}) =>
  runProcess('sh', ['-c', script], { env: ENV, timeoutMs: 20_000, ...options });

/** Blocks the event loop, like heavy load. */
function block(ms: number): void {
  for (const until = performance.now() + ms; performance.now() < until; );
}

describe('a child process', () => {
  it('loses none of its output, even if it is read long after its end', async () => {
    const onBegin = () => {
      block(900);
      setImmediate(() => block(600)); // between the end of the second one and the next read
    };
    const first = sh('echo begin', { frame: { begin: 'begin\n', isWhole: () => false, onBegin } });
    const second = sh('sleep 0.6; echo late; echo words >&2');
    block(300); // both have ended before they are read: the second one while the first is read
    expect(await second).toMatchObject({ stdout: 'late\n', stderr: 'words\n', status: 0 });
    await first;
  });

  it('is read to its end when a leftover process holds its pipes', async () => {
    const script = 'sleep 60 & echo "$!"; head -c 500000 /dev/zero | tr "\\0" x; echo end';
    const busy = setInterval(() => block(400), 1);
    const ran = await sh(script).finally(() => clearInterval(busy));
    const [pid = '', rest = ''] = ran.stdout.split('\n');
    process.kill(Number(pid));
    expect([rest.length, rest.endsWith('xend')]).toEqual([500_003, true]);
  });

  it('ends when it has exited, even if a leftover process keeps printing', async () => {
    const ran = await sh('(while :; do echo y; sleep 0.05; done) & echo "$!"; exit 3', { timeoutMs: 2000 });
    process.kill(Number(/^\d+$/m.exec(ran.stdout)?.[0])); // the other process may be the first to print
    expect(ran).toMatchObject({ status: 3, ended: 'itself' });
  });

  it('keeps only the end of its stderr', async () => {
    const { stderr } = await sh('head -c 3000000 /dev/zero | tr "\\0" @ >&2; echo why >&2');
    expect(stderr).toHaveLength(16 * 1024);
    expect(stderr).toMatch(/@why\n$/);
  });

  it('ignores output before its frame begins', async () => {
    const begun: string[] = [];
    const frame = { begin: '\nbegin\n', isWhole: () => true, onBegin: () => begun.push('begun') };
    const noise = 'head -c 20000000 /dev/zero | tr "\\0" @; printf "\\nbeg"; sleep 0.2';
    const ran = await sh(`${noise}; printf "in\\nwords"`, { frame });
    expect(ran.stdout).toBe('\nbegin\nwords');
    expect(begun).toEqual(['begun']);
    expect(await sh(`${noise}; printf "in\\nwords"`, { frame, maxBytes: 100 })).toMatchObject({ ended: 'itself' });
  });
});

describe('the error output of a host', () => {
  const ran = { stdout: '', status: 0, ended: 'itself' } as const;

  it('is cut to one short line, however long it is', () => {
    const stderr = `${'@ '.repeat(4_000_000)}x${' @'.repeat(4_000_000)}\n`;
    const { message } = connectionFailed('web', 'web', 'look', { ...ran, stderr }, true);
    expect(message.length).toBeLessThan(500);
    const framed = { stdout: '', stderr: `${'error connecting to '.repeat(100_000)}\n`, status: 1 };
    expect(scriptFailed('web', 'look', framed).message.length).toBeLessThan(500);
  });

  it('never shows our own marker lines', async () => {
    const { mark } = frameScript('true');
    const stderr = `oops\n\nthreadmux-begin-${mark}\n`;
    const { message } = connectionFailed('web', 'web', 'look', { ...ran, stderr }, true);
    expect(message).toContain('oops');
    expect(message).not.toContain('threadmux-begin');
    expect(readFrame('', stderr, mark)).toBeUndefined();
    const host = localHost({ name: 'here', env: ENV });
    await expect(host.sh('kill -9 $$', [])).rejects.toThrow(/^((?!threadmux-(begin|end)).)*$/s);
  });
});

import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { openOutbox } from '../../hooks/outbox.ts';
import { tempFolder } from '../support/temp-home.ts';

function drop(box: string, name: string): string {
  mkdirSync(box, { recursive: true });
  writeFileSync(join(box, '.temp'), 'a letter');
  renameSync(join(box, '.temp'), join(box, name));
  return join(box, name);
}

describe('the outbox', () => {
  it('recognises letters by their names, and orders them by number', () => {
    const folder = tempFolder();
    const box = join(folder, '42.7');
    const first = drop(box, '100000001.99');
    const second = drop(box, '100000002.3');
    const unsaved = drop(box, '1794793408796.5');
    for (const other of ['.77', 'notes', '12.5']) writeFileSync(join(box, other), '');
    drop(join(folder, 'aside'), '100000001.1');
    const outbox = openOutbox(folder);
    expect(outbox.boxes()).toEqual(['42.7']);
    expect(outbox.letters('42.7')).toEqual([first, second, unsaved]);
  });

  it('replaces no letter that the same program has added in the same millisecond', () => {
    const outbox = openOutbox(tempFolder());
    const texts = Array.from({ length: 50 }, (_, at) => `letter ${at}`);
    for (const text of texts) outbox.add('42.7', text);
    expect(outbox.letters('42.7').map((path) => readFileSync(path, 'utf8'))).toEqual(texts);
  });

  it('reports a letter at once, in a known folder and in a new one', async () => {
    const folder = tempFolder();
    rmSync(drop(join(folder, '42.7'), '100000001.1'));
    const heard: string[] = [];
    onTestFinished(openOutbox(folder).watch((box) => heard.push(box)));
    heard.length = 0;
    drop(join(folder, '42.7'), '100000001.2');
    await vi.waitFor(() => expect(heard).toContain('42.7'), { timeout: 500, interval: 5 });
    drop(join(folder, '42.8'), '100000001.3');
    await vi.waitFor(() => expect(heard).toContain('42.8'), { timeout: 500, interval: 5 });
    heard.length = 0;
    // The same name again, as with a reused pid.
    rmSync(join(folder, '42.8', '100000001.3'));
    drop(join(folder, '42.8'), '100000001.3');
    await vi.waitFor(() => expect(heard).toContain('42.8'), { timeout: 500, interval: 5 });
  });

  it('removes the folders of panes that have long been silent, but never one with a letter', () => {
    const folder = tempFolder();
    const old = new Date(Date.now() - 2 * 86_400_000);
    for (const box of ['1.1', '1.2', '1.3']) mkdirSync(join(folder, box));
    drop(join(folder, '1.2'), '100000001.1');
    for (const box of ['1.1', '1.2', 'aside']) {
      mkdirSync(join(folder, box), { recursive: true });
      utimesSync(join(folder, box), old, old);
    }
    openOutbox(folder).sweep();
    expect(readdirSync(folder).toSorted()).toEqual(['1.2', '1.3', 'aside']);
    expect(existsSync(join(folder, '1.2', '100000001.1'))).toBe(true);
  });

  it('removes what a killed hook has left, also for a pane in use', () => {
    const folder = tempFolder();
    const old = new Date(Date.now() - 2 * 86_400_000);
    drop(join(folder, '1.1'), '100000001.1');
    for (const name of ['.77', '.78']) writeFileSync(join(folder, '1.1', name), 'x');
    utimesSync(join(folder, '1.1', '.77'), old, old);
    openOutbox(folder).sweep();
    expect(readdirSync(join(folder, '1.1')).toSorted()).toEqual(['.78', '100000001.1']);
  });

  it('keeps only the newest 500 of the letters that were set aside', () => {
    const folder = tempFolder();
    const outbox = openOutbox(folder);
    const paths = Array.from({ length: 510 }, (_, at) => {
      drop(join(folder, '1.2'), `${100_000_001 + at}.1`);
      return outbox.setAside(join(folder, '1.2', `${100_000_001 + at}.1`));
    });
    expect(outbox.aside()).toEqual(paths.slice(-500).sort());
  });
});

import { lstatSync, mkdirSync, readdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isForeignLink, readUserFile, writeUserFile } from '../../home/user-owned-file.ts';
import { tempFolder } from '../support/temp-home.ts';

/** A project whose folder somebody else can write, and a folder with a secret. */
function places() {
  const dir = tempFolder();
  const [shared, own] = [join(dir, 'project/.claude'), join(dir, 'own')];
  mkdirSync(shared, { recursive: true });
  mkdirSync(own);
  writeFileSync(join(own, 'settings.json'), '{"secret":1}', { mode: 0o600 });
  return { shared, own, file: join(shared, 'settings.json') };
}

describe('a file in a folder that somebody else can write', () => {
  it('is not written where a secret was read from, or the reverse, if it is exchanged meanwhile', () => {
    const { shared, own, file } = places();
    writeFileSync(file, '{"secret":1}'); // The same text, so a check of the text alone would not notice the exchange.
    const read = readUserFile(file);
    renameSync(shared, `${shared}.old`);
    symlinkSync(own, shared);
    expect(() => writeUserFile(read, '{"hooks":1}')).toThrow();
    expect(readdirSync(own)).toEqual(['settings.json']);
    expect(readFileSync(join(own, 'settings.json'), 'utf8')).toBe('{"secret":1}');
  });

  it('gets nothing of a file that a link led to when it was read', () => {
    const { shared, own, file } = places();
    symlinkSync(join(own, 'settings.json'), file);
    const read = readUserFile(file);
    expect(read.text).toBe('{"secret":1}');
    renameSync(file, `${file}.link`);
    writeFileSync(file, '{"secret":1}');
    expect(() => writeUserFile(read, '{"secret":1,"hooks":1}')).toThrow('at the same time');
    expect(readFileSync(file, 'utf8')).toBe('{"secret":1}');
    expect(readdirSync(shared).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  });

  it('replaces none that appeared meanwhile', () => {
    const { own, shared } = places();
    const read = readUserFile(join(shared, 'settings.json'));
    renameSync(shared, `${shared}.old`);
    symlinkSync(own, shared);
    expect(() => writeUserFile(read, '{"hooks":1}')).toThrow('at the same time');
    expect(readFileSync(join(own, 'settings.json'), 'utf8')).toBe('{"secret":1}');
  });

  it('is not read through a link of another user', () => {
    const { file, own } = places();
    symlinkSync(join(own, 'settings.json'), file);
    const { uid } = lstatSync(file);
    expect(isForeignLink(lstatSync(file), uid)).toBe(false);
    expect(isForeignLink(Object.assign(lstatSync(file), { uid: uid + 1 }), uid)).toBe(true);
    expect(isForeignLink(Object.assign(lstatSync(file), { uid: 0 }), uid)).toBe(false);
    expect(isForeignLink(lstatSync(own), uid + 1)).toBe(false);
  });

  it('is not read if it is a named pipe, a device or very large', () => {
    const { file } = places();
    symlinkSync('/dev/zero', file);
    expect(() => readUserFile(file)).toThrow('is not a file');
    writeFileSync(`${file}.2`, Buffer.alloc(5 * 2 ** 20, ' '));
    expect(() => readUserFile(`${file}.2`)).toThrow('too large');
  });
});

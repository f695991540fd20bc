import { describe, expect, it } from 'vitest';
import { errnoOf, explain, fileError, isDiskFull, plainError, ThreadmuxError } from '../../core/errors.ts';

const errno = (code: string, path?: string) =>
  Object.assign(new Error(`${code}: as the system says it`), { code, syscall: 'write', path });

describe('a file system error', () => {
  it.each([
    ['ENOSPC', 'writing /a: the disk is full\nMake room on it.'],
    ['EDQUOT', 'writing /a: your disk quota is used up\nMake room on it.'],
    ['EROFS', 'writing /a: the disk is read-only\nMount it writable, then run this again.'],
    ['EACCES', /^writing \/a: permission denied\nCheck the owner and permissions/],
    ['EPERM', /^writing \/a: permission denied\nCheck the owner and permissions/],
    ['ENOTDIR', /^writing \/a: part of the path is not a folder\nCorrect the path/],
    ['ELOOP', /^writing \/a: its links form a loop\nCorrect the links/],
    ['EMFILE', 'writing /a: too many files are open\nRaise the limit: ulimit -n 4096'],
    ['EIO', 'writing /a: the disk reports an error\nCheck the disk: it may be failing.'],
  ])('is a sentence and a fix: %s', (code, words) => {
    const error = fileError(errno(code), 'writing /a');
    expect(error).toBeInstanceOf(ThreadmuxError);
    expect(explain(error)).toMatch(words);
    expect(errnoOf(error)).toBe(code);
  });

  it('names its path when it is unexpected', () => {
    expect(explain(plainError(errno('EROFS', '/b')))).toMatch(/^\/b: the disk is read-only/);
  });

  it('stays unchanged if it is unexpected or not about a file', () => {
    const bug = new TypeError('x is not a function');
    expect(plainError(bug)).toBe(bug);
    expect(plainError(undefined)).toBeUndefined();
    const other = errno('EBADF');
    expect(plainError(other)).toBe(other);
    const known = new ThreadmuxError('busy', 'busy');
    expect(fileError(known, 'x')).toBe(known);
  });

  it('is retried if it is about disk space', () => {
    expect(isDiskFull(fileError(errno('ENOSPC'), 'x'))).toBe(true);
    expect(isDiskFull(errno('EDQUOT'))).toBe(true);
    expect(isDiskFull(errno('EROFS'))).toBe(false);
  });
});

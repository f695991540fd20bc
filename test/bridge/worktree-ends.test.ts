import { describe, expect, it } from 'vitest';
import { endDraft, workWords } from '../../bridge/worktree-ends.ts';
import { outsideCode } from '../support/markdown.ts';

const none = { changed: 0, commits: 0, dropped: 0, stashes: 0, doubts: [], print: '12' };
const one = {
  host: 'mini',
  project: 'shop',
  name: 'web',
  path: '/w/shop/web',
  start: '/w/shop/web',
  branch: 'threadmux/web',
  session: 'web',
  directory: '~/shop',
  thread: '7',
  state: 'open' as const,
  isSettingUp: false,
};

describe('what a worktree has', () => {
  it.each([
    [{ changed: 1 }, '1 changed file'],
    [{ changed: 2, commits: 1 }, '2 changed files and 1 commit that is on no other branch'],
    [{ changed: 2, commits: 3, stashes: 1 }, '2 changed files, 3 commits that are on no other branch and 1 stash'],
    [{ dropped: 1 }, '1 commit that is on no branch'],
    [{ doubts: ['it has submodules'] }, 'something that threadmux cannot judge (it has submodules)'],
    [{ stashes: 2, doubts: ['no branch is checked out'] }, '2 stashes (no branch is checked out)'],
    [
      { doubts: ['another repository is in **x**'] },
      'something that threadmux cannot judge (another repository is in \\*\\*x\\*\\*)',
    ],
  ])('%j is said plainly', (work, words) => {
    expect(workWords({ ...none, ...work })).toBe(words);
  });
});

describe('the message at the end', () => {
  it('is posted only if something is kept', () => {
    expect(endDraft(one, { is: 'removed', tip: 'a' })).toBeUndefined();
    expect(endDraft(one, { is: 'used' })).toBeUndefined();
    expect(endDraft(one, { is: 'gone' })).toBeUndefined();
  });

  it('shows the words of a host as code or plain text, also if it sends too many of them', () => {
    const link = '[Tap here](https://evil.example)';
    const files = [link, ...Array.from({ length: 9 }, () => '\u200b'.repeat(100))].join('\n');
    const doubts = Array.from({ length: 300 }, () => '*'.repeat(300));
    for (const work of [
      { ...none, changed: 30 },
      { ...none, doubts },
    ]) {
      const kept = { is: 'kept' as const, branch: link.repeat(20), work, files };
      for (const path of [one.path, '']) {
        const { content = '' } = endDraft(one, { ...kept, path }) ?? {};
        expect(content.length).toBeLessThanOrEqual(2_000);
        expect(outsideCode(content)).not.toContain('Tap here');
      }
    }
  });

  it('shows at most ten files, and nothing in their names ends the block', () => {
    const files = Array.from({ length: 20 }, (_, at) => `?? a\`\`\`${at}`).join('\n');
    const work = { ...none, changed: 30 };
    const draft = endDraft(one, { is: 'kept', path: one.path, branch: one.branch, work, files });
    expect(draft?.content).toContain('… and 20 more');
    expect(draft?.content.match(/```/g)).toHaveLength(2);
    expect(JSON.stringify(draft?.components)).toContain('tree:ask:7:12');
  });
});

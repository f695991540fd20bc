import { describe, expect, it } from 'vitest';
import type { PanelRow, PanelView } from '../../../bridge/panel/panel-rows.ts';
import { panelDraft } from '../../../bridge/panel/panel-text.ts';

const row = (label: string, more: Partial<PanelRow> = {}): PanelRow => ({
  label,
  host: 'laptop',
  thread: '1',
  session: 'aBcD_-123456',
  state: { state: 'idle', since: 60_000 },
  because: undefined,
  agent: undefined,
  branch: undefined,
  isWorktree: false,
  model: undefined,
  context: undefined,
  at: 60_000,
  ...more,
});
const draft = (rows: readonly PanelRow[], worktrees: PanelView['worktrees'] = []) =>
  panelDraft({ rows, worktrees }, (thread) => `https://discord.com/channels/9/${thread}`);
const types = (rows: readonly PanelRow[]) =>
  (draft(rows).components ?? []).map(({ components }) => components.map(({ type }) => type));

describe('the message of the panel', () => {
  it('shows what is known of a session on one line', () => {
    const known = { branch: 'main', isWorktree: true, model: 'opus', context: 42 };
    expect(draft([row('shop', known)]).content).toBe(
      '**Sessions**\n🟢 `shop` <#1> idle <t:60:R> · laptop · ⎇ `main` (worktree) · opus · 42% context · active <t:60:R>',
    );
  });

  it('quotes text from outside', () => {
    const state = { state: 'needs_person', for: 'dialog: `@everyone`\n**bold**', since: 0 } as const;
    const { content } = draft([row('shop', { state, branch: 'a`<@1>', model: '[x](http://y)' })]);
    expect(content).toContain("needs you (`dialog: '@everyone' **bold**`)");
    expect(content).toContain("`a'<@1>`");
    expect(content).toContain('\\[x\\](http://y)');
  });

  it('hides nothing of a name on its buttons and in its menus', () => {
    const rows = Array.from({ length: 13 }, (_, at) => row(`shop${at}\u202e\u200b@mini`));
    for (const shown of [rows.slice(0, 1), rows]) {
      const text = JSON.stringify(draft(shown).components);
      expect(text).toMatch(/"label":"(?:Stop )?shop0⟨U\+202E⟩⟨U\+200B⟩@mini"/);
      expect(text).toContain(`${rows[0]?.label}"`); // what a tap means
    }
  });

  it('has the session in what stops it, within the 100 characters of Discord', () => {
    const rows = Array.from({ length: 13 }, (_, at) => row(`${at}`.padEnd(80, 'x')));
    for (const shown of [rows.slice(0, 1), rows]) {
      const text = JSON.stringify(draft(shown).components);
      const [, value = ''] = /"(?:custom_id":"end:|value":")([^"]+x)"/.exec(text) ?? [];
      expect(value).toBe(`aBcD_-123456:${rows[0]?.label}`);
      expect(`end:${value}`.length).toBeLessThanOrEqual(100);
    }
  });

  it('lists the worktrees that were kept', () => {
    const kept = { project: 'shop', name: 'web', branch: 'threadmux/web', host: 'mini', thread: '5' };
    expect(draft([row('shop')], [kept]).content).toContain(
      '\n**Worktrees without a session**\n🌿 `shop/web` <#5> · ⎇ `threadmux/web` · mini',
    );
    expect(draft([row('shop')]).content).not.toContain('Worktrees');
  });

  it('has at most 25 buttons in rows of five, and menus for more sessions', () => {
    const rows = (count: number) => Array.from({ length: count }, (_, at) => row(`s${at}`));
    expect(types(rows(12)).map((one) => one.length)).toEqual([5, 5, 5, 5, 5]);
    expect(types(rows(13))).toEqual([[3], [2]]);
    const stopped = rows(20).map((one, at) =>
      at % 2 ? { ...one, state: undefined, because: 'manual' as const } : one,
    );
    expect(types(stopped)).toEqual([[3], [3], [2, 2]]);
  });

  it('has one button for two sessions of one name', () => {
    expect(draft([row('web'), row('web', { thread: '2' })]).content).toContain('<#2>');
    expect(types([row('web'), row('web', { thread: '2' })])).toEqual([[2, 2, 2]]);
  });

  it('fits into a message with any number of sessions', () => {
    const { content } = draft(Array.from({ length: 200 }, (_, at) => row(`session-with-a-long-name-${at}`)));
    expect(content.length).toBeLessThan(2_000);
    expect(content).toMatch(/… and \d+ more: `!sessions`$/);
  });
});

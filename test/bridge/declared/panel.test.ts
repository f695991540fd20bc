// The panel of a channel, as a message: what it shows, how often it is edited, and what its buttons do.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import type { Faults } from '../../support/as-discord.mjs';
import { buttonOf } from '../../support/prompt-pane.ts';
import type { WireMessage } from '../../support/workspace.ts';
import { makeRepo } from '../../support/worktree-repo.ts';
import { aWhile, reconcile, type Setting, WAIT } from '../bridge-setup.ts';
import { openWhispers } from '../tap-message.ts';
import { sessionsOf, startDeclared } from './declared-setup.ts';

const named = { servers: (own: object) => [{ ...own, name: 'discord' }] } as never as object;

const panelsOf = async (setting: Setting) =>
  (await setting.answers(setting.workspace.channelId)).filter(({ content }) => content.startsWith('**Sessions**'));

const untilPanel = (setting: Setting, pattern: RegExp): Promise<WireMessage> =>
  vi.waitFor(async () => {
    const [panel, ...others] = await panelsOf(setting);
    expect(others).toEqual([]);
    expect(panel?.content).toMatch(pattern);
    return panel as WireMessage;
  }, WAIT);

const tap = (setting: Setting, panel: WireMessage, label: string) =>
  setting.workspace.person.tap(panel.channel_id, panel.id, buttonOf(panel, label));

describe('the panel', () => {
  it('shows declared and running sessions in one message, and starts and stops them', async () => {
    const sessions = [{ name: 'shop', start: 'manual' }, { name: 'web', start: 'manual' }, { name: 'auto' }];
    const { setting, untilStarts, starts } = await startDeclared(sessions, { ...named, file: { panel: true } });
    const first = await untilPanel(setting, /`shop` not started[\s\S]*`web` not started[\s\S]*`auto`.*idle/);
    await tap(setting, first, 'Start shop');
    await untilStarts('shop', 1);
    const second = await untilPanel(setting, /`shop` <#\d+> idle/);
    expect(second.id).toBe(first.id);
    await tap(setting, second, 'Stop shop');
    const third = await untilPanel(setting, /`shop` <#\d+> stopped/);
    await tap(setting, third, 'Start all');
    await Promise.all([untilStarts('shop', 2), untilStarts('web', 1)]);
    await untilPanel(setting, /`shop` <#\d+> idle[\s\S]*`web` <#\d+> idle/);
    await setting.restart();
    await aWhile(1_000);
    expect((await panelsOf(setting)).map(({ id }) => id)).toEqual([first.id]);
    expect([starts('shop'), sessionsOf(setting.machine.tmux)]).toEqual([2, ['auto', 'shop', 'web']]);
  });

  it('stops the session of its row, also if its name looks like that of another one on a host', async () => {
    const { setting, untilStarts } = await startDeclared([{ name: 'shop' }], { ...named, file: { panel: true } });
    const { tmux } = setting.machine;
    const alike = `shop@${setting.config.host}`;
    await untilStarts('shop', 1);
    await setting.claude(alike);
    const panel = await untilPanel(setting, new RegExp(`\`${alike}@${setting.config.host}\``));
    await tap(setting, panel, `Stop ${alike}@${setting.config.host}`);
    await vi.waitFor(() => expect(sessionsOf(tmux)).not.toContain(alike), WAIT);
    expect(sessionsOf(tmux)).toContain('shop');
    await setting.claude(`${alike}-2`);
    await setting.say(setting.workspace.channelId, `!kill ${alike}-2@${setting.config.host}`);
    await vi.waitFor(() => expect(sessionsOf(tmux)).not.toContain(`${alike}-2`), WAIT);
    expect(sessionsOf(tmux)).toContain('shop');
  });

  it.each([
    ['another one', []],
    ['a declared one', [{ name: 'shop', start: 'manual' }]],
  ])('stops no newer session of that name than it shows: %s', async (_, declared) => {
    let isLate = false;
    const faults: Faults = {
      onRequest: ({ method }) => (isLate && method === 'PATCH' ? { kind: 'answer', status: 503 } : undefined),
    };
    const { setting } = await startDeclared(declared, { ...named, faults, file: { panel: true } });
    const { tmux } = setting.machine;
    tmux.call('new-session', '-d', '-s', 'other', 'cat');
    await setting.claude('shop');
    const panel = await untilPanel(setting, /`shop` <#\d+> idle/);
    const whispers = await openWhispers(setting);
    isLate = true;
    tmux.call('kill-session', '-t', '=shop');
    const newer = tmux.call('new-session', '-d', '-P', '-F', '#{session_id}', '-s', 'shop', 'cat').trim();
    for (const isKnown of [false, true]) {
      if (isKnown) await reconcile(setting);
      await tap(setting, panel, 'Stop shop');
      await vi.waitFor(() => expect(whispers().at(isKnown ? 1 : 0)).toMatch(/^⚠️ Not ended: .*`shop`.*earlier/), WAIT);
    }
    expect(tmux.call('list-sessions', '-F', '#{session_id} #S')).toContain(`${newer} shop`);
    isLate = false;
    const next = await vi.waitFor(async () => {
      const [now] = await panelsOf(setting);
      expect(now && buttonOf(now, 'Stop shop')).not.toBe(buttonOf(panel, 'Stop shop'));
      return now as WireMessage;
    }, WAIT);
    await tap(setting, next, 'Stop shop');
    await vi.waitFor(() => expect(sessionsOf(tmux)).not.toContain('shop'), WAIT);
  });

  it('is posted again once if it is deleted', async () => {
    const { setting } = await startDeclared([{ name: 'shop', start: 'manual' }], { ...named, file: { panel: true } });
    const { channelId } = setting.workspace;
    const remove = async (id: string) => {
      const { rest } = setting.shared.connections.all()[0] ?? {};
      await rest?.call('DELETE', `/channels/${channelId}/messages/${id}`);
    };
    const first = await untilPanel(setting, /`shop`/);
    await remove(first.id);
    const second = await untilPanel(setting, /`shop`/);
    expect(second.id).not.toBe(first.id);
    await remove(second.id);
    await aWhile(2_500);
    expect(await panelsOf(setting)).toEqual([]);
  });

  it('is pinned once, and edited at most once in two seconds', async () => {
    const pins: string[] = [];
    const edits: number[] = [];
    const faults: Faults = {
      onRequest({ method, path, actor }) {
        const pinned = /\/messages\/pins\/(\d+)$/.exec(path)?.[1];
        if (method === 'PUT' && pinned !== undefined) {
          pins.push(pinned);
        }
        if (method === 'PATCH' && actor === 'bot' && path.endsWith(`/messages/${pins[0]}`)) edits.push(Date.now());
        return undefined;
      },
    };
    const sessions = [{ name: 'shop', start: 'manual' }, { name: 'web', start: 'manual' }, { name: 'auto' }];
    const { setting, untilStarts } = await startDeclared(sessions, { ...named, faults, file: { panel: true } });
    const panel = await untilPanel(setting, /`auto`.*idle/);
    await tap(setting, panel, 'Start all');
    await Promise.all([untilStarts('shop', 1), untilStarts('web', 1)]);
    await untilPanel(setting, /`shop` <#\d+> idle[\s\S]*`web` <#\d+> idle/);
    expect(pins).toEqual([panel.id]);
    expect((await panelsOf(setting))[0]).toMatchObject({ pinned: true });
    const gaps = edits.slice(1).map((at, before) => at - (edits[before] ?? 0));
    expect(edits.length).toBeGreaterThan(1);
    expect(Math.min(...gaps)).toBeGreaterThan(1_900);
    // What others write does not move it.
    await setting.say(setting.workspace.channelId, 'hello');
    await aWhile(2_500);
    expect((await panelsOf(setting)).map(({ id }) => id)).toEqual([panel.id]);
  });

  it('stays the last message where the bot may not pin', async () => {
    const faults: Faults = {
      onRequest({ path }) {
        const body = { code: 50013, message: 'Missing Permissions' };
        return path.includes('/messages/pins/') ? { kind: 'answer', status: 403, body } : undefined;
      },
    };
    const options = { ...named, faults, file: { panel: true }, panelLastMs: 1_000 };
    const { setting } = await startDeclared([{ name: 'shop', start: 'manual' }], options);
    const { channelId, person } = setting.workspace;
    const first = await untilPanel(setting, /`shop`/);
    await setting.say(channelId, '!sessions');
    await setting.answer(channelId, /^⏹️ `shop` not started/);
    await vi.waitFor(async () => {
      const [last] = await person.messages(channelId);
      expect(last?.content).toMatch(/^\*\*Sessions/);
      expect(await panelsOf(setting)).toHaveLength(1);
    }, WAIT);
    const second = await untilPanel(setting, /`shop`/);
    expect(second.id).not.toBe(first.id);
    // Its own message does not move it again.
    await aWhile(2_500);
    expect((await panelsOf(setting)).map(({ id }) => id)).toEqual([second.id]);
  });

  it('is replaced when Discord takes no more edits of it, again and again', async () => {
    let isOld = false;
    const faults: Faults = {
      onRequest({ method, path, actor }) {
        if (!isOld || method !== 'PATCH' || actor !== 'bot' || !/\/messages\/\d+$/.test(path)) return undefined;
        isOld = false;
        const body = { code: 30046, message: 'Maximum number of edits to messages older than 1 hour reached.' };
        return { kind: 'answer', status: 400, body };
      },
    };
    const options = { ...named, faults, live: true, file: { panel: true } };
    const { setting, declare } = await startDeclared([{ name: 's0', start: 'manual' }], options);
    let last = await untilPanel(setting, /`s0`/);
    for (const name of ['s1', 's2', 's3']) {
      isOld = true;
      declare([{ name, start: 'manual' }]);
      const next = await untilPanel(setting, new RegExp(`\`${name}\``));
      expect(next.id).not.toBe(last.id);
      last = next;
    }
  });

  it('is removed when the configuration turns it off, also while the bridge is down, and comes back', async () => {
    const sessions = [{ name: 'shop', start: 'manual' }];
    const { setting, declare } = await startDeclared(sessions, { ...named, live: true, file: { panel: true } });
    await untilPanel(setting, /`shop`/);
    const isGone = () => vi.waitFor(async () => expect(await panelsOf(setting)).toEqual([]), WAIT);
    declare(sessions, { panel: false });
    await isGone();
    declare(sessions, { panel: true });
    await untilPanel(setting, /`shop`/);
    await setting.stop();
    await setting.restart({ config: { ...setting.config, panel: false } });
    await isGone();
  });

  it('lists a worktree that is kept when its session ends, until it is removed', async () => {
    const repo = makeRepo();
    const options = { ...named, file: { panel: true, defaults: { worktree: true } } };
    const { setting, untilStarts } = await startDeclared([{ name: 'shop', directory: repo.path }], options);
    await untilStarts('shop', 1);
    await untilPanel(setting, /`shop` <#\d+> idle.*⎇ `threadmux\/shop` \(worktree\)/);
    const [tree] = setting.shared.worktrees.known();
    writeFileSync(join(tree?.path ?? '', 'new.txt'), 'work\n');
    await setting.say(setting.workspace.channelId, '!kill shop');
    const kept = /Worktrees without a session\*\*\n🌿 `[^`]+\/shop` <#\d+> · ⎇ `threadmux\/shop` · laptop/;
    await untilPanel(setting, kept);
    const notice = await setting.answer(tree?.thread ?? '', /The worktree is kept/);
    await tap(setting, notice, 'Remove anyway');
    await tap(setting, await setting.answer(tree?.thread ?? '', /cannot be undone/), 'Remove it for good');
    await vi.waitFor(async () => expect((await panelsOf(setting))[0]?.content).not.toContain('🌿'), WAIT);
  });

  it('shows the branch that the agent has changed to, also of a session whose folder answers late', async () => {
    const repo = makeRepo();
    const { setting, untilStarts, agent } = await startDeclared([{ name: 'shop', directory: repo.path }], {
      ...named,
      file: { panel: true },
    });
    await untilStarts('shop', 1);
    const panel = await untilPanel(setting, /`shop` <#\d+> idle.*⎇ `main` ·/);
    repo.git('checkout', '-q', '-b', 'repair');
    await setting.say(/<#(\d+)>/.exec(panel.content)?.[1] ?? '', 'go on');
    await vi.waitFor(() => expect(agent('shop').prompts()).toEqual(['go on']), WAIT);
    await untilPanel(setting, /`shop` <#\d+> idle.*⎇ `repair` ·/);
  });

  it('has a form for a new session: name, directory, first message, model', async () => {
    const { setting, untilStarts, agent } = await startDeclared([], { ...named, file: { panel: true } });
    const panel = await untilPanel(setting, /None yet/);
    const { person, channelId } = setting.workspace;
    const form = await tap(setting, panel, 'New session');
    const values = { name: 'fresh', directory: setting.machine.tmux.dir, prompt: 'begin here', model: 'opus' };
    await vi.waitFor(() => person.submitModal(channelId, form, values), WAIT);
    await untilStarts('fresh', 1);
    await vi.waitFor(() => expect(agent('fresh').prompts()).toEqual(['begin here']), WAIT);
    await untilPanel(setting, /`fresh` <#\d+> .* · opus/);
  });
});

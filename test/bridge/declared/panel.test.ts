// The panel of a channel, as a message: what it shows, how often it is edited, and what its buttons do.

import { describe, expect, it, vi } from 'vitest';
import { buttonOf } from '../../support/prompt-pane.ts';
import type { WireMessage } from '../../support/workspace.ts';
import { aWhile, type Setting, WAIT } from '../bridge-setup.ts';
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

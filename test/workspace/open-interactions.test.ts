import { describe, expect, it, vi } from 'vitest';
import { startTestWorkspace, type TestWorkspace } from '../support/workspace.ts';
import { identify, openPageSocket, type RawSocket } from './raw-socket.ts';

const components = [
  {
    type: 1,
    components: [
      { type: 2, style: 1, label: 'Go', custom_id: 'go' },
      { type: 2, style: 2, label: 'No', custom_id: 'no', disabled: true },
    ],
  },
  {
    type: 1,
    components: [
      { type: 3, custom_id: 'pick', max_values: 2, options: ['a', 'b', 'c'].map((value) => ({ label: value, value })) },
    ],
  },
];

async function start() {
  const workspace = await startTestWorkspace();
  const bot = await identify(workspace);
  const page = await openPageSocket(workspace);
  const path = `/channels/${workspace.channelId}/messages`;
  const { body: message } = await workspace.bot('POST', path, { content: 'Choose', components });
  await workspace.bot('PUT', `/applications/${workspace.applicationId}/commands`, [
    { name: 'new', description: 'd', options: [{ type: 3, name: 'name', description: 'd', required: true }] },
    {
      name: 'host',
      description: 'd',
      options: [
        {
          type: 1,
          name: 'add',
          description: 'd',
          options: [{ type: 4, name: 'n', description: 'd', choices: [{ name: 'one', value: 1 }] }],
        },
      ],
    },
  ]);
  return {
    workspace,
    bot,
    page,
    message,
    channelId: workspace.channelId,
    person: workspace.person,
  };
}

async function interaction(bot: RawSocket) {
  return (await bot.until({ t: 'INTERACTION_CREATE' })).d;
}

function answer(workspace: TestWorkspace, { id, token }: { id: string; token: string }, body: object, query = '') {
  return workspace.bot('POST', `/interactions/${id}/${token}/callback${query}`, body);
}

describe('a tap', () => {
  it('reaches the bot with its user, message and button', async () => {
    const { workspace, bot, person, message, channelId } = await start();
    const id = await person.tap(channelId, message.id, 'go');
    expect(await interaction(bot)).toMatchObject({
      id,
      type: 3,
      application_id: workspace.applicationId,
      data: { custom_id: 'go', component_type: 2 },
      message: { id: message.id, content: 'Choose' },
      channel: { id: channelId },
      member: { user: { id: workspace.userId } },
    });
  });

  it('on a disabled, unknown or unoffered component is refused', async () => {
    const { person, message, channelId } = await start();
    for (const tap of ['no', 'nothing']) await expect(person.tap(channelId, message.id, tap)).rejects.toThrow('50035');
    await expect(person.tap(channelId, '1', 'go')).rejects.toThrow('10008');
    for (const values of [[], ['d'], ['a', 'a'], ['a', 'b', 'c']])
      await expect(person.choose(channelId, message.id, 'pick', values)).rejects.toThrow('50035');
    await person.choose(channelId, message.id, 'pick', ['a', 'c']);
  });
});

describe('a command', () => {
  it('must be known, with its required options and choices', async () => {
    const { bot, person, channelId } = await start();
    await expect(person.slash(channelId, 'new')).rejects.toThrow('50035');
    await expect(person.slash(channelId, 'unknown')).rejects.toThrow('10063');
    await expect(
      person.slash(channelId, 'new', [
        { name: 'name', value: 'x' },
        { name: 'other', value: 'x' },
      ]),
    ).rejects.toThrow('50035');
    await expect(
      person.slash(channelId, 'host', [{ name: 'add', options: [{ name: 'n', value: 2 }] }]),
    ).rejects.toThrow('50035');
    await person.slash(channelId, 'host', [{ name: 'add', options: [{ name: 'n', value: 1 }] }]);
    expect((await interaction(bot)).data).toMatchObject({
      name: 'host',
      options: [{ name: 'add', type: 1, options: [{ name: 'n', type: 4, value: 1 }] }],
    });
  });
});

describe('an answer', () => {
  it('is accepted once, then refused with 40060', async () => {
    const { workspace, bot, person, message, channelId } = await start();
    await person.tap(channelId, message.id, 'go');
    const asked = await interaction(bot);
    expect((await answer(workspace, asked, { type: 6 })).status).toBe(204);
    expect(await answer(workspace, asked, { type: 6 })).toMatchObject({ status: 400, body: { code: 40060 } });
  });

  it('after three seconds is refused with 10062, and the user is told that it failed', async () => {
    const { workspace, bot, page, person, message, channelId } = await start();
    const id = await person.tap(channelId, message.id, 'go');
    const asked = await interaction(bot);
    expect((await page.until({ t: 'INTERACTION_FAILURE' })).d.id).toBe(id);
    await vi.waitFor(async () =>
      expect(await answer(workspace, asked, { type: 99 })).toMatchObject({ status: 404, body: { code: 10062 } }),
    );
  });

  it.each([
    [2, 6, 'an update to a command'],
    [2, 8, 'choices to a command'],
    [3, 8, 'choices to a tap'],
    [4, 4, 'a message to a completion'],
    [5, 9, 'a modal to a modal'],
  ])('of type %i with %i, %s, is refused', async (type, answerType) => {
    const { workspace, bot, person, message, channelId } = await start();
    if (type === 2) await person.slash(channelId, 'new', [{ name: 'name', value: 'x' }]);
    if (type === 3 || type === 5) await person.tap(channelId, message.id, 'go');
    if (type === 4) await person.autocomplete(channelId, 'new', [{ name: 'name', value: 'x', focused: true }]);
    let asked = await interaction(bot);
    if (type === 5) {
      await answer(workspace, asked, { type: 9, data: modal });
      await person.submitModal(channelId, asked.id, { why: 'x' });
      await vi.waitFor(() => {
        asked = bot.heard.findLast(({ t }) => t === 'INTERACTION_CREATE')?.d;
        expect(asked.type).toBe(5);
      });
    }
    const refused = await answer(workspace, asked, { type: answerType, data: { content: 'x' } });
    expect(refused).toMatchObject({ status: 400, body: { code: 50035 } });
  });

  it('returns the message on request', async () => {
    const { workspace, bot, person, channelId } = await start();
    await person.slash(channelId, 'new', [{ name: 'name', value: 'x' }]);
    const said = await answer(
      workspace,
      await interaction(bot),
      { type: 4, data: { content: 'hi' } },
      '?with_response=true',
    );
    expect(said).toMatchObject({ status: 200, body: { resource: { type: 4, message: { content: 'hi', type: 20 } } } });
  });

  it("with choices reaches the person's page", async () => {
    const { workspace, bot, page, person, channelId } = await start();
    const id = await person.autocomplete(channelId, 'new', [{ name: 'name', value: 's', focused: true }]);
    const choices = [{ name: 'Shop', value: 'shop' }];
    await answer(workspace, await interaction(bot), { type: 8, data: { choices } });
    expect((await page.until({ t: 'APPLICATION_COMMAND_AUTOCOMPLETE_RESPONSE' })).d).toMatchObject({ id, choices });
  });

  it('that only the user may see stays private, and can be changed and deleted', async () => {
    const { workspace, bot, page, person, channelId } = await start();
    await person.slash(channelId, 'new', [{ name: 'name', value: 'x' }]);
    const asked = await interaction(bot);
    await answer(workspace, asked, { type: 5, data: { flags: 64 } });
    const original = `/webhooks/${workspace.applicationId}/${asked.token}/messages/@original`;
    await workspace.bot('PATCH', original, { content: 'psst' });
    const shown = await page.until({ t: 'MESSAGE_UPDATE' });
    expect(shown.d).toMatchObject({ content: 'psst', flags: 64 });
    expect((await person.messages(channelId)).map(({ content }) => content)).toEqual(['Choose']);
    expect(bot.heard.filter(({ t }) => t === 'MESSAGE_UPDATE')).toEqual([]);
    expect((await workspace.bot('DELETE', original)).status).toBe(204);
    await page.until({ t: 'MESSAGE_DELETE' });
    expect((await workspace.bot('GET', original)).body.code).toBe(10008);
  });
});

const modal = {
  custom_id: 'm',
  title: 'Why?',
  components: [{ type: 18, label: 'Reason', component: { type: 4, custom_id: 'why', style: 2, max_length: 5 } }],
};

describe('a modal', () => {
  it('reaches the page, is validated, and can be submitted once', async () => {
    const { workspace, bot, page, person, message, channelId } = await start();
    await person.tap(channelId, message.id, 'go');
    const asked = await interaction(bot);
    await answer(workspace, asked, { type: 9, data: modal });
    expect((await page.until({ t: 'INTERACTION_MODAL_CREATE' })).d).toMatchObject({ id: asked.id, title: 'Why?' });
    await expect(person.submitModal(channelId, asked.id, {})).rejects.toThrow('50035');
    await expect(person.submitModal(channelId, asked.id, { why: '123456' })).rejects.toThrow('50035');
    await person.submitModal(channelId, asked.id, { why: '12345' });
    await expect(person.submitModal(channelId, asked.id, { why: '12345' })).rejects.toThrow('10062');
    await vi.waitFor(() =>
      expect(bot.heard.findLast(({ t }) => t === 'INTERACTION_CREATE')?.d).toMatchObject({
        type: 5,
        data: { custom_id: 'm', components: [{ type: 18, component: { custom_id: 'why', value: '12345' } }] },
        message: { id: message.id },
      }),
    );
  });

  it.each<[string, object]>([
    ['a title of 46 characters', { title: 'x'.repeat(46) }],
    ['no components', { components: [] }],
    ['six components', { components: Array.from({ length: 6 }, () => modal.components[0]) }],
    ['a button in it', { components: [{ type: 1, components: [{ type: 2, style: 1, label: 'x', custom_id: 'x' }] }] }],
  ])('with %s is refused', async (_, change) => {
    const { workspace, bot, person, message, channelId } = await start();
    await person.tap(channelId, message.id, 'go');
    const refused = await answer(workspace, await interaction(bot), { type: 9, data: { ...modal, ...change } });
    expect(refused).toMatchObject({ status: 400, body: { code: 50035 } });
  });
});

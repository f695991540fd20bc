import { describe, expect, it } from 'vitest';
import { startTestWorkspace, type TestWorkspace, withFiles } from '../support/workspace.ts';

const button = (change: object = {}) => ({
  type: 2,
  style: 1,
  label: 'A',
  custom_id: 'a',
  ...change,
});
const rows = (...components: object[]) => [{ type: 1, components }];
const buttons = (count: number) => Array.from({ length: count }, (_, n) => button({ custom_id: `b${n}` }));
const select = (change: object = {}) => ({ type: 3, custom_id: 's', options: [{ label: 'x', value: 'x' }], ...change });
const options = (count: number) => Array.from({ length: count }, (_, n) => ({ label: `o${n}`, value: `v${n}` }));

/** The first field that the errors name, with dots. */
function fieldOf(errors: Record<string, unknown>): string {
  const [key = ''] = Object.keys(errors);
  if (key === '_errors' || key === '') return '';
  const inner = fieldOf(errors[key] as Record<string, unknown>);
  return inner === '' ? key : `${key}.${inner}`;
}

describe('the workspace refuses a message', () => {
  it.each<[string, object, string]>([
    ['of 2001 characters', { content: 'x'.repeat(2001) }, 'content'],
    ['whose content is a number', { content: 5 }, 'content'],
    ['with a nonce of 26 characters', { content: 'x', nonce: 'n'.repeat(26) }, 'nonce'],
    [
      'with six rows',
      { components: Array.from({ length: 6 }, (_, n) => rows(button({ custom_id: `${n}` }))[0]) },
      'components',
    ],
    ['with six buttons in a row', { components: rows(...buttons(6)) }, 'components.0.components'],
    ['with an empty row', { components: rows() }, 'components.0.components'],
    ['with a button beside a select', { components: rows(button(), select()) }, 'components.0.components'],
    [
      'with two selects in a row',
      { components: rows(select(), select({ custom_id: 't' })) },
      'components.0.components',
    ],
    [
      'with a label of 81 characters',
      { components: rows(button({ label: 'x'.repeat(81) })) },
      'components.0.components.0.label',
    ],
    [
      'with a custom_id of 101 characters',
      { components: rows(button({ custom_id: 'x'.repeat(101) })) },
      'components.0.components.0.custom_id',
    ],
    ['with the same custom_id twice', { components: rows(button(), button()) }, 'components.0.components.1.custom_id'],
    [
      'with a button that has no custom_id',
      { components: rows(button({ custom_id: undefined })) },
      'components.0.components.0.custom_id',
    ],
    [
      'with a link that has no address',
      { components: rows({ type: 2, style: 5, label: 'x' }) },
      'components.0.components.0.url',
    ],
    ['with 26 options', { components: rows(select({ options: options(26) })) }, 'components.0.components.0.options'],
    [
      'with an option of 101 characters',
      { components: rows(select({ options: [{ label: 'x'.repeat(101), value: 'x' }] })) },
      'components.0.components.0.options.0.label',
    ],
    [
      'with more values than options',
      { components: rows(select({ max_values: 2 })) },
      'components.0.components.0.max_values',
    ],
    [
      'with a placeholder of 151 characters',
      { components: rows(select({ placeholder: 'x'.repeat(151) })) },
      'components.0.components.0.placeholder',
    ],
    ['with a component outside a row', { components: [button()] }, 'components.0.type'],
    [
      'with parse and a list for the same kind',
      { content: 'x', allowed_mentions: { parse: ['users'], users: ['1'] } },
      'allowed_mentions',
    ],
    ['with flags that are not its own to set', { content: 'x', flags: 64 }, 'flags'],
    [
      'that replies to a missing message',
      { content: 'x', message_reference: { message_id: '1' } },
      'message_reference',
    ],
    ['that describes a file it does not have', { content: 'x', attachments: [{ id: '0' }] }, 'attachments.0.id'],
  ])('%s', async (_, body, field) => {
    const workspace = await startTestWorkspace();
    const answer = await workspace.bot('POST', `/channels/${workspace.channelId}/messages`, body);
    expect(answer).toMatchObject({ status: 400, body: { code: 50035, message: 'Invalid Form Body' } });
    expect(fieldOf(answer.body.errors)).toBe(field);
    expect(await workspace.person.messages(workspace.channelId)).toEqual([]);
  });

  it.each<[string, unknown]>([
    ['without content', {}],
    ['with spaces only', { content: ' \n\t' }],
    ['with empty content', { content: '' }],
  ])('%s', async (_, body) => {
    const workspace = await startTestWorkspace();
    const answer = await workspace.bot('POST', `/channels/${workspace.channelId}/messages`, body);
    expect(answer).toMatchObject({ status: 400, body: { code: 50006 } });
  });
});

describe('the workspace accepts a message', () => {
  it.each<[string, object]>([
    ['of 2000 characters outside the basic plane, counted as code points', { content: '😀'.repeat(2000) }],
    ['with unknown fields', { content: 'x', colour: 'blue' }],
    [
      'with 5 rows of 5 buttons',
      {
        components: Array.from(
          { length: 5 },
          (_, row) => rows(...buttons(5).map((b) => ({ ...b, custom_id: `${row}${b.custom_id}` })))[0],
        ),
      },
    ],
    ['with 25 options', { components: rows(select({ options: options(25), max_values: 25 })) }],
    [
      'that replies to a missing message, if that is allowed',
      { content: 'x', message_reference: { message_id: '1', fail_if_not_exists: false } },
    ],
  ])('%s', async (_, body) => {
    const workspace = await startTestWorkspace();
    const answer = await workspace.bot('POST', `/channels/${workspace.channelId}/messages`, body);
    expect(answer.status).toBe(200);
  });
});

describe('uploads', () => {
  const post = (workspace: TestWorkspace, body: unknown) =>
    workspace.bot('POST', `/channels/${workspace.channelId}/messages`, body);

  it('keep every byte of ten files', async () => {
    const workspace = await startTestWorkspace();
    const bytes = Uint8Array.from({ length: 256 }, (_, n) => n);
    const files = Array.from({ length: 10 }, (_, n) => ({ name: `${n}.bin`, data: bytes }));
    const answer = await post(workspace, withFiles({ attachments: [{ id: '3', description: 'the third' }] }, files));
    expect(answer.body.attachments).toHaveLength(10);
    expect(answer.body.attachments[3]).toMatchObject({ filename: '3.bin', size: 256, description: 'the third' });
    const back = new Uint8Array(await (await fetch(answer.body.attachments[9].url)).arrayBuffer());
    expect(back).toEqual(bytes);
  });

  it('are refused when there are eleven, when one is over 10 MiB, when all are over 25 MiB', async () => {
    const workspace = await startTestWorkspace();
    const file = (name: string, size: number) => ({ name, data: new Uint8Array(size) });
    const eleven = Array.from({ length: 11 }, (_, n) => file(`${n}`, 1));
    expect(await post(workspace, withFiles({}, eleven))).toMatchObject({ status: 400, body: { code: 30015 } });
    const large = [file('large', 10 * 2 ** 20 + 1)];
    expect(await post(workspace, withFiles({}, large))).toMatchObject({ status: 413, body: { code: 50045 } });
    const many = [1, 2, 3].map((n) => file(`${n}`, 9 * 2 ** 20));
    expect(await post(workspace, withFiles({}, many))).toMatchObject({ status: 413, body: { code: 40005 } });
    expect(await post(workspace, withFiles({}, [file('full', 10 * 2 ** 20)]))).toMatchObject({ status: 200 });
  });

  it('that are cut short or not JSON are refused, not guessed at', async () => {
    const workspace = await startTestWorkspace();
    const path = `/channels/${workspace.channelId}/messages`;
    const type = { 'content-type': 'multipart/form-data; boundary=b' };
    const cut = '--b\r\nContent-Disposition: form-data; name="payload_json"\r\n\r\n{"content":"x"}';
    expect((await workspace.bot('POST', path, cut, type)).status).toBe(400);
    expect(await workspace.bot('POST', path, '{"content":')).toMatchObject({ status: 400, body: { code: 50109 } });
    const plain = { 'content-type': 'text/plain' };
    expect(await workspace.bot('POST', path, 'x', plain)).toMatchObject({ status: 400, body: { code: 50035 } });
  });
});

describe('the workspace refuses a thread', () => {
  it.each<[string, object, number, string?]>([
    ['without a name', { type: 11 }, 50035, 'name'],
    ['with an empty name', { type: 11, name: '' }, 50035, 'name'],
    ['with a name of 101 characters', { type: 11, name: 'x'.repeat(101) }, 50035, 'name'],
    [
      'that archives after 61 minutes',
      { type: 11, name: 'x', auto_archive_duration: 61 },
      50035,
      'auto_archive_duration',
    ],
    ['of a channel type', { type: 0, name: 'x' }, 50035, 'type'],
    ['that is private, which is the default', { name: 'x' }, 50013],
  ])('%s', async (_, body, code, field) => {
    const workspace = await startTestWorkspace();
    const answer = await workspace.bot('POST', `/channels/${workspace.channelId}/threads`, body);
    expect(answer.body.code).toBe(code);
    if (field !== undefined) expect(fieldOf(answer.body.errors)).toBe(field);
  });
});

describe('the workspace refuses a command', () => {
  const option = (change: object = {}) => ({ type: 3, name: 'n', description: 'd', ...change });
  it.each<[string, object, string]>([
    ['with a capital letter', { name: 'New', description: 'd' }, '0.name'],
    ['with a space', { name: 'a b', description: 'd' }, '0.name'],
    ['with a name of 33 characters', { name: 'x'.repeat(33), description: 'd' }, '0.name'],
    ['without a description', { name: 'x' }, '0.description'],
    ['with a description of 101 characters', { name: 'x', description: 'd'.repeat(101) }, '0.description'],
    [
      'with 26 options',
      { name: 'x', description: 'd', options: Array.from({ length: 26 }, (_, n) => option({ name: `n${n}` })) },
      '0.options',
    ],
    [
      'with a required option after an optional one',
      { name: 'x', description: 'd', options: [option(), option({ name: 'm', required: true })] },
      '0.options.1',
    ],
    [
      'with choices and autocomplete',
      { name: 'x', description: 'd', options: [option({ autocomplete: true, choices: [{ name: 'a', value: 'a' }] })] },
      '0.options.0.choices',
    ],
  ])('%s', async (_, body, field) => {
    const workspace = await startTestWorkspace();
    const path = `/applications/${workspace.applicationId}/guilds/${workspace.guildId}/commands`;
    const answer = await workspace.bot('PUT', path, [body]);
    expect(answer).toMatchObject({ status: 400, body: { code: 50035 } });
    expect(fieldOf(answer.body.errors)).toBe(field);
  });

  it('keeps its id when the whole list is set again', async () => {
    const workspace = await startTestWorkspace();
    const path = `/applications/${workspace.applicationId}/guilds/${workspace.guildId}/commands`;
    const first = await workspace.bot('PUT', path, [
      { name: 'a', description: 'd' },
      { name: 'b', description: 'd' },
    ]);
    const second = await workspace.bot('PUT', path, [{ name: 'b', description: 'changed' }]);
    expect(second.body[0].id).toBe(first.body[1].id);
    expect((await workspace.bot('GET', path)).body).toHaveLength(1);
    expect((await workspace.bot('POST', path, { name: 'c', description: 'd' })).status).toBe(201);
    expect((await workspace.bot('DELETE', `${path}/${second.body[0].id}`)).status).toBe(204);
    expect((await workspace.bot('DELETE', `${path}/${second.body[0].id}`)).body.code).toBe(10063);
  });
});

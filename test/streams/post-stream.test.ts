import { describe, expect, it } from 'vitest';
import { postStreamParts } from '../../streams/post-stream.ts';
import { restOf } from '../support/client.ts';
import { allMessages, newThread } from '../support/terminal.ts';
import { startTestWorkspace } from '../support/workspace.ts';

async function setting() {
  const workspace = await startTestWorkspace();
  const { id: thread } = await newThread(workspace);
  const rest = restOf(workspace);
  const contents = async () => (await allMessages(workspace, thread)).map(({ content }) => content);
  return {
    workspace,
    thread,
    contents,
    showing: { rest, thread, signal: new AbortController().signal, nonce: (at: number) => [at] },
  };
}

describe('messages that show the end of a growing text', () => {
  it('are edited, added and removed until they show exactly that', async () => {
    const { contents, showing } = await setting();
    let open = await postStreamParts([], [{ content: 'a' }, { content: 'b' }, { content: 'c' }], showing);
    expect(await contents()).toEqual(['a', 'b', 'c']);
    open = await postStreamParts(open, [{ content: 'a' }, { content: 'B' }], showing);
    expect(await contents()).toEqual(['a', 'B']);
    expect(open.map(({ content }) => content)).toEqual(['a', 'B']);
  });

  it('show the right text, even if an earlier attempt had posted something else', async () => {
    const { contents, showing } = await setting();
    await postStreamParts([], [{ content: 'as it was when the process died' }], showing);
    await postStreamParts([], [{ content: 'as it is now' }], showing);
    expect(await contents()).toEqual(['as it is now']);
  });

  it('are removed, even if one of them was deleted as soon as it was posted', async () => {
    const { workspace, thread, contents, showing } = await setting();
    const parts = [{ content: 'a' }, { content: 'b' }, { content: 'c' }];
    const [, b] = await postStreamParts([], parts, showing);
    await workspace.bot('DELETE', `/channels/${thread}/messages/${b?.id}`);
    const open = await postStreamParts([], parts, showing);
    expect(await contents()).toEqual(['a', 'c']);
    await postStreamParts(open, [{ content: 'A' }], showing);
    expect(await contents()).toEqual(['A']);
  });

  it('are written into an archived thread too', async () => {
    const { workspace, thread, contents, showing } = await setting();
    const open = await postStreamParts([], [{ content: 'a' }], showing);
    await workspace.bot('PATCH', `/channels/${thread}`, { archived: true });
    await postStreamParts(open, [{ content: 'b' }], showing);
    expect(await contents()).toEqual(['b']);
  });
});

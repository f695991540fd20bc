import { describe, expect, it } from 'vitest';
import type { Fault, FaultyRequest } from '../../support/as-discord.mjs';
import { sleep, terminalSetting, waitFor } from '../../support/terminal.ts';

const REFUSED = '… Discord refused to show this part …';
const AUTOMOD = { code: 200000, message: 'Message was blocked by automatic moderation' };

/** Refuses every message with such a text while it is switched on. */
function refusing(text: RegExp, status: number, answer: { code: number; message: string }) {
  const trouble = { on: true, refusals: 0 };
  const onRequest = ({ method, body }: FaultyRequest): Fault | undefined => {
    const { content = '' } = (body ?? {}) as { content?: string };
    if (!trouble.on || method === 'GET' || !text.test(content)) return undefined;
    trouble.refusals++;
    return { kind: 'answer', status, body: answer };
  };
  return { trouble, workspace: { faults: { onRequest } } };
}

const contents = async (setting: Awaited<ReturnType<typeof terminalSetting>>) =>
  (await setting.messages()).map(({ content }) => content);

const hasFiles = (body: unknown) => ((body as { attachments?: readonly unknown[] }).attachments?.length ?? 0) > 0;

describe('a terminal whose text Discord refuses', () => {
  it('hides only that part, and shows what comes before and after it', async () => {
    const { trouble, workspace } = refusing(/badword/, 400, AUTOMOD);
    const setting = await terminalSetting({ workspace });
    const record = await setting.start('echo one; read a; echo badword; read b; echo three; read c');
    setting.follow(record, { retryMs: 30 });
    const enter = () => setting.server.call('send-keys', '-t', record.pane?.paneId ?? '', 'Enter');
    await waitFor(async () => expect(await setting.text()).toBe('one\n'));
    enter();
    await waitFor(async () => expect(await contents(setting)).toEqual(['```text\none\n```', REFUSED]));
    const asked = trouble.refusals;
    enter();
    await waitFor(async () =>
      expect(await contents(setting)).toEqual([...['```text\none\n```', REFUSED, '```text\n\nthree\n```']]),
    );
    expect(trouble.refusals).toBe(asked);
  });

  it('reports files that are too large as refused, continues, and reports its end', async () => {
    const setting = await terminalSetting({
      workspace: {
        faults: {
          onRequest: ({ method, path, body }) =>
            /^(?:POST|PATCH)$/.test(method) && path.includes('/messages') && hasFiles(body)
              ? { kind: 'answer', status: 413, body: { code: 40005, message: 'Too large' } }
              : undefined,
        },
      },
    });
    const terminal = setting.follow(await setting.start('seq 1 9999; sleep 1; echo end; exit 3'), { retryMs: 30 });
    await terminal.ended;
    const all = await contents(setting);
    expect(all).toContain(REFUSED);
    expect(all.at(-2)).toMatch(/end\n```$/);
    expect(all.at(-1)).toMatch(/^⏹️ Exited with code 3 after/);
    expect(all.at(-1)).not.toContain('Attached');
  });
});

describe('a terminal that may not post for a while', () => {
  it.each([
    [50013, 403, 'Missing Permissions'],
    [50001, 403, 'Missing Access'],
    [160005, 400, 'Thread is locked'],
  ])('continues when it may post again (%d)', async (code, status, message) => {
    const { trouble, workspace } = refusing(/^```text/, status, { code, message });
    const setting = await terminalSetting({ workspace });
    const terminal = setting.follow(await setting.start('seq 1 5; exit 2'), { lackingMs: 30 });
    await waitFor(() => expect(trouble.refusals).toBeGreaterThan(4));
    trouble.on = false;
    await terminal.ended;
    expect(await setting.text()).toBe('1\n2\n3\n4\n5\n');
  });

  it('still ends on request, and posts nothing afterwards', async () => {
    const { trouble, workspace } = refusing(/^```text/, 400, AUTOMOD);
    const setting = await terminalSetting({ workspace });
    const record = await setting.start('echo one; sleep 600');
    const terminal = setting.follow(record, { retryMs: 60_000, endMs: 300 });
    await waitFor(() => expect(trouble.refusals).toBeGreaterThan(0));
    expect(await terminal.end()).toMatch(/^\d lines? in \d+ s; ended$/);
    trouble.on = false;
    await sleep(200);
    expect(await setting.messages()).toEqual([]);
  });
});

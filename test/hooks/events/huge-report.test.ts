// A report of tens of megabytes, as a hostile host or a broken agent can write it: it costs little, and the rest of the process goes on.

import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { takeOutgoingFiles } from '../../../hooks/outgoing-files.ts';
import { openTestCourier } from '../../support/courier-setup.ts';
import { cpuMs } from '../../support/cpu-time.ts';
import { fixture, messagesIn, startMachine } from '../../support/hook-process.ts';
import { tempFolder } from '../../support/temp-home.ts';
import { startTestWorkspace } from '../../support/workspace.ts';

const TURN = 'one-turn';

function transcriptOf(texts: number, id: string): string {
  const user = { type: 'user', isSidechain: false, uuid: 'u', promptId: TURN, origin: { kind: 'human' } };
  const lines = [
    { ...user, message: { role: 'user', content: 'go' } },
    ...Array.from({ length: texts }, (_, at) => ({
      type: 'assistant',
      isSidechain: false,
      uuid: `${id}a${at}`,
      message: { id: 'm', role: 'assistant', content: [{ type: 'text', text: `t${at}` }], stop_reason: 'end_turn' },
    })),
  ];
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('');
}

async function start(texts = 1, id = '') {
  const workspace = await startTestWorkspace();
  const machine = startMachine(workspace);
  const transcript = join(tempFolder(), 'transcript.jsonl');
  writeFileSync(transcript, transcriptOf(texts, id));
  const stop = (last: string) => ({
    ...fixture('Stop'),
    transcript_path: transcript,
    prompt_id: TURN,
    last_assistant_message: last,
  });
  return { workspace, machine, pane: machine.session('web'), stop, ...openTestCourier(machine) };
}

describe('a huge report', () => {
  it('is compared with the texts of its turn without freezing the process', async () => {
    const { deliver, pane, stop } = await start(150);
    const blank = ' '.repeat(14_000_000);
    const input = stop(`${blank}x${blank}`);
    const ms = await cpuMs(() => deliver(pane, input));
    expect(ms).toBeLessThan(10_000); // it was 20 seconds, and minutes with as many texts as a host can send
  });

  it.each([
    ['lines', 'ab\n'.repeat(8_000_000)],
    ['blank lines', `x${'\n'.repeat(28_000_000)}x`],
    ['marks', Array.from({ length: 1_500_000 }, (_, at) => `[ATTACH: a${at}]`).join('\n')],
  ])('of %s is cut before it is looked at, and posted', async (_, text) => {
    const { workspace, deliver, pane, stop } = await start();
    await deliver(pane, stop(text));
    const { content, attachments } = (await messagesIn(workspace, '[agent] web')).at(-1) ?? {};
    const [file] = attachments ?? [];
    expect(
      `${content} ${file === undefined ? '' : await (await fetch(new URL(file.url, workspace.url))).text()}`,
    ).toMatch(/more characters were left out/);
    expect(file?.size ?? 0).toBeLessThan(1_100_000);
  });

  it('of texts with long ids leaves little on the disk', async () => {
    const { workspace, machine, deliver, pane, stop } = await start(40, 'x'.repeat(8_000));
    await deliver(pane, stop('t39'));
    await deliver(pane, stop('t39'));
    const lines = (await messagesIn(workspace, '[agent] web')).flatMap(({ content }) => content.split('\n'));
    expect(lines.filter((line) => /^t\d+$/.test(line))).toEqual(Array.from({ length: 40 }, (_, at) => `t${at}`));
    const sizes = readdirSync(machine.home.folder('threads')).map(
      (name) => statSync(join(machine.home.folder('threads'), name)).size,
    );
    expect(Math.max(statSync(machine.home.path('state', 'shown.json')).size, ...sizes)).toBeLessThan(20_000); // it was 320,000
  });

  it('whose text is too long for marks says so, and attaches nothing', async () => {
    const rules = { roots: ['/nowhere'], home: '/nowhere', cwd: '/nowhere', homeDir: '/nowhere' };
    const text = `${'x\n'.repeat(600_000)}[ATTACH: /etc/hostname]`;
    expect(await takeOutgoingFiles(text, rules)).toEqual({
      text,
      files: [],
      refused: ['the text is too long to look for files in it'],
    });
  });
});

import { describe, expect, it } from 'vitest';
import { expectText, terminalSetting, waitFor } from '../support/terminal.ts';

describe('a terminal', () => {
  it('shows output of the very first moment', async () => {
    const setting = await terminalSetting();
    const record = await setting.run('printf "first\\nsecond"; exit 3');
    expect(await setting.text()).toBe('first\nsecond');
    expect(setting.captured(record)).toContain('first\nsecond');
    const last = (await setting.messages()).at(-1);
    expect(last?.content).toMatch(/^⏹️ Exited with code 3 after \d s\.\n/);
    expect(record.ended).toMatchObject({ how: 'exited with code 3' });
  });

  it('shows 100,000 lines in a burst: counted, and attached, byte by byte', async () => {
    const setting = await terminalSetting();
    const record = await setting.run('seq 1 100000');
    const lines = Array.from({ length: 100_000 }, (_, at) => `${at + 1}\n`).join('');
    const messages = await setting.messages();
    console.log(
      messages.map(({ content, attachments }) => [
        content.slice(0, 60),
        attachments.map((a) => a.size),
      ]),
    );
    expectText(await setting.text(), lines);
    expect(record.ended).toMatchObject({ how: 'exited with code 0' });
  });
});
